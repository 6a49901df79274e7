"""The list of saved games: its columns, filter, names, and deletions that are taken back."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events

from core.opening_rules import Opening, OpeningRule
from core.records.record import OWN_NOTE, Ending, GameRecord
from core.records.sgf import to_sgf
from core.rules import BLACK, WHITE, Rules, Variant
from gomoku_cli.study.saved import SavedGame, deleted, newest_unfinished, restored, saved_games
from gomoku_cli.tui.engine.files import Files
from gomoku_cli.tui.engine.messages import DeleteGame, RenameGame, RestoreGame
from gomoku_cli.tui.game import Game, Seats
from gomoku_cli.tui.screens.saved_games import SavedGamesScreen
from gomoku_cli.tui.setup import BoardSetup
from tests.support.screens import screen_text
from tests.support.scripted_players import AnalysingPlayer, ScriptedPlayer
from tests.support.tui import TWO_PLAYERS, BoardDriver, ThreadEngine, board_app

RENJU, UNKNOWN, SWAP2 = Rules(15, variant=Variant.RENJU), Ending.UNKNOWN, Opening(OpeningRule.SWAP2)
GAMES = {
    "2026-11-01-120000": GameRecord(Rules(), (112, 113, 114), WHITE, "you", "level:3"),
    "won by Ann": GameRecord(RENJU, (112,), BLACK, "Ann", "Bob", ending=Ending.RESIGNATION),
    "2026-11-03-120000": GameRecord(
        Rules(), (112, 113), None, "you", "mentor:2", ending=UNKNOWN, opening=SWAP2, note=OWN_NOTE
    ),
}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A folder with these games, the last one saved last."""
    folder = tmp_path / "games"
    folder.mkdir()
    for number, (name, record) in enumerate(GAMES.items()):
        path = folder / f"{name}.sgf"
        path.write_text(to_sgf(record), encoding="utf-8")
        os.utime(path, (10**9 + number, 10**9 + number))
    return folder


async def opened(ui: BoardDriver) -> None:
    await ui.press("o")
    await ui.shows(SavedGamesScreen)


async def test_saved_games_are_filtered_renamed_deleted_and_brought_back(games: Path) -> None:
    contents = {name: (games / f"{name}.sgf").read_bytes() for name in GAMES}
    async with board_app(ScriptedPlayer(15), folder=games) as ui:
        await opened(ui)
        rows = [line.split() for line in ui.dialog.splitlines() if line.startswith("2001")]
        assert [row[2:] for row in rows] == [
            ["you", "-", "mentor:2", "goes", "on", "15x15", "swap2", "2"],
            ["won", "by", "Ann:", "Ann", "-", "Bob", "black", "won", "15x15", "renju", "1"],
            ["you", "-", "level:3", "white", "won", "15x15", "3"],
        ]
        await ui.press(*"YOU won")
        assert "1 of 3" in ui.dialog and "mentor:2" not in ui.dialog
        await ui.press("backspace", "backspace", "backspace", "backspace", dialog="2 of 3")
        await ui.press("escape", "down", dialog="black won by resignation, 15x15 renju, 1 move")
        await ui.press("f2", *("backspace",) * 10, *"a/b", "enter")
        await ui.until(lambda: "Not done" in ui.dialog)
        await ui.press("f2", *("backspace",) * 10, *"Ann's trap", "enter")
        await ui.until(lambda: "It is called Ann's trap." in ui.dialog)
        await ui.press("delete")
        await ui.until(lambda: "ctrl+z brings it back" in ui.dialog)
        assert [entry.path.stem for entry in saved_games(games)] == ["2026-11-03-120000", "2026-11-01-120000"]
        await ui.press("delete", "ctrl+z", "ctrl+z", "ctrl+z")
        await ui.until(lambda: "No game was deleted" in ui.dialog)
        found = [entry.path for entry in saved_games(games)]
        assert [path.stem for path in found] == ["2026-11-03-120000", "Ann's trap", "2026-11-01-120000"]
        assert [path.read_bytes() for path in found] == list(contents.values())[::-1], "no file is written anew"
        await ui.press("home", "enter")
        await ui.until(lambda: ui.app.game.ply == 2)


async def test_a_game_of_the_list_is_marked_and_opened_by_the_left_button_alone(games: Path) -> None:
    async with board_app(ScriptedPlayer(15), folder=games) as ui:
        await opened(ui)
        for button, marked in ((3, "you - mentor:2"), (1, "you - level:3"), (2, "you - level:3"), (3, "you - level:3")):
            await ui.pilot.click("#games", offset=(2, 2), button=button)
            assert f"{marked}, " in ui.dialog
        await ui.pilot.click("#games", offset=(2, 2))
        await ui.until(lambda: ui.app.game.ply == 3)


async def test_pasted_text_and_letters_that_come_at_once_are_typed(games: Path) -> None:
    async with board_app(ScriptedPlayer(15), folder=games) as ui:
        await opened(ui)
        await ui.paste("ann\nWON")
        assert "1 of 3" in ui.dialog and "filter: ann WON_" in ui.dialog
        await ui.paste("x" * 300)
        assert "0 of 3" in ui.dialog and "xxxx_" in ui.dialog
        for _ in range(193):
            ui.app.post_message(events.Key("backspace", None))
        await ui.press("f2")
        await ui.paste("\ttwice\n")
        await ui.press("enter")
        await ui.until(lambda: "It is called won by Ann twice." in ui.dialog)


@pytest.mark.parametrize(("ascii_only", "more"), [(False, "…"), (True, "..")])
async def test_a_cut_name_says_so_and_a_record_without_players_is_listed_by_its_file(
    tmp_path: Path, ascii_only: bool, more: str
) -> None:
    record = GameRecord(Rules(), (112,), ending=UNKNOWN, source="lines.lib")
    (tmp_path / "2026-11-04-120000.sgf").write_text(to_sgf(record), encoding="utf-8")
    (tmp_path / "a name.sgf").write_text("(;GM[4]SZ[15]PB[Tanaka the First]PW[Sushkov the Second];B[hh];W[ig])")
    setup = replace(TWO_PLAYERS, ascii_only=ascii_only)
    async with board_app({}, folder=tmp_path, setup=setup) as ui:
        await opened(ui)
        (row,) = [line for line in ui.dialog.splitlines() if "a name: Tanaka" in line]
        assert "Second" not in row and row.count(more) == 1
        assert "lines.lib" in ui.dialog


async def test_a_narrow_list_keeps_each_game_on_its_row_and_says_what_is_cut(games: Path) -> None:
    async with board_app(ScriptedPlayer(15), folder=games) as ui:
        for columns in (20, 30, 40, 60):
            await ui.pilot.resize_terminal(columns, 20)
            await opened(ui)
            lines = [line.strip() for line in ui.dialog.splitlines()]
            (heading,) = [number for number, line in enumerate(lines) if line.startswith(("date", "players"))]
            *rows, about = lines[heading + 1 : heading + 5]
            assert about.startswith("you - mentor:2,") and about.endswith("…") is (columns < 60)
            assert all(name in row for name, row in zip(("you", "won by", "you"), rows, strict=True)), rows
            shown = screen_text(ui.app)
            assert columns < 30 or all(key in shown for key in ("go on, review", "ctrl+z undo", "esc back")), shown
            await ui.press("escape")


async def test_names_of_rules_are_whole_at_80_columns(tmp_path: Path) -> None:
    rules = [Rules(20, variant=variant) for variant in Variant]
    for number, each in enumerate(rules):
        record = GameRecord(each, (112,), black="you", white="default", opening=SWAP2)
        (tmp_path / f"{number}.sgf").write_text(to_sgf(record), encoding="utf-8")
    async with board_app({}, folder=tmp_path, setup=TWO_PLAYERS) as ui:
        await opened(ui)
        rows = [line.split() for line in ui.dialog.splitlines() if ": you" in line]
    assert [row[8:] for row in rows] == [
        ["20x20", *([each.variant] if each.variant != Variant.FREESTYLE else []), "swap2", "1"]
        for each in reversed(rules)
    ]


def test_a_held_key_deletes_a_game_once(games: Path) -> None:
    """Keys that come before the list is new name a game again; what cannot be done leaves no empty file."""
    files = Files(games)
    path = str(games / "won by Ann.sgf")
    answers = [files.run(0, DeleteGame(path)) for _ in range(3)]
    assert {answer.remark for answer in answers} == {"won by Ann is deleted; ctrl+z brings it back."}
    gone = games.parent / "deleted-games"
    assert [file.name for file in gone.iterdir()] == ["won by Ann.sgf"]
    (gone / "won by Ann.sgf").unlink()
    for task in (RestoreGame(), RenameGame(path, "other")):
        answer = files.run(0, task)
        assert answer.remark == "Not done: won by Ann.sgf: No such file or directory"
    assert not list(gone.iterdir())
    assert len(list(games.iterdir())) == 2


async def test_a_game_on_the_board_goes_on_under_its_new_name(tmp_path: Path) -> None:
    """One that was saved in this session, and one that was only opened."""
    games = tmp_path / "games"
    async with board_app(ScriptedPlayer(15, ["i9", "a1", "b2"]), folder=games) as ui:
        await ui.play("h8")
        for name, move in (("one", "c3"), ("two", "d4")):
            await opened(ui)
            await ui.press("f2", *("backspace",) * 4, *name, "enter")
            await ui.until(lambda name=name: f"It is called {name}." in ui.dialog)  # type: ignore[misc]
            await ui.press("escape" if name == "one" else "enter")
            await ui.until(lambda: ui.app.screen is ui.main_screen and not ui.app.control.is_busy)
            await ui.play(move)
            assert [path.stem for path in games.iterdir()] == [name]
    (entry,) = saved_games(games)
    assert entry.moves == 6


async def test_a_game_that_is_renamed_or_deleted_in_another_window_stays_and_this_one_goes_on_in_a_new_file(
    tmp_path: Path,
) -> None:
    games = tmp_path / "games"
    other = Files(games)
    async with board_app(ScriptedPlayer(15), folder=games) as ui:
        for moves, task in ((2, lambda path: RenameGame(path, "mine")), (4, DeleteGame)):
            await ui.play(f"h{moves}")
            (path,) = (file for file in games.iterdir() if file.stem != "mine")
            other.run(0, task(str(path)))
            await ui.play(f"i{moves}")
            assert f"{path.name} was changed, renamed or deleted: this game goes on in 2" in ui.status
            found = {entry.path.stem == "mine": entry.moves for entry in saved_games(games)}
            assert found == {True: 2, False: 2 * moves}
        (gone,) = (tmp_path / "deleted-games").iterdir()
        assert gone.name == path.name


async def test_a_resumed_game_that_went_on_in_another_window_is_not_written_over(tmp_path: Path) -> None:
    def game(*moves: int) -> Game:
        return Game(Rules(), Seats(None, None), moves)

    first = SavedGame(tmp_path)
    first.save(game(112, 113).to_save())
    path = first.path
    assert path is not None
    resumed = BoardSetup(game=game(112, 113), path=str(path), known=path.read_bytes())
    first.save(game(112, 113, 114).to_save())
    async with board_app(ThreadEngine({}, folder=tmp_path), setup=resumed) as ui:
        await ui.play("a1")
        await ui.until(lambda: f"{path.name} was changed, renamed or deleted" in ui.status)
    assert [entry.moves for entry in saved_games(tmp_path) if entry.path == path] == [3]
    assert len(list(saved_games(tmp_path))) == 2


async def test_a_pasted_game_without_a_result_does_not_go_on(tmp_path: Path) -> None:
    players = {"scripted [b]": ScriptedPlayer(15), "default": AnalysingPlayer(15)}
    async with board_app(ThreadEngine(players, folder=tmp_path)) as ui:
        await ui.paste("(;GM[4]SZ[15]PB[Ann]PW[Bob];B[hh];W[ig])")
        await ui.until(lambda: bool(list(saved_games(tmp_path))))
        await opened(ui)
        assert "Ann - Bob" in ui.dialog and "no result" in ui.dialog
        assert newest_unfinished(tmp_path) is None


def test_a_deleted_game_never_takes_the_place_of_another(games: Path) -> None:
    path = games / "won by Ann.sgf"
    gone = deleted(path)
    path.write_text("another")
    assert restored(gone, path).name == "won by Ann-2.sgf"
    assert path.read_text() == "another"
