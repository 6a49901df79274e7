"""Saved games: written after every move, listed, and taken up again."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from core.records.formats import read_games, read_trees
from core.records.record import OWN_NOTE, Ending, GameRecord
from core.records.sgf import parse_trees, to_sgf
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.study import saved
from gomoku_cli.study.game import KeptAnalysis, StudiedTree
from gomoku_cli.study.saved import SavedGame, newest_unfinished, saved_games
from search.analysis import Analysis, MoveAnalysis

RULES = Rules(7, 4)
WON = (0, 7, 1, 8, 2, 9, 3)


def studied(record: GameRecord) -> StudiedTree:
    return StudiedTree.read(GameTree.of(record))


def game(*moves: int) -> StudiedTree:
    return studied(GameRecord(RULES, moves, black="you", white="level:3", note=OWN_NOTE, ending=Ending.UNKNOWN))


def loaded(path: Path) -> StudiedTree:
    return StudiedTree.read(read_trees(path)[0])


def analysed(game: StudiedTree, place: int, cell: int) -> StudiedTree:
    return StudiedTree(game.tree, {**game.analyses, place: kept_analysis(cell)})


def test_a_game_is_in_its_file_after_every_move(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "games"
    handle = SavedGame(folder)
    assert list(saved_games(folder)) == []
    assert not folder.exists(), "a game without a move leaves nothing behind"
    for count in range(1, len(WON) + 1):
        handle.save(game(*WON[:count]))
        (entry,) = saved_games(folder)
        assert entry.is_finished == (count == len(WON))
        assert entry.moves == count
    record = entry.record
    assert (record.black, record.white, record.winner, record.rules) == ("you", "level:3", BLACK, RULES)
    assert sorted(path.name for path in folder.iterdir()) == [entry.path.name]


def test_the_board_decides_the_result_unless_the_game_ended_without_it(tmp_path: Path) -> None:
    handle = SavedGame(tmp_path)

    def written(record: GameRecord) -> tuple[int | None, Ending]:
        handle.save(studied(record))
        (found,) = read_games(handle.path)
        return found.winner, found.ending

    record = game(*WON[:4]).tree.record()
    assert written(record) == (None, Ending.UNKNOWN)
    assert written(replace(record, winner=WHITE, ending=Ending.RESIGNATION)) == (WHITE, Ending.RESIGNATION)
    assert written(game(*WON).tree.record()) == (BLACK, Ending.BOARD)
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
    expected = [f"2026-11-22-181530{number}.sgf" for number in ("", "-2", "-3")]
    assert [handle.path.name for handle in handles] == expected


def test_the_newest_comes_first_and_broken_files_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, count in enumerate((3, 7, 2)):
        handle = SavedGame(tmp_path)
        handle.save(game(*WON[:count]))
        os.utime(handle.path, (number + 1, number + 1))
    (tmp_path / "empty.sgf").touch()
    (tmp_path / "broken.sgf").write_text("(;GM[1])")
    (tmp_path / "notes.txt").write_text("no game")
    (tmp_path / "folder.sgf").mkdir()
    monkeypatch.setattr("core.records.record.MAX_GAMES_BYTES", 10_000)
    (tmp_path / "large.sgf").write_text(f"(;GM[4]SZ[15]C[{'x' * 10_000}];B[hh])")
    assert [entry.moves for entry in saved_games(tmp_path)] == [2, 7, 3]
    newest = newest_unfinished(tmp_path)
    assert newest.moves == 2


def test_a_game_that_is_over_keeps_its_line_its_variations_and_its_analyses(tmp_path: Path) -> None:
    """In the same program, and in one that loads it."""
    for loads in (False, True):
        folder = tmp_path / str(loads)
        handle = SavedGame(folder)
        over = game(*WON)
        handle.save(over)
        if loads:
            handle, over = SavedGame(folder, handle.path), loaded(handle.path)
        over.tree.variations[0].add("g7").comment = "the other way"
        handle.save(analysed(over, 2, 20))
        assert [handle.path] == list(folder.iterdir())
        (record,), (tree,) = read_games(handle.path), read_trees(handle.path)
        assert (record.moves, record.winner, record.ending) == (WON, BLACK, Ending.BOARD)
        assert [node.comment for node in tree.variations[0].variations][1:] == ["the other way"]
        assert loaded(handle.path).analyses[2] == kept_analysis(20)
        handle.save(loaded(handle.path))
        assert loaded(handle.path).analyses[2] == kept_analysis(20), "the same again"


def kept_analysis(cell: int) -> KeptAnalysis:
    move = MoveAnalysis(cell, value=0.5, visits=3)
    analysis = Analysis(moves=(move,), value=0.5, variation=(cell,), nodes=4, seconds=0.1)
    return KeptAnalysis(analysis=analysis, player="mentor:1", limit=None)


def test_the_analysis_of_another_program_and_its_value_stay() -> None:
    (tree,) = parse_trees("(;GM[4]SZ[7]RU[4 in a row];B[ag]V[0.25]C[mine];W[af]GOMOKU[theirs]V[3])")
    studied = StudiedTree(tree, {1: kept_analysis(20), 2: kept_analysis(21)})
    for _ in range(2):
        written = to_sgf(studied.write())
        assert "V[0.25]C[mine]" in written
        assert ";W[af]GOMOKU[theirs]V[3])" in written


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
    assert read_games(handle.path)[0].source == path.name


def test_a_file_elsewhere_is_never_written(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "games"
    elsewhere.mkdir()
    own = SavedGame(elsewhere)
    own.save(game(*WON[:3]))
    before = own.path.read_bytes()
    folder.mkdir()
    (folder / "link.sgf").symlink_to(own.path)
    for path in (own.path, folder / "link.sgf"):
        handle = SavedGame(folder, path)
        handle.save(game(*WON[:4]))
        assert own.path.read_bytes() == before
        assert (handle.path.parent, read_games(handle.path)[0].source) == (folder, path.name)


def test_the_record_of_another_program_is_copied_once_with_its_result(tmp_path: Path) -> None:
    path, folder = tmp_path / "other.sgf", tmp_path / "games"
    path.write_text("(;GM[4]SZ[7]RU[4 in a row on 7x7]RE[W+R]PB[a]PW[b];B[ag];W[af])", encoding="utf-8")
    for cell in (20, 21):
        handle = SavedGame(folder, path)
        handle.save(analysed(loaded(path), 1, cell), is_final=True)
        (entry,) = saved_games(folder)
        record = entry.record
        assert (record.black, record.white, record.winner, entry.is_finished) == ("a", "b", WHITE, True)
        assert loaded(entry.path).analyses[1] == kept_analysis(cell)
    assert newest_unfinished(folder) is None
    handle, more = SavedGame(folder, path), loaded(path)
    more.tree.variations[0].add("g7")
    handle.save(more, is_final=True)
    assert len(list(saved_games(folder))) == 1, "the copy gets a variation"
    SavedGame(folder, path).save(loaded(path), is_final=True)
    assert len(list(saved_games(folder))) == 2, "a copy that has more stays"


def test_a_file_that_another_board_changed_is_not_written_over(tmp_path: Path) -> None:
    first = SavedGame(tmp_path)
    first.save(game(*WON[:2]))
    second = SavedGame(tmp_path, first.path)
    second.save(game(*WON[:2], 30))
    first.save(game(*WON[:2], 40))
    assert first.path != second.path
    assert [tuple(read_games(path)[0].moves)[2] for path in (second.path, first.path)] == [30, 40]


def test_a_foreign_source_names_no_file_to_write(tmp_path: Path) -> None:
    """A record may say that it comes from `../other.sgf`."""
    other, folder = tmp_path / "other.sgf", tmp_path / "games"
    folder.mkdir()
    other.write_text(to_sgf(game(*WON[:3]).tree), encoding="utf-8")
    before = other.read_bytes()
    path = folder / "game.sgf"
    path.write_text(
        to_sgf(replace(game(*WON[:2]).tree.record(), ending=Ending.UNKNOWN, source="../other.sgf")), encoding="utf-8"
    )
    handle = SavedGame(folder, path)
    handle.save(analysed(game(*WON[:3]), 1, 20))
    assert other.read_bytes() == before
    assert handle.path == path


def test_the_folder_is_the_users_data_folder(data_folder: Path) -> None:
    folder = saved.default_folder()
    assert folder.name == "games"
    assert folder.parent.name == "gomoku"
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert folder == data_folder / "games"
