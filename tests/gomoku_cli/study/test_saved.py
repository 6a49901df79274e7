"""Saved games: written after every move, listed, and taken up again."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from core.records.formats import read_games
from core.records.record import Ending, GameRecord
from core.records.sgf import to_sgf
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.study import saved
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.saved import SavedGame, newest_unfinished, saved_games
from search.analysis import Analysis, MoveAnalysis

RULES = Rules(7, 4)
WON = (0, 7, 1, 8, 2, 9, 3)


def game(*moves: int) -> StudiedGame:
    return StudiedGame(GameRecord(RULES, moves, black="you", white="level:3"))


def loaded(path: Path) -> StudiedGame:
    return StudiedGame.from_record(read_games(path)[0])


def test_a_game_is_in_its_file_after_every_move(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "games"
    handle = SavedGame(folder)
    assert list(saved_games(folder)) == []
    assert not folder.exists(), "a game without a move leaves nothing behind"
    for count in range(1, len(WON) + 1):
        handle.save(game(*WON[:count]))
        (entry,) = saved_games(folder)
        assert entry.is_finished == (count == len(WON))
        assert list(entry.record.moves) == list(WON[:count])
    record = entry.record
    assert (record.black, record.white, record.winner, record.rules) == ("you", "level:3", BLACK, RULES)
    assert sorted(path.name for path in folder.iterdir()) == [entry.path.name]


def test_the_board_decides_the_result_unless_the_game_ended_without_it(tmp_path: Path) -> None:
    handle = SavedGame(tmp_path)

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
    handles = [SavedGame(tmp_path) for _ in range(3)]
    for handle in handles:
        handle.save(game(*WON[:2]))
    assert [handle.path.name for handle in handles if handle.path] == [
        "2026-11-22-181530.sgf",
        "2026-11-22-181530-2.sgf",
        "2026-11-22-181530-3.sgf",
    ]


def test_the_newest_comes_first_and_broken_files_do_not_count(tmp_path: Path) -> None:
    for number, count in enumerate((3, 7, 2)):
        handle = SavedGame(tmp_path)
        handle.save(game(*WON[:count]))
        assert handle.path is not None
        os.utime(handle.path, (number + 1, number + 1))
    (tmp_path / "empty.sgf").touch()
    (tmp_path / "broken.sgf").write_text("(;GM[1])")
    (tmp_path / "notes.txt").write_text("no game")
    (tmp_path / "folder.sgf").mkdir()
    assert [len(entry.record.moves) for entry in saved_games(tmp_path)] == [2, 7, 3]
    newest = newest_unfinished(tmp_path)
    assert newest is not None
    assert len(newest.record.moves) == 2


def test_a_game_goes_on_in_its_own_file(tmp_path: Path) -> None:
    first = SavedGame(tmp_path)
    first.save(game(*WON[:3]))
    entry = newest_unfinished(tmp_path)
    assert entry is not None
    assert list(entry.record.moves) == list(WON[:3])
    handle = SavedGame(tmp_path, entry.path)
    handle.save(game(*WON))
    assert [len(entry.record.moves) for entry in saved_games(tmp_path)] == [7]
    assert newest_unfinished(tmp_path) is None
    handle.delete()
    assert list(saved_games(tmp_path)) == []


def kept_analysis(cell: int) -> KeptAnalysis:
    move = MoveAnalysis(cell, value=0.5, visits=3)
    analysis = Analysis(moves=(move,), value=0.5, variation=(cell,), nodes=4, seconds=0.1)
    return KeptAnalysis(analysis=analysis, player="mentor:1", limit=None)


@pytest.mark.parametrize("moves", [WON[:5], WON[:1], (*WON[:6], 20), (30, 31)])
def test_a_game_that_is_over_stays_and_another_names_it(moves: tuple[int, ...], tmp_path: Path) -> None:
    """By undo, by another branch, and by a new game in its place; in the same program, and in one that loads it."""
    for loads in (False, True):
        handle = SavedGame(tmp_path)
        handle.save(game(*WON))
        assert handle.path is not None
        finished, before = handle.path, handle.path.read_bytes()
        if loads:
            handle = SavedGame(tmp_path, finished)
        handle.save(game(*moves))
        assert finished.read_bytes() == before
        assert handle.path not in (finished, None)
        (branch,) = read_games(handle.path)
        assert (branch.source, tuple(branch.moves), branch.ending) == (finished.name, moves, Ending.UNKNOWN)
        handle.save(game(*moves, 45))
        assert len(read_games(handle.path)[0].moves) == len(moves) + 1
        assert read_games(handle.path)[0].source == finished.name
        assert finished.read_bytes() == before


def test_moves_that_stand_again_lead_back_to_the_game_that_is_over(tmp_path: Path) -> None:
    handle = SavedGame(tmp_path)
    handle.save(game(*WON))
    finished = handle.path
    assert finished is not None
    before = finished.read_bytes()
    handle.save(game(*WON[:5]))
    handle.save(game(*WON))
    assert list(tmp_path.iterdir()) == [finished]
    assert finished.read_bytes() == before
    handle.save(game())
    assert list(tmp_path.iterdir()) == [finished], "a game without moves needs no file"


def test_a_game_that_is_over_takes_analyses(tmp_path: Path) -> None:
    handle = SavedGame(tmp_path)
    handle.save(game(*WON))
    assert handle.path is not None
    before = handle.path.read_bytes()
    handle.save(game(*WON).with_analysis(2, kept_analysis(20)))
    rest = iter(handle.path.read_bytes())
    assert all(byte in rest for byte in before)
    assert loaded(handle.path).analyses[2] == kept_analysis(20)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("result", ["B+R", "W+T", "Draw", "黑胜"])
def test_a_game_that_ended_without_a_line_stays_too(result: str, tmp_path: Path) -> None:
    path = tmp_path / "old.sgf"
    path.write_text(f"(;GM[4]SZ[7]RU[4 in a row]RE[{result}];B[aa];W[bb])", encoding="utf-8")
    before = path.read_bytes()
    handle = SavedGame(tmp_path, path)
    handle.save(game(0, 7, 1))
    assert path.read_bytes() == before
    assert handle.path != path


@pytest.mark.parametrize(
    "text",
    [
        "(;GM[4]SZ[7]RU[4 in a row on 7x7];B[ag]LB[aa:A];W[af])",
        "(;GM[4]SZ[7]RU[4 in a row on 7x7];B[ag](;W[af])(;W[bb]))",
        "no game",
    ],
)
def test_a_file_of_another_program_is_not_written_anew(text: str, tmp_path: Path) -> None:
    path = tmp_path / "foreign.sgf"
    path.write_text(text, encoding="utf-8")
    handle = SavedGame(tmp_path, path)
    handle.save(game(0, 7, 1))
    assert path.read_text(encoding="utf-8") == text
    assert handle.path is not None
    assert read_games(handle.path)[0].source == path.name


def test_a_file_elsewhere_is_never_written(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "games"
    elsewhere.mkdir()
    own = SavedGame(elsewhere)
    own.save(game(*WON[:3]))
    assert own.path is not None
    before = own.path.read_bytes()
    folder.mkdir()
    (folder / "link.sgf").symlink_to(own.path)
    for path in (own.path, folder / "link.sgf"):
        handle = SavedGame(folder, path)
        handle.save(game(*WON[:4]))
        assert own.path.read_bytes() == before
        assert handle.path is not None
        assert (handle.path.parent, read_games(handle.path)[0].source) == (folder, path.name)


def test_the_record_of_another_program_is_copied_once_with_its_result(tmp_path: Path) -> None:
    path, folder = tmp_path / "other.sgf", tmp_path / "games"
    path.write_text("(;GM[4]SZ[7]RU[4 in a row on 7x7]RE[W+R]PB[a]PW[b];B[ag];W[af])", encoding="utf-8")
    for cell in (20, 21):
        handle = SavedGame(folder, path)
        handle.save(loaded(path).with_analysis(1, kept_analysis(cell)), is_final=True)
        (entry,) = saved_games(folder)
        record = entry.record
        assert (record.black, record.white, record.winner, entry.is_finished) == ("a", "b", WHITE, True)
        assert loaded(entry.path).analyses[1] == kept_analysis(cell)
    assert newest_unfinished(folder) is None


def test_a_file_that_another_board_changed_is_not_written_over(tmp_path: Path) -> None:
    first = SavedGame(tmp_path)
    first.save(game(*WON[:2]))
    assert first.path is not None
    second = SavedGame(tmp_path, first.path)
    second.save(game(*WON[:2], 30))
    first.save(game(*WON[:2], 40))
    assert first.path != second.path
    assert [tuple(read_games(path)[0].moves)[2] for path in (second.path, first.path) if path] == [30, 40]


def test_a_foreign_source_names_no_file_to_write(tmp_path: Path) -> None:
    """A record may say that it comes from `../other.sgf`."""
    other, folder = tmp_path / "other.sgf", tmp_path / "games"
    folder.mkdir()
    other.write_text(to_sgf(game(*WON[:3]).record), encoding="utf-8")
    before = other.read_bytes()
    path = folder / "game.sgf"
    path.write_text(
        to_sgf(replace(game(*WON[:2]).record, ending=Ending.UNKNOWN, source="../other.sgf")), encoding="utf-8"
    )
    handle = SavedGame(folder, path)
    handle.save(game(*WON[:3]).with_analysis(1, kept_analysis(20)))
    assert other.read_bytes() == before
    assert handle.path == path


def test_the_folder_is_the_users_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = saved.default_folder()
    assert folder.name == "games"
    assert folder.parent.name == "gomoku"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert folder == tmp_path / "gomoku" / "games"
