"""The screen while the model thinks: cancelled requests, errors, and the end of the thread."""

import asyncio

import pytest
from textual.geometry import Offset

from core.notation import parse_cell
from core.rules import BLACK, WHITE
from gomoku_cli.tui.help import HelpScreen
from tests.support.tui import GatedPlayer, ScriptedPlayer, async_test, board_app


@async_test
async def test_the_screen_responds_while_the_model_thinks() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        assert ui.status.startswith("The model is thinking... ")
        await ui.pilot.press("left")
        assert ui.board.cursor == parse_cell("g8", 15)
        await ui.pilot.hover(ui.board, offset=Offset(3, 0))
        assert ui.board.hover == parse_cell("a15", 15)
        await ui.click("c3")
        assert ui.moves == ["h8"]
        assert ui.status.startswith("The model is thinking... ")
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])


@pytest.mark.parametrize("obeys_stop", [True, False], ids=["stops", "does not stop"])
@async_test
async def test_undo_while_the_model_thinks_drops_its_answer(obeys_stop: bool) -> None:
    player = GatedPlayer(15, ["a1", "o15"], obeys_stop=obeys_stop)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.pilot.press("u")
        assert ui.moves == []
        assert ui.status == "Your move."
        await ui.until(lambda: player.stopped)
        # The stale answer a1 may come while a later request is in progress.
        await ui.click("g7")
        player.release.set()
        await ui.until(lambda: not ui.app.is_busy)
        assert ui.moves == ["g7", "o15"]
        assert len(player.requests) == 2


@pytest.mark.parametrize("key", ["n", "c"])
@async_test
async def test_a_new_game_while_the_model_thinks_drops_its_answer(key: str) -> None:
    player = GatedPlayer(15, ["a1", "o15"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.pilot.press(key, key)
        await ui.until(lambda: player.stopped)
        player.release.set()
        await ui.until(lambda: not ui.app.is_busy)
        assert ui.app.game.human == (BLACK if key == "n" else WHITE)
        assert ui.moves == ([] if key == "n" else ["o15"])


@async_test
async def test_a_confirmation_stays_on_the_screen_while_the_model_thinks() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.pilot.press("n")
        await asyncio.sleep(0.7)  # longer than the interval at which the status of a thinking model is drawn
        assert ui.status.startswith("A game is in progress.")
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        assert ui.status == "Your move."


@async_test
async def test_the_model_may_answer_while_the_help_is_open() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.pilot.press("question_mark")
        assert isinstance(ui.app.screen, HelpScreen)
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.pilot.press("u")
        assert ui.moves == ["h8", "a1"], "the help screen must not pass keys to the board"
        await ui.pilot.press("q")
        assert ui.app.screen is ui.main_screen


@async_test
async def test_an_error_of_the_model_is_shown_and_the_game_goes_on() -> None:
    player = ScriptedPlayer(15, [RuntimeError("[b]no\nmemory"), RuntimeError("none"), "a1", "h8"])
    async with board_app(player) as ui:
        await ui.play("h8")
        assert ui.status == "The model failed (enter: ask again, u: undo). RuntimeError: [b]no memory"
        assert ui.moves == ["h8"]
        await ui.pilot.press("u")
        assert ui.moves == []
        assert ui.status == "Your move."
        await ui.play("h8")
        assert ui.status.endswith("none")
        await ui.pilot.press("enter")
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.play("g7")
        assert "IllegalMoveError: " in ui.status
        assert ui.moves == ["h8", "a1", "g7"]


@async_test
async def test_quitting_while_the_model_thinks_ends_its_thread() -> None:
    player = GatedPlayer(15)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.pilot.press("q")
        assert ui.status == "A game is in progress. Press q again to quit."
        await ui.pilot.press("q")
    assert player.stopped
    assert player.threads
    assert not any(thread.is_alive() for thread in player.threads)
