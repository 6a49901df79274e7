"""The screen while the engine loads, thinks, ponders and fails."""

import asyncio
import threading

import pytest
from textual.geometry import Offset

from core.notation import parse_cell
from core.rules import Rules
from curriculum.bench.compiling import progress_text
from gomoku_cli.tui.engine.messages import NO_TASK, Compiling, Ended, Load, PlayerChoice
from gomoku_cli.tui.game import Seats
from gomoku_cli.tui.screens.help import HelpScreen
from gomoku_cli.tui.screens.question import Question
from gomoku_cli.tui.setup import BoardSetup
from gomoku_cli.tui.widgets import panel
from tests.support.tui import GatedAnalyst, GatedPlayer, PonderingPlayer, ScriptedPlayer, ThreadEngine, board_app


async def test_the_board_takes_moves_while_the_player_loads() -> None:
    engine = ThreadEngine({"scripted [b]": ScriptedPlayer(15, ["a1"])})
    engine.loading.clear()
    async with board_app(engine, wait=False) as ui:
        assert ui.status == "Your move."
        compiling = progress_text(100, 105)
        ui.app.control.receive(NO_TASK, Compiling(compiling))
        assert ui.status == f"Your move. Loading scripted [b]: {compiling}"
        assert len(f"Your move. Loading default: {compiling}") <= 78
        await ui.press("enter")
        assert ui.moves == ["h8"]
        assert ui.status == f"Loading scripted [b]: {compiling}"
        await ui.press("left", "enter")
        assert ui.moves == ["h8"]
        await ui.press("u", "enter")
        assert ui.moves == ["g8"]
        engine.loading.set()
        await ui.until(lambda: ui.moves == ["g8", "a1"])


async def test_the_search_is_shown_as_it_goes_and_escape_ends_it() -> None:
    player = GatedAnalyst(15, ["i9"])
    player.proof = 7
    async with board_app(player, terminal=(120, 40)) as ui:
        await ui.press("enter")
        await ui.until(lambda: "wins in 7" in ui.status)
        assert ui.status.startswith("scripted [b] is thinking... 0 s, 100 simulations. White wins in 7, a1 b1 c1")
        await ui.press("left")
        assert ui.board.cursor == parse_cell("g8", 15)
        await ui.pilot.hover(ui.board, offset=Offset(5, 0))
        assert ui.board.hover == parse_cell("a15", 15)
        await ui.click("c3")
        assert ui.moves == ["h8"]
        await asyncio.sleep(0.6)  # longer than the interval at which the time is drawn
        assert "thinking... 1 s" in ui.status or "thinking... 0 s" in ui.status
        await ui.press("escape")
        await ui.until(lambda: ui.moves == ["h8", "i9"])
        assert ui.status == "Your move."
        assert "White wins in 7" in ui.panel


@pytest.mark.parametrize("obeys_stop", [True, False], ids=["stops", "does not stop"])
async def test_undo_while_the_engine_thinks_drops_its_answer(obeys_stop: bool) -> None:
    player = GatedPlayer(15, ["a1", "o15"], obeys_stop=obeys_stop)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("u")
        assert ui.moves == []
        assert ui.status == "Your move."
        await ui.until(lambda: player.stopped)
        # The stale answer a1 may come while a later request is in progress.
        await ui.click("g7")
        player.release.set()
        await ui.until(lambda: not ui.app.control.is_busy)
        assert ui.moves == ["g7", "o15"]
        assert len(player.requests) == 2


async def test_the_engine_may_answer_while_a_dialog_is_open() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("question_mark")
        assert isinstance(ui.app.screen, HelpScreen)
        assert "take" not in ui.status
        player.release.set()
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.press("u")
        assert ui.moves == ["h8", "a1"], "the help screen must not pass keys to the board"
        await ui.press("q")
        assert ui.app.screen is ui.main_screen


async def test_an_error_of_the_engine_is_shown_and_the_game_goes_on() -> None:
    player = ScriptedPlayer(15, [RuntimeError("[b]no\nmemory"), RuntimeError("none"), "a1", "h8"])
    async with board_app(player) as ui:
        await ui.play("h8")
        assert ui.status == "scripted [b] failed (enter: ask again, u: undo). RuntimeError: [b]no memory"
        assert ui.moves == ["h8"]
        await ui.press("u")
        assert ui.moves == []
        await ui.play("h8")
        assert ui.status.endswith("none")
        await ui.press("enter")
        await ui.until(lambda: ui.moves == ["h8", "a1"])
        await ui.play("g7")
        assert "h8 already holds a stone" in ui.status
        assert ui.moves == ["h8", "a1", "g7"]
        ui.app.control.receive(NO_TASK, Ended("killed"))
        assert ui.status == "The engine has ended: killed"
        await ui.press("u", "enter")
        assert ui.app.control.is_thinking or len(ui.moves) != 2
        ui.app.control.receive(NO_TASK, Ended("killed"))


async def test_a_player_that_cannot_be_loaded_leaves_a_way_on() -> None:
    engine = ThreadEngine({"mentor": ScriptedPlayer(15, ["i9"])})
    setup = BoardSetup(seats=Seats(None, PlayerChoice(spec="models/[x].safetensors")))
    async with board_app(engine, setup=setup) as ui:
        await ui.until(lambda: isinstance(ui.app.screen, Question))
        assert "This player cannot be loaded.\nValueError: models/[x].safetensors is broken" in ui.dialog
        await ui.press("m")
        await ui.until(lambda: not ui.app.control.is_loading)
        assert "white  mentor" in ui.panel
        await ui.play("h8")
        assert ui.moves == ["h8", "i9"]


async def test_the_mentor_replaces_a_model_of_another_board() -> None:
    engine = ThreadEngine({"mentor": ScriptedPlayer(9, ["a1"])}, rules={"default": Rules()})
    async with board_app(engine, setup=BoardSetup(rules=Rules(9))) as ui:
        await ui.until(lambda: ui.app.game.seats.white == PlayerChoice(spec="mentor"))
        assert "Note: default plays 5 in a row on 15x15: the mentor plays in its place" in ui.panel
        await ui.play("e5")
        assert ui.moves == ["e5", "a1"]
        assert isinstance(engine.tasks[0], Load)


async def test_a_note_leaves_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "NOTE_S", 0.1)
    async with board_app(ScriptedPlayer(15)) as ui:
        ui.app.add_note("the abacus [a] is missing")
        assert "Note: the abacus [a] is missing" in ui.panel
        await ui.until(lambda: "abacus" not in ui.panel)
        assert ui.app.notices == ["the abacus [a] is missing"]


async def test_the_engine_ponders_only_during_the_humans_turns() -> None:
    player = PonderingPlayer(15, ["a1", "a2"])
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: player.pondered == [[]])
        assert "it ponders during your turn" in ui.panel
        await ui.play("h8")
        await ui.until(lambda: len(player.pondered) == 2)
        assert player.requests == [player.pondered[1][:1]]
        assert player.pondered[1] == ui.app.game.moves
        await ui.click("h8")
        assert ui.status == "h8 already holds a stone."
        assert player.is_pondering, "an illegal move changes nothing"
        await ui.press("u")
        await ui.until(lambda: player.pondered[2:] == [[]])
        assert player.ended == 2
        player.full.set()
        await ui.until(lambda: "ponders" not in ui.panel)
    assert not player.is_pondering


async def test_an_engine_that_cannot_ponder_says_so_once() -> None:
    player = PonderingPlayer(15, ["a1", "a2"], RuntimeError("no room"))
    async with board_app(player, ponders=True) as ui:
        await ui.until(lambda: "no room" in ui.status)
        await ui.play("h8")
        assert len(player.pondered) == 1
        assert ui.status == "Your move."


async def test_quitting_while_the_engine_thinks_asks_and_ends_it() -> None:
    player = GatedPlayer(15)
    async with board_app(player) as ui:
        await ui.click("h8")
        await ui.until(player.thinking.is_set)
        await ui.press("q")
        assert "Leave this game?" in ui.dialog
        await ui.press("n")
        assert ui.app.screen is ui.main_screen
        await ui.press("q", "y")
    assert player.stopped
    assert not any(thread.name == "engine" for thread in threading.enumerate())
