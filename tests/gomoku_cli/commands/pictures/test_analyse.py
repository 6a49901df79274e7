"""`gomoku analyse`: the numbers of a search, the board of two halves a cell, and its figure."""

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
from nets.checkpoint import save_model
from nets.config import NetConfig
from nets.dual import make_model

RULES = Rules(7, 4)
# Black has three in a row, open at both ends.
THREE = "d4 a1 e4 b2 c4"
GAME = GameRecord(RULES, tuple(Position.from_moves(RULES, f"{THREE} g7 f4".split()).moves), BLACK)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net with random weights, for connect 4 on 7x7."""
    path = tmp_path_factory.mktemp("model") / "small.safetensors"
    save_model(path, make_model(NetConfig.tower(4, 1), RULES, 1), {})
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = app.run(["analyse", *map(str, arguments), "--quiet"])
    return code, *capsys.readouterr()


def analysed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Return the JSON of an analysis, after its checks that are true of every one."""
    code, out, err = run(capsys, *arguments, "--json")
    assert code == ExitCode.DONE, err
    result: dict[str, Any] = json.loads(out)
    assert result["best"] == result["moves"][0]["move"] == result["variation"][0]
    assert result["to_move"] == ("white" if len(result["position"]) % 2 else "black")
    assert -1 <= result["value"] <= 1
    for key in ("prior", "share"):
        numbers = [move[key] for move in result["moves"]]
        assert all(number is None for number in numbers) or sum(numbers) == pytest.approx(1, abs=0.02)
    return result


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (ExitCode.USAGE, "", 1)
    return err


def test_a_model_has_priors_and_visits_of_every_move(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    line = (model, "--moves", "d4 e5", "--backend", "torch", "--no-tactics", "--simulations", 60)
    result = analysed(capsys, *line)
    assert (result["board_size"], result["connect"], result["position"]) == (7, 4, ["d4", "e5"])
    assert len(result["moves"]) == 47
    visits = [move["visits"] for move in result["moves"]]
    assert sum(visits) == 59  # the first simulation evaluates the root
    assert [move["share"] for move in result["moves"]] == [pytest.approx(count / 59, abs=1e-6) for count in visits]
    assert all(move["prior"] > 0 for move in result["moves"])


def test_without_a_search_there_are_priors_alone(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    result = analysed(capsys, model, "--backend", "torch", "--simulations", 0)
    assert {move["share"] for move in result["moves"]} == {None}
    assert result["best"] == max(result["moves"], key=lambda move: move["prior"])["move"]
    assert result["position"] == []


def test_a_win_that_tactics_find_needs_no_net(capsys: pytest.CaptureFixture[str], model: Path) -> None:
    result = analysed(capsys, model, "--moves", f"{THREE} g7", "--backend", "torch", "--simulations", 60)
    assert result["best"] in ("b4", "f4")
    assert (result["moves"][0]["proof"], result["moves"][0]["share"], result["value"]) == (1, 1.0, 1.0)
    assert result["moves"][0]["prior"] is None
    code, out, _ = run(capsys, model, "--moves", f"{THREE} g7", "--backend", "torch", "--simulations", 60)
    assert code == ExitCode.DONE
    assert "wins in 1" in out
    assert "the move is proven without the net" in " ".join(out.split())


def test_pure_mcts_and_the_mentor_have_no_priors(capsys: pytest.CaptureFixture[str]) -> None:
    board = ("--board-size", 7, "--connect", 4, "--moves", THREE)
    result = analysed(capsys, "pure-mcts:300", *board)
    assert {move["prior"] for move in result["moves"]} == {None}
    assert result["nodes"] == 300
    result = analysed(capsys, "mentor:1", *board)
    assert {(move["prior"], move["visits"]) for move in result["moves"]} == {(None, None)}
    assert {move["share"] for move in result["moves"]} == {round(1 / len(result["moves"]), 6)}
    assert (result["value"], result["moves"][0]["proof"]) == (-1.0, -2)
    code, out, _ = run(capsys, "mentor:1", *board)
    assert code == ExitCode.DONE
    assert "loses in 2" in out
    assert "visits" not in out.partition("\n")[2].splitlines()[1]
    assert "it has no prior" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "stones"),
    [(("--move-number", 0), 0), (("--move-number", 3), 3), ((), 6), (("--game-number", 2), 2)],
)
def test_a_position_comes_from_a_game(
    arguments: tuple[object, ...], stones: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GAME, GameRecord(Rules(9, 5), (0, 1))])
    result = analysed(capsys, "pure-mcts:50", "--game", path, *arguments)
    assert len(result["position"]) == stones
    assert result["board_size"] == (9 if stones == 2 else 7)


def test_a_position_that_a_game_lacks_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GAME])
    line = ("pure-mcts:50", "--game", path)
    assert "the game has 7 moves, not 8" in refused(capsys, *line, "--move-number", 8)
    assert "the game is over after 7 moves" in refused(capsys, *line, "--move-number", 7)
    assert "holds 1 game, so there is no game 2" in refused(capsys, *line, "--game-number", 2)
    assert "the game has its own rules" in refused(capsys, *line, "--board-size", 7)
    assert "not 4 in a row on 7x7" in refused(capsys, "default", "--game", path)


def test_the_board_shows_stones_halves_and_the_last_move(capsys: pytest.CaptureFixture[str]) -> None:
    board = ("--board-size", 7, "--connect", 4, "--moves", f"{THREE} g7")
    code, out, _ = run(capsys, "pure-mcts:2000", *board, "--no-color", "--ascii")
    assert code == ExitCode.DONE
    assert out.isascii()
    assert "pure-mcts:2000: black to move, move 7" in out
    rows = {int(line[:2]): line[2:24] for line in out.splitlines() if line[:2].strip().isdigit()}
    assert rows[7] == "  .  .  .  .  .  .[()]"
    assert rows[4][6:15] == " >< >< ><"
    assert rows[2][:6] == "  . ()"
    # The two winning moves have the visits between them.
    assert any(letter.isdigit() or letter == "*" for letter in rows[4])


def test_colours_go_from_white_to_red(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.console import Console

    from gomoku_cli.reports import analysis

    monkeypatch.delenv("NO_COLOR", raising=False)
    console = Console(force_terminal=True, color_system="truecolor", width=120, record=True, no_color=False)
    monkeypatch.setattr("gomoku_cli.console.STDOUT", console)
    monkeypatch.setattr(analysis, "STDOUT", console)
    board = ("mentor:1", "--board-size", 7, "--connect", 4, "--moves", THREE)
    assert run(capsys, *board)[0] == ExitCode.DONE
    shown = console.export_text(styles=True)
    assert shown.count("48;2;255;0;0") == 1  # the right half of the only move
    assert "48;2;255;255;255" in shown
    assert run(capsys, *board, "--no-color")[0] == ExitCode.DONE
    assert "48;2;" not in console.export_text(styles=True)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.parametrize(("size", "connect"), [(3, 3), (20, 5)])
def test_any_board_can_be_drawn(
    size: int, connect: int, suffix: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    figure = tmp_path / f"board{suffix}"
    line = ("pure-mcts:100", "--board-size", size, "--connect", connect, "--moves", "b2 a1", "--figure", figure)
    code, out, _ = run(capsys, *line)
    assert code == ExitCode.DONE
    assert "black to move, move 3" in out
    assert figure.stat().st_size > 3000


def test_the_figure_names_player_position_time_and_coordinates(
    capsys: pytest.CaptureFixture[str], model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib import rc_context

    figure = tmp_path / "board.svg"
    with rc_context({"svg.fonttype": "none"}):
        line = (model, "--moves", "d4 e5 d5", "--backend", "torch", "--simulations", 40, "--figure", figure, "--json")
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
