"""The layout on terminals of several sizes, ASCII mode and NO_COLOR."""

import pytest

from core.notation import parse_cell
from gomoku_cli.tui.board import BoardWindow, star_points
from tests.support.tui import ScriptedPlayer, async_test, board_app


@pytest.mark.parametrize(("size", "terminal"), [(3, (80, 24)), (15, (80, 24)), (20, (80, 24)), (15, (120, 40))])
@async_test
async def test_board_and_panel_fit_side_by_side(size: int, terminal: tuple[int, int]) -> None:
    async with board_app(ScriptedPlayer(size), size=size, connect=3, terminal=terminal) as ui:
        board, panel = ui.board.region, ui.main_screen.query_one("#panel").region
        window = ui.main_screen.query_one(BoardWindow).region
        assert window.contains_region(board)
        assert board.height == size + 1
        assert not board.overlaps(panel)
        assert panel.right == terminal[0]
        assert panel.width >= 26
        assert ui.line(0).split() == [chr(ord("a") + column) for column in range(size)]
        assert ui.line(1).startswith(" 1")
        assert ui.line(size).startswith(f"{size:>2}")


@async_test
async def test_a_terminal_too_narrow_for_the_panel_shows_the_colour_in_the_title() -> None:
    async with board_app(ScriptedPlayer(15), terminal=(59, 24)) as ui:
        assert ui.title == "You are black   5 in a row on 15x15"
        await ui.pilot.press("c")
        assert ui.title.startswith("You are white")
        await ui.pilot.resize_terminal(60, 24)
        await ui.pilot.pause()
        assert ui.title.startswith("Gomoku")
        assert "white  you" in ui.panel


@async_test
async def test_a_large_board_scrolls_to_the_cursor() -> None:
    async with board_app(ScriptedPlayer(25), size=25) as ui:
        window = ui.main_screen.query_one(BoardWindow)
        assert ui.board.region.height > window.region.height
        ui.board.cursor = 1
        await ui.pilot.press("left")
        corner = ui.board.cell_region(0).translate(ui.board.region.offset)
        assert window.region.contains_region(corner)
        await ui.play("b1")
        assert ui.moves[0] == "b1"


@async_test
async def test_resizing_keeps_the_cursor_in_view() -> None:
    async with board_app(ScriptedPlayer(15), terminal=(120, 40)) as ui:
        ui.board.cursor = parse_cell("h1", 15)
        for width, height in ((80, 24), (62, 14), (40, 10), (10, 4), (120, 40)):
            await ui.pilot.resize_terminal(width, height)
            await ui.pilot.pause()
            if width >= 40:
                cursor = ui.board.cell_region(ui.board.cursor).translate(ui.board.region.offset)
                assert ui.main_screen.query_one(BoardWindow).region.contains_region(cursor)
        await ui.pilot.press("enter")
        await ui.until(lambda: len(ui.moves) == 2)


@async_test
async def test_ascii_mode_draws_the_same_board() -> None:
    async with board_app(ScriptedPlayer(15, ["i8"]), ascii_only=True) as ui:
        await ui.play("h8")
        assert ui.line(8) == " 8 +-+-+-+-+-+-+[X]O)+-+-+-+-+-+ "
        assert ui.line(12) == "12 +-+-+-*-+-+-+-+-+-+-+-*-+-+-+ "


@pytest.mark.parametrize(
    ("size", "keys"), [(15, ()), (15, ("question_mark",)), (25, ())], ids=["game", "help", "large"]
)
@async_test
async def test_ascii_mode_writes_only_ascii(size: int, keys: tuple[str, ...]) -> None:
    async with board_app(ScriptedPlayer(size), size=size, ascii_only=True) as ui:
        await ui.play("h8")
        await ui.pilot.press(*keys)
        text = "\n".join(strip.text for strip in ui.app.screen._compositor.render_strips())
        assert text.isascii(), sorted(set(text) - set(map(chr, range(128))))


@async_test
async def test_no_color_removes_all_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with board_app(ScriptedPlayer(15, ["i9"])) as ui:
        await ui.play("h8")
        for strip in ui.app.screen._compositor.render_strips():
            for segment in strip:
                style = segment.style
                if style is not None:
                    assert style.color is None or style.color.is_default, segment
                    assert style.bgcolor is None or style.bgcolor.is_default, segment


@pytest.mark.parametrize(
    ("size", "names"),
    [
        (3, ""),
        (4, ""),
        (7, "d4"),
        (9, "c3 c7 e5 g3 g7"),
        (15, "d4 d12 h8 l4 l12"),
        (19, "d4 d10 d16 j4 j10 j16 p4 p10 p16"),
        (20, "d4 d17 q4 q17"),
    ],
)
def test_star_points_are_at_the_usual_places(size: int, names: str) -> None:
    assert star_points(size) == {parse_cell(name, size) for name in names.split()}
