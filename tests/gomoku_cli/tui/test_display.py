"""Layout on terminals of several sizes, stored pictures, ASCII mode and NO_COLOR."""

import asyncio
import signal

import pytest
from textual.widgets._footer import FooterKey

from gomoku_cli.tui.widgets.board import BoardWindow
from tests.support.cases import cases
from tests.support.screenshots import FOLDER, PICTURES, Picture, draw
from tests.support.scripted_players import ScriptedPlayer
from tests.support.tui import board_app, shown_game


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_the_screen_is_that_of_its_stored_picture(picture: Picture) -> None:
    """`python -m tests.support.screenshots` draws the pictures anew."""
    stored = (FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
    assert asyncio.run(draw(picture)) == stored, f"{picture.name} has changed"


async def test_the_board_grows_with_the_terminal_and_the_panel_makes_way() -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        window, panel = ui.main_screen.query_one(BoardWindow), ui.main_screen.query_one("#panel")
        for width, height, scale, has_panel in cases("screen_sizes"):
            await ui.pilot.resize_terminal(width, height)
            await ui.until(lambda: (ui.board.geometry.scale, panel.display) == (scale, has_panel))  # noqa: B023
            await ui.pilot.pause()
            assert window.region.contains_region(ui.board.region)
            if has_panel:
                assert not ui.board.region.overlaps(panel.region)
                assert panel.region.width >= 28
        await ui.pilot.resize_terminal(64, 34)
        await ui.press("p")
        assert (ui.board.geometry.scale, panel.display) == (1, True)
        await ui.press("p")
        assert (ui.board.geometry.scale, panel.display) == (2, False)
        assert ui.title == "● you   ◉ scripted [b]   5 in a row on 15x15"
        await ui.pilot.resize_terminal(50, 24)
        await ui.press("p", status="The terminal is too narrow for the panel.")
        await ui.pilot.resize_terminal(120, 24)
        await ui.until(lambda: panel.display and ui.status == "Your move.")
        for width, height in ((62, 14), (40, 10)):
            await ui.pilot.resize_terminal(width, height)
            await ui.pilot.pause()
            cursor = ui.board.cell_region(ui.board.cursor).translate(ui.board.region.offset)
            assert window.region.contains_region(cursor)
        await ui.pilot.resize_terminal(20, 6)
        await ui.pilot.pause()
        assert not window.display or window.region.area == 0
        assert "needs 24 columns and 8 rows" in ui.text("#small")


async def test_a_large_board_scrolls_to_the_cursor() -> None:
    async with board_app(ScriptedPlayer(25), size=25) as ui:
        window = ui.main_screen.query_one(BoardWindow)
        assert ui.board.region.height > window.region.height
        ui.board.cursor = 1
        await ui.press("left")
        corner = ui.board.cell_region(0).translate(ui.board.region.offset)
        assert window.region.contains_region(corner.grow((0, -1, 0, -1)))
        await ui.play("b1")
        assert ui.moves[0] == "b1"
        moves = ui.moves
        for keys in (("up",) * 24, ("down",) * 24):
            await ui.press(*keys)
            await ui.pilot.pause()
            bottom = window.region.bottom - 1
            assert ui.board.region.y + ui.board.line_of_letters == bottom
            assert ui.board.render_line(ui.board.line_of_letters).text.split()[:4] == ["a", "b", "c", "d"]
            await ui.pilot.click(offset=(10, bottom))
            assert ui.moves == moves


async def test_a_narrow_key_bar_shows_whole_keys_and_keeps_the_help_and_the_way_out() -> None:
    async with board_app(ScriptedPlayer(15)) as ui:
        shown = {}
        for columns in (120, 62, 40):
            await ui.pilot.resize_terminal(columns, 24)
            await ui.pilot.pause()
            keys = [key for key in ui.main_screen.query(FooterKey) if key.visible]
            assert max(key.region.right for key in keys) <= columns
            shown[columns] = [key.key_display for key in keys]
        assert shown[40][:2] == ["?", "q"]
        assert len(shown[40]) < len(shown[62]) < len(shown[120])


async def test_ascii_mode_writes_only_ascii() -> None:
    async with board_app(ScriptedPlayer(15, ["i8"]), ascii_only=True) as ui:
        await ui.play("h8")
        assert ui.line(8) == " 8 +-+-+-+-+-+-+[X]O)+-+-+-+-+-+ "
        for keys in ((), ("c", "g", "v", "m"), ("question_mark",), ("escape", "q"), ("n", "n")):
            await ui.press(*keys)
            text = "\n".join(strip.text for strip in ui.app.screen._compositor.render_strips())
            assert text.isascii(), sorted(set(text) - set(map(chr, range(128))))


async def test_the_moves_scroll_by_keys() -> None:
    setup = shown_game(" ".join(f"{letter}{row}" for row in range(1, 12) for letter in "abc"))
    async with board_app({}, setup=setup, terminal=(62, 20)) as ui:
        view = ui.main_screen.query_one("#moves")
        await ui.until(lambda: view.scroll_y > 0)
        await ui.press("pageup", "pageup", "pageup")
        assert view.scroll_y == 0
        await ui.press("pagedown")
        assert view.scroll_y > 0
        await ui.press("tab")
        assert view.has_focus
        await ui.press("home", "down")
        await ui.press("tab")
        assert ui.app.focused is ui.board


async def test_ctrl_z_stops_the_process_as_the_shell_does(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    async with board_app(ScriptedPlayer(15)) as ui:
        monkeypatch.setattr(type(ui.app._driver), "can_suspend", True)
        monkeypatch.setattr("os.kill", lambda process, number: sent.append(number))
        await ui.pilot.press("ctrl+z")
    assert sent == [signal.SIGTSTP]
