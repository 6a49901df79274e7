"""The turns of a game on the screen: moves, undo, new games and results."""

import pytest

from core.rules import BLACK, WHITE
from tests.support.tui import ScriptedPlayer, async_test, board_app


@async_test
async def test_a_click_plays_and_the_model_answers() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        assert ui.status == "Your move."
        await ui.play("a1")
        assert ui.moves == ["a1", "i9"]
        assert "  1 a1  i9" in ui.panel
        assert "+0.25 for the model\n-0.25 for you\n1,234 simulations, " in ui.panel
        assert "deterministic [a]" in ui.panel
        assert "scripted [b]" in ui.panel
        assert ui.line(1).startswith(" 1[●]┴─┴")
        assert ui.line(9) == " 9 ├─┼─┼─┼─┼─┼─┼─┼(○)┼─┼─┼─┼─┼─┤ "


@async_test
async def test_an_occupied_cell_is_refused_with_a_message() -> None:
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.play("h8")
        for name in ("h8", "i9"):
            await ui.click(name)
            assert ui.moves == ["h8", "i9"]
            assert ui.status == f"{name} already holds a stone."
        await ui.play("h9")
        assert ui.status == "Your move."


@async_test
async def test_the_model_begins_when_the_human_is_white() -> None:
    async with board_app(ScriptedPlayer(15, ["h8", "h9"]), human=WHITE) as ui:
        await ui.until(lambda: ui.moves == ["h8"])
        assert "black  the model" in ui.panel
        await ui.pilot.press("u")
        assert ui.moves == ["h8"]
        assert ui.status == "You have no move to take back."
        await ui.play("a1")
        assert ui.moves == ["h8", "a1", "h9"]
        await ui.pilot.press("u")
        assert ui.moves == ["h8"]
        assert ui.status == "Your move."
        assert "+0.25 for the model" in ui.panel


@async_test
async def test_undo_takes_back_the_answer_and_the_move() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "a2"])) as ui:
        await ui.play("h8")
        await ui.play("h9")
        await ui.pilot.press("u")
        assert ui.moves == ["h8", "a1"]
        await ui.pilot.press("u")
        assert ui.moves == []
        assert "no move yet" in ui.panel
        await ui.pilot.press("u")
        assert ui.status == "You have no move to take back."


@pytest.mark.parametrize("key", ["n", "c"])
@async_test
async def test_a_game_in_progress_is_dropped_only_at_the_second_key(key: str) -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "a2", "a3"])) as ui:
        await ui.play("h8")
        await ui.pilot.press(key)
        assert ui.status.startswith(f"A game is in progress. Press {key} again")
        await ui.play("h9")
        await ui.pilot.press(key)
        assert ui.moves == ["h8", "a1", "h9", "a2"], "the move between the two keys made the first one stale"
        assert ui.app.game.human == BLACK
        await ui.pilot.press(key)
        await ui.until(lambda: not ui.app.is_busy)
        assert ui.moves == ([] if key == "n" else ["a3"])
        assert ui.app.game.human == (BLACK if key == "n" else WHITE)


@async_test
async def test_a_game_without_a_move_of_the_human_is_dropped_at_once() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "a2"]), human=WHITE) as ui:
        await ui.until(lambda: ui.moves == ["a1"])
        await ui.pilot.press("n")
        await ui.until(lambda: ui.moves == ["a2"])
        await ui.pilot.press("c")
        assert ui.moves == []
        assert ui.app.game.human == BLACK


@async_test
async def test_a_win_is_shown_in_words_and_on_the_board() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "b1", "c1", "d1"])) as ui:
        for name in ("c3", "d4", "e5", "f6"):
            await ui.play(name)
        before = {name: ui.background(name) for name in ("c3", "g7", "a1")}
        await ui.play("g7")
        await ui.click("o1")
        assert ui.status == "Black has 5 in a row: you have won. Press n for a new game."
        assert "The game is over" in ui.panel
        line = {ui.background(name) for name in ("d4", "e5", "f6", "g7")}
        assert len(line) == 1
        assert line.isdisjoint(before.values())
        assert ui.background("c3") in line
        assert ui.background("a1") == before["a1"]
        assert len(ui.moves) == 9
        await ui.pilot.press("u")
        assert ui.moves[-1] == "d1"
        assert ui.status == "Your move."
        assert ui.background("d4") == before["c3"]


@async_test
async def test_a_win_of_the_model_is_shown_in_words() -> None:
    async with board_app(ScriptedPlayer(5, ["a1", "b1", "c1"]), size=5, connect=3) as ui:
        for name in ("a5", "c5", "e5"):
            await ui.play(name)
        assert ui.status == "White has 3 in a row: the model has won."
        await ui.pilot.press("n")
        assert ui.moves == []
        assert ui.status == "Your move."


@async_test
async def test_a_full_board_is_a_draw() -> None:
    async with board_app(ScriptedPlayer(3, ["b2", "a3", "b1", "c2"]), size=3, connect=3) as ui:
        for name in ("a1", "c3", "c1", "b3", "a2"):
            await ui.play(name)
        assert ui.status == "The board is full: a draw."
