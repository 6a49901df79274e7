"""`gomoku picture`: move numbers, the winning line, and the values that records hold."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.notation import parse_cell
from core.position import Position
from core.records.formats import write_games
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Rules, Variant
from curriculum.arena.fixtures import Fixture
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.reports.board_text import board_width
from gomoku_cli.reports.game import black_values, game_title
from tests.support.commands import Capsys, done, refused
from tests.support.commands import run as run_command
from tests.support.match_samples import game

RULES = Rules(7, 4)
MOVES = tuple(Position.from_moves(RULES, "d4 a1 e4 b2 c4 g7 f4".split()).moves)
COMMENTS = tuple(f"value {value:+.3f} for black" for value in (0.1, -0.2, 0.3, 0.4, 0.5, 0.6, 1.0))
GAME = GameRecord(RULES, MOVES, BLACK, black="mine", white="yours", comments=COMMENTS)


def picture(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "picture", *arguments)


def rows_of(out: str) -> dict[int, str]:
    """Return the rows of the board by their numbers."""
    return {int(line[:2]): line[2:] for line in out.splitlines() if line[:2].strip().isdigit()}


def test_values_of_a_match_are_the_mover_s() -> None:
    played = game(Fixture(number=1, pair=0, opening=MOVES[:1], black=0, white=1, seed=0), 1.0)
    numbers = {"values": (None, -0.25, 0.5, -0.75, None, -1.0, 1.0), "simulations": (0, 40, 40, 40, 0, 0, 0)}
    played = replace(played, moves=MOVES, seconds=(0.0,) * 7, **numbers)
    assert black_values(played.record(RULES, ("a", "b"))) == {2: 0.25, 3: 0.5, 4: 0.75, 6: 1.0, 7: 1.0}


def test_values_of_self_play_are_black_s_and_those_of_kept_analyses_stand_in_for_comments() -> None:
    assert black_values(GAME) == {1: 0.1, 2: -0.2, 3: 0.3, 4: 0.4, 5: 0.5, 6: 0.6, 7: 1.0}
    comments = ("a good move", "", "value 7", "value +0.5 visits", "value +1.5", "the value +0.1", "value -0.25")
    assert black_values(replace(GAME, comments=comments)) == {4: -0.5, 7: -0.25}
    kept = replace(GAME, values=(0.5, None, -0.25, 0.0, 0.125, None, 1.0, None))
    assert black_values(replace(kept, comments=())) == {1: 0.5, 3: -0.25, 4: 0.0, 5: 0.125, 7: 1.0}
    assert black_values(kept) == black_values(GAME)
    assert black_values(replace(GAME, comments=())) == {}


def test_nameless_players_have_their_colours() -> None:
    title = game_title(replace(GAME, black="", white="\x1b[31m"))
    assert title == "black against \\x1b[31m\n4 in a row on 7x7: black won in 7 moves"


def test_the_terminal_shows_numbers_the_last_move_and_the_line(capsys: Capsys, tmp_path: Path) -> None:
    write_games(tmp_path / "game.sgf", [GAME])
    out = done(picture(capsys, tmp_path / "game.sgf", "--ascii"))
    assert out.isascii()
    rows = rows_of(out)
    assert rows[4].rstrip() == "  .  .  5  1  3[ 7] ."
    assert rows[1].split()[0] == "2"
    assert rows[7].split()[-1] == "6"
    assert out.startswith("mine against yours\n4 in a row on 7x7: black won in 7 moves")
    assert "c4 d4 e4 f4" in out
    assert "for black, from 0 for -1 to 7 for +1, before the moves of" in out
    assert out.split()[-4:] == ["black", "4567", "white", "356"]


def test_of_long_games_on_wide_boards_the_last_digits_are_shown(capsys: Capsys, tmp_path: Path) -> None:
    rules = Rules(20)
    position = Position(rules)
    for cell in (*range(0, 400, 2), *range(1, 400, 2)):  # no five: each colour has every fourth cell of a row
        if position.is_game_over() or position.ply == 120:
            break
        if cell // 20 % 2 == 0:
            position.push(cell)
    record = GameRecord(rules, tuple(position.moves), ending=Ending.UNKNOWN)
    write_games(tmp_path / "long.psq", [record])
    out = done(picture(capsys, tmp_path / "long.psq"))
    assert max(map(len, out.splitlines())) <= 80
    assert "of 100 and more the last two digits" in " ".join(out.split())
    assert position.ply > 100


def test_a_game_is_chosen_by_its_number_and_a_broken_file_named_with_its_line(capsys: Capsys, tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    write_games(path, [GAME, GameRecord(Rules(9), (40,), ending=Ending.UNKNOWN)])
    assert "1 move, without a result" in picture(capsys, path, "--game", 2)[1]
    assert picture(capsys, path)[2].startswith(f"note: {path}: game 1 of 2; --game N takes another")
    why = refused(capsys, ExitCode.USAGE, "picture", path, "--game", 3)
    assert "holds 2 games, so there is no game 3" in why
    path.write_text("(;GM[4]SZ[9]\n;B[zz])")
    assert "games.sgf, line 2" in refused(capsys, ExitCode.BAD_DATA, "picture", path)


@pytest.mark.parametrize("command", [("picture",), ("analyze", "--move", 3, "--player", "mentor:1")])
def test_the_rows_of_a_board_stay_whole_in_a_narrow_terminal(
    command: tuple[object, ...], capsys: Capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gomoku_cli.console.STDOUT._width", 30)  # in a process beside others it is fixed from the start
    write_games(tmp_path / "game.sgf", [GameRecord(Rules(), (112, 113, 114))])
    lines = done(run_command(capsys, *command[:1], tmp_path / "game.sgf", *command[1:])).splitlines()
    assert len([line for line in lines if line[:2].strip().isdigit() and len(line) == board_width(15, 2)]) == 15


@pytest.mark.usefixtures("text_in_figures")
def test_the_figure_has_numbers_coordinates_and_values(capsys: Capsys, tmp_path: Path) -> None:
    path, figure = tmp_path / "game.sgf", tmp_path / "game.svg"
    write_games(path, [GAME, replace(GAME, comments=())])
    code, out, _ = picture(capsys, path, "--figure", figure)
    assert (code, out) == (ExitCode.DONE, f"{figure}: game 1 of 2, black won in 7 moves\n")
    text = figure.read_text(encoding="utf-8")
    assert "Value for black" in text
    assert picture(capsys, path, "--game", 2, "--figure", figure)[0] == ExitCode.DONE
    without = figure.read_text(encoding="utf-8")
    assert "Value for black" not in without
    for name in "abcdefg":
        assert without.count(f">{name}</text>") == 2  # below and above the board
    for number in range(1, 8):
        assert without.count(f">{number}</text>") == 3  # at both sides, and on a stone


@pytest.mark.parametrize(("moves", "suffix"), [((), ".png"), ((0,), ".svg"), (range(9), ".svg")])
def test_any_game_can_be_drawn(moves: range | tuple[int, ...], suffix: str, capsys: Capsys, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path, figure = tmp_path / "game.sgf", tmp_path / f"game{suffix}"
    write_games(path, [GameRecord(Rules(25), tuple(moves), ending=Ending.UNKNOWN, black="$x$", white="名前" * 50)])
    assert picture(capsys, path, "--figure", figure)[0] == ExitCode.DONE
    assert figure.stat().st_size > 3000
    assert picture(capsys, path)[0] == ExitCode.DONE


def test_forbidden_cells_are_marked_where_black_is_to_move(capsys: Capsys, tmp_path: Path) -> None:
    rules = Rules(variant=Variant.RENJU)
    moves = [parse_cell(name, 15) for name in "i8 a1 j8 a3 h9 a5 h10 a7".split()]
    write_games(tmp_path / "game.sgf", [GameRecord(rules, moves, ending=Ending.UNKNOWN)])
    out = done(picture(capsys, tmp_path / "game.sgf", "--ascii", "--no-color"))
    assert rows_of(out)[8].split()[:8] == [".", ".", ".", ".", ".", ".", ".", "x"]
    assert "h8 (x), to Black" in out
    write_games(tmp_path / "lost.sgf", [GameRecord(rules, [*moves, parse_cell("h8", 15)], WHITE)])
    assert "renju on 15x15: white won in 9 moves" in done(picture(capsys, tmp_path / "lost.sgf", "--ascii"))
    assert picture(capsys, tmp_path / "game.sgf", "--figure", tmp_path / "game.svg")[0] == ExitCode.DONE
