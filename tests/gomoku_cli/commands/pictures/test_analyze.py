"""`gomoku analyze`: the numbers of a search, the board of two halves a cell, and its figure."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from core.position import Position
from core.records.formats import write_games
from core.records.record import GameRecord
from core.rules import BLACK, Rules
from gomoku_cli import app
from gomoku_cli.exit_codes import ExitCode
from tests.support.commands import Capsys, done
from tests.support.commands import run as run_command
from tests.support.nets import save_small_model

RULES = Rules(7, 4)
# Black has three in a row, open at both ends.
THREE = "d4 a1 e4 b2 c4"
GAME = GameRecord(RULES, tuple(Position.from_moves(RULES, f"{THREE} g7 f4".split()).moves), BLACK)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net with random weights, for connect 4 on 7x7."""
    return save_small_model(tmp_path_factory.mktemp("model") / "small.safetensors", RULES)


def run(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "analyze", *arguments, "--quiet")


def analysed(capsys: Capsys, *arguments: object) -> dict[str, Any]:
    """Return the JSON of an analysis, after its checks that are true of every one."""
    result: dict[str, Any] = json.loads(done(run(capsys, *arguments, "--json")))
    assert result["best"] == result["moves"][0]["move"] == result["variation"][0]
    assert result["to_move"] == ("white" if len(result["position"]) % 2 else "black")
    assert -1 <= result["value"] <= 1
    for key in ("prior", "share"):
        numbers = [move[key] for move in result["moves"]]
        assert all(number is None for number in numbers) or sum(numbers) == pytest.approx(1, abs=0.02)
    return result


def refused(capsys: Capsys, *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (ExitCode.USAGE, "", 1)
    return err


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_model_has_priors_and_visits_of_every_move(capsys: Capsys, model: Path) -> None:
    line = ("d4 e5", "--player", model, "--backend", "torch", "--no-tactics", "--simulations", 60)
    result = analysed(capsys, *line)
    assert (result["board_size"], result["connect"], result["position"]) == (7, 4, ["d4", "e5"])
    assert len(result["moves"]) == 47
    visits = [move["visits"] for move in result["moves"]]
    assert sum(visits) == 59  # the first simulation evaluates the root
    assert [move["share"] for move in result["moves"]] == [pytest.approx(count / 59, abs=1e-6) for count in visits]
    assert all(move["prior"] > 0 for move in result["moves"])


def test_lines_are_as_many_moves_of_the_table_as_are_asked_for(capsys: Capsys) -> None:
    arguments = ("h8 i9 g7", "--player", "mentor:2", "--lines", 3)
    result = analysed(capsys, *arguments)
    assert [move["line"][0] for move in result["moves"]] == [move["move"] for move in result["moves"]]
    assert [move["share"] for move in result["moves"]] == [1, 0, 0]
    assert len(analysed(capsys, *arguments[:-2])["moves"]) < 3
    out = done(run(capsys, *arguments, "--ascii"))
    rows = [row.split("|")[-4:-1] for row in out.splitlines() if row.count("|") > 3]
    shown = {move.strip(): then.split() for move, _, then in rows}
    assert len(shown) == 4
    assert shown == shown | {move["move"]: move["line"][1:7] for move in result["moves"]}


def test_without_a_search_there_are_priors_alone(capsys: Capsys, model: Path) -> None:
    result = analysed(capsys, "--player", model, "--backend", "torch", "--simulations", 0)
    assert {move["share"] for move in result["moves"]} == {None}
    assert result["best"] == max(result["moves"], key=lambda move: move["prior"])["move"]
    assert result["position"] == []


def test_a_win_that_tactics_find_needs_no_net(capsys: Capsys, model: Path) -> None:
    result = analysed(capsys, f"{THREE} g7", "--player", model, "--backend", "torch", "--simulations", 60)
    assert result["best"] in ("b4", "f4")
    assert (result["moves"][0]["proof"], result["moves"][0]["share"], result["value"]) == (1, 1.0, 1.0)
    assert result["moves"][0]["prior"] is None
    out = done(run(capsys, f"{THREE} g7", "--player", model, "--backend", "torch", "--simulations", 60))
    assert "wins in 1" in out
    assert "the move is proven without the net" in " ".join(out.split())


def test_pure_mcts_and_the_mentor_have_no_priors(capsys: Capsys) -> None:
    board = (THREE, "--board-size", 7, "--connect", 4, "--player")
    result = analysed(capsys, *board, "pure-mcts:300")
    assert {move["prior"] for move in result["moves"]} == {None}
    assert result["nodes"] == 300
    result = analysed(capsys, *board, "mentor:1")
    assert {(move["prior"], move["visits"]) for move in result["moves"]} == {(None, None)}
    assert {move["share"] for move in result["moves"]} == {round(1 / len(result["moves"]), 6)}
    assert (result["value"], result["moves"][0]["proof"]) == (-1.0, -2)
    out = done(run(capsys, *board, "mentor:1"))
    assert "loses in 2" in out
    assert "visits" not in out.partition("\n")[2].splitlines()[1]
    assert "it has no prior" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "stones"),
    [(("--move", 0), 0), (("--move", 3), 3), (("--move", 6), 6), (("--game", 2, "--move", 2), 2)],
)
def test_a_position_comes_from_a_game(
    arguments: tuple[object, ...], stones: int, capsys: Capsys, tmp_path: Path
) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GAME, GameRecord(Rules(9, 5), (0, 1))])
    result = analysed(capsys, path, "--player", "pure-mcts:50", *arguments)
    assert len(result["position"]) == stones
    assert result["board_size"] == (9 if stones == 2 else 7)


def test_a_position_that_a_game_lacks_is_refused(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GAME])
    line = (path, "--player", "pure-mcts:50")
    assert "the game has 7 moves, not 8" in refused(capsys, *line, "--move", 8)
    assert "the game is over after 7 moves" in refused(capsys, *line, "--move", 7)
    assert "holds 1 game, so there is no game 2" in refused(capsys, *line, "--game", 2, "--move", 1)
    assert "games have their own rules" in refused(capsys, *line, "--board-size", 7)
    assert "not 4 in a row on 7x7" in refused(capsys, path, "--player", "default", "--move", 1)


def test_the_board_shows_stones_halves_and_the_last_move(capsys: Capsys) -> None:
    board = (f"{THREE} g7", "--board-size", 7, "--connect", 4)
    out = done(run(capsys, *board, "--player", "pure-mcts:2000", "--no-color", "--ascii"))
    assert out.isascii()
    assert "pure-mcts:2000: black to move, move 7" in out
    rows = {int(line[:2]): line[2:24] for line in out.splitlines() if line[:2].strip().isdigit()}
    assert rows[7] == "  .  .  .  .  .  .[()]"
    assert rows[4][6:15] == " >< >< ><"
    assert rows[2][:6] == "  . ()"
    # The two winning moves have the visits between them.
    assert any(letter.isdigit() or letter == "*" for letter in rows[4])


def test_colours_go_from_white_to_red(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from gomoku_cli.reports.analyses import position as analysis

    monkeypatch.delenv("NO_COLOR", raising=False)
    console = Console(force_terminal=True, color_system="truecolor", width=120, record=True, no_color=False)
    monkeypatch.setattr("gomoku_cli.reports.board_text.STDOUT", console)
    monkeypatch.setattr(analysis, "STDOUT", console)
    board = (THREE, "--player", "mentor:1", "--board-size", 7, "--connect", 4)
    assert run(capsys, *board)[0] == ExitCode.DONE
    shown = console.export_text(styles=True)
    assert shown.count("48;2;255;0;0") == 1  # the right half of the only move
    assert "48;2;255;255;255" in shown
    assert run(capsys, *board, "--no-color")[0] == ExitCode.DONE
    assert "48;2;" not in console.export_text(styles=True)


@pytest.mark.usefixtures("text_in_figures")
def test_the_figure_names_player_position_time_and_coordinates(capsys: Capsys, model: Path, tmp_path: Path) -> None:
    figure = tmp_path / "board.svg"
    line = ("d4 e5 d5", "--player", model, "--simulations", 40, "--backend", "torch", "--figure", figure, "--json")
    code, out, _ = run(capsys, *line)
    text = figure.read_text(encoding="utf-8")
    result = json.loads(out)
    assert code == ExitCode.DONE
    assert "white to move, move 4" in text
    assert f"value {result['value']:+.3f} for {'white' if result['to_move'] == 'white' else ''}" in text
    assert "left half: prior of the net, right half: visits of the search" in text
    assert f"{result['nodes']} positions searched" in text
    for name in "abcdefg1234567":
        assert f">{name}</text>" in text


def test_moves_need_no_blanks(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    board = ("--board-size", 20, "--player", "mentor:1")
    assert analysed(capsys, "h13h11J13i13", *board)["position"] == ["h13", "h11", "j13", "i13"]
    assert analysed(capsys, "h13h11", "j13,i13", *board)["position"] == ["h13", "h11", "j13", "i13"]
    assert "'z9' is no cell" in refused(capsys, "h13h11 z9", *board)
    assert "'h13h110' is no cell" in refused(capsys, "h13h110", *board)
    assert "h13 already holds a stone" in refused(capsys, "h13h11h13", *board)
    monkeypatch.setattr("sys.stdin", io.StringIO("d3e5f6d7\r\nk10j10i9j9m7\r\n"))
    out = run(capsys, "-", *board, "--json")[1]
    assert [len(line["position"]) for line in lines(out)] == [4, 5]


def test_stdin_has_a_position_a_line(capsys: Capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    board = ("-", "--board-size", 7, "--connect", 4, "--player", "mentor:1")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{THREE}\n\n# nothing\nd4, e5 # a comment\n"))
    out = done(run(capsys, *board, "--json"))
    assert [(line["line"], len(line["position"])) for line in lines(out)] == [(1, 5), (4, 2)]
    monkeypatch.setattr("sys.stdin", io.StringIO("d4\nd4 d4\nz9\ne5\n"))
    code, out, err = run(capsys, *board, "--json")
    assert (code, [line["line"] for line in lines(out)]) == (ExitCode.BAD_DATA, [1, 4])  # the others are analysed
    assert err == (
        "gomoku: stdin, line 2: move 2: d4 already holds a stone\n"
        "gomoku: stdin, line 3: move 1: 'z9' is no cell: write a column letter and a row number, a1 to g7\n"
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00"), encoding="utf-8"))
    code, out, err = run(capsys, *board)
    assert (code, err) == (ExitCode.BAD_DATA, "gomoku: stdin, after line 0: this is no text in utf-8\n")


def test_a_game_that_the_model_does_not_play_is_the_mentors(capsys: Capsys) -> None:
    capsys.readouterr()
    for size, connect, player in ((9, 5, "default"), (9, 4, "mentor")):
        options = ("--board-size", str(size), "--connect", str(connect), "--json")
        assert app.run(["analyse", *options]) == ExitCode.DONE
        out, err = capsys.readouterr()
        assert json.loads(out)["player"] == player
        note = f"does not play {connect} in a row on {size}x{size}: the mentor analyses"
        assert (note in err) == (player == "mentor")
