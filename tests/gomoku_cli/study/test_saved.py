"""Saved games: written after every move, listed, and taken up again."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from core.records.formats import read_games
from core.records.record import Ending, GameRecord, RecordError
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.study import saved
from gomoku_cli.study.game import StudiedGame
from gomoku_cli.study.saved import SavedGames

RULES = Rules(7, 4)
WON = (0, 7, 1, 8, 2, 9, 3)


def game(*moves: int) -> StudiedGame:
    return StudiedGame(GameRecord(RULES, moves, black="you", white="level:3"))


def test_a_game_is_in_its_file_after_every_move(tmp_path: Path) -> None:
    games = SavedGames(tmp_path / "new" / "games")
    handle = games.begin()
    assert list(games.entries()) == []
    assert not games.folder.exists(), "a game without a move leaves nothing behind"
    for count in range(1, len(WON) + 1):
        handle.save(game(*WON[:count]))
        (entry,) = games.entries()
        assert entry.moves == count
        assert entry.is_finished == (count == len(WON))
        assert handle.path is not None
        assert list(games.load(handle.path).record.moves) == list(WON[:count])
    assert (entry.black, entry.white, entry.winner, entry.rules) == ("you", "level:3", BLACK, RULES)
    assert sorted(path.name for path in games.folder.iterdir()) == [entry.path.name]


def test_the_board_decides_the_result_unless_the_game_ended_without_it(tmp_path: Path) -> None:
    handle = SavedGames(tmp_path).begin()

    def written(record: GameRecord) -> tuple[int | None, Ending]:
        handle.save(StudiedGame(record))
        assert handle.path is not None
        (found,) = read_games(handle.path)
        return found.winner, found.ending

    record = game(*WON[:4]).record
    assert written(record) == (None, Ending.UNKNOWN)
    assert written(replace(record, winner=WHITE, ending=Ending.RESIGNATION)) == (WHITE, Ending.RESIGNATION)
    assert written(game(*WON).record) == (BLACK, Ending.BOARD)
    full = GameRecord(Rules(3, 3), (0, 1, 2, 4, 3, 5, 7, 6, 8))
    assert written(full) == (None, Ending.BOARD)


def test_games_of_the_same_second_have_files_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> "Clock":
            return cls(2026, 11, 22, 18, 15, 30)

    monkeypatch.setattr(saved, "datetime", Clock)
    games = SavedGames(tmp_path)
    handles = [games.begin() for _ in range(3)]
    for handle in handles:
        handle.save(game(*WON[:2]))
    assert [handle.path.name for handle in handles if handle.path] == [
        "2026-11-22-181530.sgf",
        "2026-11-22-181530-2.sgf",
        "2026-11-22-181530-3.sgf",
    ]


def test_the_newest_comes_first_and_broken_files_do_not_count(tmp_path: Path) -> None:
    games = SavedGames(tmp_path)
    for number, count in enumerate((3, 7, 2)):
        handle = games.begin()
        handle.save(game(*WON[:count]))
        assert handle.path is not None
        os.utime(handle.path, (number + 1, number + 1))
    (tmp_path / "empty.sgf").touch()
    (tmp_path / "broken.sgf").write_text("(;GM[1])")
    (tmp_path / "notes.txt").write_text("no game")
    (tmp_path / "folder.sgf").mkdir()
    assert [entry.moves for entry in games.entries()] == [2, 7, 3]
    newest = games.newest_unfinished()
    assert newest is not None
    assert newest.moves == 2


def test_a_game_goes_on_in_its_own_file(tmp_path: Path) -> None:
    games = SavedGames(tmp_path)
    first = games.begin()
    first.save(game(*WON[:3]))
    entry = games.newest_unfinished()
    assert entry is not None
    studied, handle = games.resume(entry.path)
    assert list(studied.record.moves) == list(WON[:3])
    handle.save(studied.continued(WON))
    assert [entry.moves for entry in games.entries()] == [7]
    assert games.newest_unfinished() is None
    handle.delete()
    assert list(games.entries()) == []


def test_a_file_that_is_no_game_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no file of games"):
        SavedGames(tmp_path).load(tmp_path / "game.txt")
    with pytest.raises(RecordError, match="No such file"):
        SavedGames(tmp_path).load(tmp_path / "game.sgf")


def test_the_folder_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = saved.default_folder()
    assert folder.name == "games"
    assert folder.parent.name == "gomoku"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert folder == tmp_path / "gomoku" / "games"
