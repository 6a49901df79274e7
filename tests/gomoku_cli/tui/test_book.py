"""An opening book on the board: its moves below the candidates, and in the engine's play."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.book import Book
from core.notation import parse_cell
from core.records.record import GameRecord
from core.rules import BLACK, Rules
from gomoku_cli.exit_codes import ExitCode
from tests.support.commands import refused
from tests.support.scripted_players import AnalysingPlayer
from tests.support.tui import board_app, board_setup

RULES = Rules()


def book_of(path: Path, *lines: str) -> Book:
    book = Book.create(path, RULES)
    book.add([GameRecord(RULES, tuple(parse_cell(cell, 15) for cell in line.split()), BLACK) for line in lines], 10)
    return book


async def test_the_engine_plays_the_book_and_the_panel_shows_it(tmp_path: Path) -> None:
    player = AnalysingPlayer(15, ["a1"])
    with book_of(tmp_path / "book.sqlite", "f9 g8 h9 j8", "f9 g8 e5 j8", "f9 g8 h9 c4") as book:
        async with board_app(player, setup=replace(board_setup(), book=book), terminal=(120, 40)) as ui:
            await ui.play("f9")
            assert [ui.app.game.name_of(move) for move in ui.app.game.moves] == ["f9", "g8"]
            assert player.requests == [], "a move of the book is no search"
            await ui.press("c", panel="book     games points")
            assert "h9           2  100 %" in ui.panel
            await ui.play("c3")
            await ui.until(lambda: ui.app.game.ply == 4)
            assert ui.app.game.name_of(ui.app.game.moves[3]) == "a1", "behind the book the engine searches"
            assert "points" not in ui.panel


async def test_a_book_that_breaks_is_left_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    with book_of(path, "h8 i9 g7 h10") as book:
        async with board_app(AnalysingPlayer(15, ["a1"]), setup=replace(board_setup(), book=book)) as ui:
            with closing(sqlite3.connect(path)) as rows, rows:
                rows.execute("DROP TABLE moves")
            await ui.play("h8")
            await ui.until(lambda: ui.app.game.ply == 2)
            assert ui.app.game.name_of(ui.app.game.moves[1]) == "a1"
            assert any("is damaged" in note for note in ui.app.notices)


def test_a_book_of_other_rules_or_none_is_refused_before_the_board(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book_of(tmp_path / "book.sqlite", "h8 i9 g7 h10").close()
    (tmp_path / "none.sqlite").write_text("no book")
    line = refused(capsys, ExitCode.USAGE, "play", "--book", tmp_path / "book.sqlite", "--variant", "renju")
    assert "is a book for 5 in a row on 15x15, not renju on 15x15" in line
    line = refused(capsys, ExitCode.BAD_DATA, "play", "--book", tmp_path / "none.sqlite")
    assert "is no opening book of gomoku" in line
