"""`gomoku book`: books from files and folders, added to, shown, and played by matches and the engine."""

import json
from pathlib import Path

import pytest

from core.records.formats import write_games
from core.records.record import Ending, GameRecord
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.exit_codes import ExitCode
from tests.support.cases import cases
from tests.support.commands import Capsys
from tests.support.commands import run as run_command

RULES = Rules(9)
GAMES = [
    GameRecord(RULES, (0, 41, 30), BLACK),
    GameRecord(RULES, (0, 41, 31), WHITE),
    GameRecord(RULES, (8, 1), ending=Ending.BOARD),
]


def book(capsys: Capsys, *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "book", *map(str, arguments))


def test_a_book_is_made_from_a_folder_and_shown(capsys: Capsys, tmp_path: Path) -> None:
    games, path = tmp_path / "games", tmp_path / "book.sqlite"
    (games / "more").mkdir(parents=True)
    write_games(games / "one.sgf", GAMES[:1])
    assert book(capsys, "build", tmp_path / "one.sqlite", games, "--plies", 1, "--quiet")[1].endswith(
        "one.sqlite: 1 game, 1 of them new of 1 read; 1 move\n"
    )
    write_games(games / "one.sgf", GAMES[:2])
    found = book(capsys, "build", path, games, "--quiet")[:2]
    assert found == (ExitCode.DONE, f"{path}: 2 games, 2 of them new of 2 read; 4 moves\n")
    write_games(games / "more" / "two.psq", GAMES)
    (games / "broken.sgf").write_text("nothing")
    code, out, err = book(capsys, "build", path, games, "--player", "mentor:1", "--min-games", 3, "--json", "--quiet")
    counts = {"book": str(path), "games": 3, "new": 1, "read": 5, "moves": 5, "left_out": 0}
    assert (code, json.loads(out)) == (ExitCode.BAD_DATA, counts)
    assert "broken.sgf" in err
    rows = json.loads(book(capsys, "show", path, "--json")[1])["moves"]
    assert [(row["games"], row["wins"], row["draws"], row["losses"]) for row in rows] == [(3, 1, 1, 1)]
    assert -1 < rows[0]["value"] < 1
    assert rows[0]["move"] in ("a1", "a9", "i1", "i9")
    shown = book(capsys, "show", path, "i1")[1]
    assert ("│ b1" in shown) != ("│ i8" in shown), "one of two that are the same mirrored"
    assert book(capsys, "show", path, "e5")[1] == "the book has no move here\n"
    assert book(capsys, "show", path, "i1", "h8") == book(capsys, "show", path, "i1 h8")


@pytest.mark.parametrize(("arguments", "code", "why"), cases("books_refused"))
def test_bad_input_is_one_line(arguments: tuple[str, ...], code: int, why: str, capsys: Capsys, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.sgf").write_text("nothing")
    write_games(tmp_path / "games.sgf", GAMES)
    write_games(tmp_path / "open.sgf", [GameRecord(RULES, (0, 41), None, ending=Ending.UNKNOWN)])
    book(capsys, "build", tmp_path / "book", tmp_path / "games.sgf", "--quiet")
    words = [
        tmp_path / word if (tmp_path / word).exists() or word in ("new", "missing") else word for word in arguments
    ]
    found, _, err = book(capsys, *words)
    assert (found, why in err.replace("\n", " ")) == (code, True), err
    assert "Traceback" not in err
    assert not (tmp_path / "new").exists()


def test_matches_play_the_first_move_of_a_book(capsys: Capsys, tmp_path: Path) -> None:
    write_games(tmp_path / "games.sgf", GAMES)
    book(capsys, "build", tmp_path / "book", tmp_path / "games.sgf", "--quiet")
    words = ("mentor:1", "random", "--games", "2", "--board-size", "9", "--openings", "empty", "--quiet")
    played = ("--book", str(tmp_path / "book"), "--games-file", str(tmp_path / "played.sgf"))
    assert run_command(capsys, "evaluate", *words, *played)[0] == ExitCode.DONE
    assert "B[aa]" in (tmp_path / "played.sgf").read_text() or "B[ai]" in (tmp_path / "played.sgf").read_text()
    code, _, err = run_command(capsys, "evaluate", "random", "random", "--games", "2", *played[:2])
    assert (code, "no effect on random" in err.replace("\n", " ")) == (ExitCode.USAGE, True)
    words = ("mentor:1", "random", "--games", "2", "--board-size", "15", "--quiet")
    code, _, err = run_command(capsys, "evaluate", *words, *played[:2])
    assert (code, "is a book for 5 in a row on 9x9, not" in err.replace("\n", " ")) == (ExitCode.USAGE, True)


def test_games_that_a_book_does_not_take_are_counted(capsys: Capsys, tmp_path: Path) -> None:
    others = [GameRecord(RULES, (0, 41), None, ending=Ending.UNKNOWN), GameRecord(Rules(11), (0, 41), BLACK)]
    write_games(tmp_path / "games.sgf", [*others[:1], *GAMES, *others[1:]])
    out = book(capsys, "build", tmp_path / "book", tmp_path / "games.sgf", "--quiet")[1]
    assert out.splitlines()[0].endswith("3 games, 3 of them new of 5 read; 5 moves")
    assert out.splitlines()[1] == "left out: 1 without a result, 1 not 5 in a row on 9x9"
    set_up = GameRecord(RULES, (0, 41, 30), BLACK, set_up=2)
    write_games(tmp_path / "set-up.sgf", [set_up, GameRecord(RULES, (), WHITE, ending=Ending.RESIGNATION)])
    code, _, err = book(capsys, "build", tmp_path / "none", tmp_path / "set-up.sgf", "--quiet")
    assert code == ExitCode.USAGE
    assert "none of 2 games fits: 1 not from the empty board, 1 without moves" in err.replace("\n", " ")
