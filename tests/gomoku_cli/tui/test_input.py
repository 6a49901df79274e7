"""Mouse and keyboard on the board."""

import pytest
from textual.geometry import Offset, Region

from core.notation import parse_cell
from core.rules import EMPTY, NO_CELL
from gomoku_cli.tui.board import BoardWidget
from tests.support.tui import GatedPlayer, ScriptedPlayer, async_test, board_app


@async_test
async def test_other_mouse_buttons_play_nothing() -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        for button in (2, 3):
            await ui.click("h8", button=button)
        assert ui.moves == []


@async_test
async def test_a_click_outside_the_grid_plays_nothing() -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        await ui.pilot.click(ui.board, offset=Offset(0, 3))
        await ui.pilot.click(ui.board, offset=Offset(10, 15))
        assert ui.moves == []


@async_test
async def test_the_keyboard_moves_the_cursor_and_plays() -> None:
    async with board_app(ScriptedPlayer(15, ["a1", "a2"])) as ui:
        assert ui.board.cursor == parse_cell("h8", 15)
        await ui.pilot.press("up", "right", "right", "enter")
        await ui.until(lambda: len(ui.moves) == 2)
        await ui.pilot.press("h", "h", "h", "j", "j", "k", "l", "space")
        await ui.until(lambda: len(ui.moves) == 4)
        assert ui.moves == ["j9", "a1", "h8", "a2"]


@async_test
async def test_the_cursor_stops_at_the_edge() -> None:
    async with board_app(ScriptedPlayer(3), size=3, connect=3) as ui:
        await ui.pilot.press("left", "left", "left", "down", "down")
        assert ui.board.cursor == parse_cell("a1", 3)
        await ui.pilot.press("right", "right", "right", "up", "up", "up")
        assert ui.board.cursor == parse_cell("c3", 3)


@async_test
async def test_keys_still_reach_the_board_after_a_click_elsewhere() -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        await ui.pilot.click("#panel")
        await ui.pilot.press("left", "enter")
        assert ui.moves[:1] == ["g8"]


@async_test
async def test_moving_the_cursor_draws_two_cells_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        drawn: list[tuple[Region, ...]] = []
        refresh = ui.board.refresh

        def refresh_and_record(*regions: Region, **_: object) -> BoardWidget:
            drawn.append(regions)
            return refresh(*regions)

        monkeypatch.setattr(ui.board, "refresh", refresh_and_record)
        await ui.pilot.press("left")
        h8, g8 = (ui.board.cell_region(parse_cell(name, 15)) for name in ("h8", "g8"))
        assert drawn == [(h8, g8)]


@async_test
async def test_the_mouse_shows_a_stone_only_where_a_click_would_place_it() -> None:
    player = GatedPlayer(15, ["a1"])
    async with board_app(player) as ui:
        await ui.pilot.hover(ui.board, offset=Offset(3, 0))
        assert ui.line(15).startswith("15 ●─┬")
        await ui.click("h8")
        await ui.pilot.hover(ui.board, offset=Offset(3, 0))
        assert ui.board.ghost == EMPTY
        assert ui.line(15).startswith("15 ┌─┬")
        await ui.pilot.hover("#panel")
        assert ui.board.hover == NO_CELL
        player.release.set()
