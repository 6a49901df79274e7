"""The board widget: it shows cells and reports pressed ones, by keyboard and mouse."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from rich.segment import Segment
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from core.rules import EMPTY, NO_CELL, Cell, Colour, Rules
from gomoku_cli.tui.widgets.glyphs import COLOURS, PLAIN, Glyphs
from gomoku_cli.tui.widgets.painting import MAX_SCALE, NOTHING, Brackets, CellLook, Geometry, Painter


class BoardPictures(Protocol):
    """Pictures in place of characters; `gomoku_cli.tui.graphics.pictures` has them."""

    def line(self, geometry: Geometry, y: int, looks: Mapping[Cell, CellLook], brackets: Brackets) -> list[Segment]:
        """Return line `y` of a board."""

    @property
    def is_full(self) -> bool:
        """True if all must be forgotten before more are drawn."""

    def clear(self) -> None:
        """Forget all pictures."""


class BoardWidget(Widget, can_focus=True):
    """A board that shows cells and reports pressed ones. It does not know the rules of turns.

    Only the cells whose look has changed are drawn again.
    """

    ALLOW_SELECT = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move_cursor(0, -1)", "Left", show=False),
        Binding("right,l", "move_cursor(0, 1)", "Right", show=False),
        Binding("up,k", "move_cursor(1, 0)", "Up", show=False),
        Binding("down,j", "move_cursor(-1, 0)", "Down", show=False),
        Binding("enter,space,ctrl+j", "press_cell", "Play", show=False),
        Binding("tab,shift+tab", "app.change_focus", "Moves", show=False),
    ]

    cursor: reactive[Cell] = reactive(0, repaint=False)
    """The cell that the keyboard plays on."""
    hover: reactive[Cell] = reactive(NO_CELL, repaint=False)
    """The cell under the mouse, or `NO_CELL`."""
    ghost: reactive[Colour] = reactive(EMPTY, repaint=False)
    """The colour of the stone that a click would place, shown under the mouse; `EMPTY` if a click places none."""

    @dataclass
    class CursorMoved(Message):
        """The cursor is on another cell."""

        cell: Cell

        def can_replace(self, message: Message) -> bool:
            """Replace an older message of this kind that waits."""
            return isinstance(message, BoardWidget.CursorMoved)

    def __init__(self, rules: Rules, press: Callable[[Cell], None], glyphs: Glyphs) -> None:
        """`press` gets each cell that is clicked or chosen by key, at once; the cell may be occupied."""
        super().__init__()
        self._press, self._glyphs = press, glyphs
        self._looks: Mapping[Cell, CellLook] = {}
        self._last = NO_CELL
        self._held = NO_CELL
        self.geometry = Geometry(rules.size, 1)
        self.set_reactive(BoardWidget.cursor, _middle(rules))

    def set_rules(self, rules: Rules) -> None:
        """Show an empty board of another size."""
        self.geometry = Geometry(rules.size, self.geometry.scale)
        self._looks, self._last = {}, NO_CELL
        self.set_reactive(BoardWidget.hover, NO_CELL)
        self.cursor = _middle(rules)
        self._redraw()

    def set_scale(self, scale: int) -> None:
        """Draw cells of `2 * scale` columns and `scale` rows."""
        if scale != self.geometry.scale:
            self.geometry = self.geometry._replace(scale=scale)
            self._redraw()

    @property
    def _pictures(self) -> BoardPictures | None:
        """The pictures of the app; None for characters."""
        return getattr(self.app, "pictures", None)

    def _redraw(self) -> None:
        self.refresh(layout=True)
        if self.is_mounted:
            self.call_after_refresh(self.scroll_to_cursor)

    def show(self, looks: Mapping[Cell, CellLook]) -> None:
        """Show these cells, all others empty."""
        before, self._looks = self._looks, looks
        self._last = next((cell for cell, look in looks.items() if look.is_last), NO_CELL)
        changed = {
            cell for cell in before.keys() | looks.keys() if before.get(cell, NOTHING) != looks.get(cell, NOTHING)
        }
        if self._pictures is not None and self._pictures.is_full:
            self._pictures.clear()
            draw_boards_anew(self.app)
        elif changed:
            self.refresh(*map(self.cell_region, changed))

    def cell_at(self, x: int, y: int) -> Cell:
        """Return the cell at column `x` and line `y` of the widget, or `NO_CELL` off the grid."""
        return NO_CELL if y == self.line_of_letters else self.geometry.cell_at(x, y)

    @property
    def line_of_letters(self) -> int:
        """The line of the letters: the last one, or the last one in view of a board that is scrolled."""
        last = self.geometry.rows - 1
        if isinstance(self.parent, BoardWindow):
            window = self.parent
            last = min(last, window.scroll_offset.y + window.scrollable_content_region.height - 1)
        return last

    def cell_region(self, cell: Cell) -> Region:
        """Return the region of a cell in the widget, with all that holds its marks."""
        return Region(*(self.geometry.block(cell) if self._pictures is None else self.geometry.cell(cell)))

    def scroll_to_cursor(self) -> None:
        """Scroll the cursor into view if the board is larger than its window."""
        if isinstance(self.parent, Widget):
            # The spacing keeps the letters and numbers visible when the cursor is next to them.
            region = self.cell_region(self.cursor).translate(self.virtual_region.offset)
            self.parent.scroll_to_region(region, spacing=Spacing(1, 2, 1, 2), animate=False, immediate=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the width of the whole board: the window around it scrolls."""
        return self.geometry.columns

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the board and the line of letters."""
        return self.geometry.rows

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the board: the top row first, the letters last."""
        if y == self.line_of_letters:
            y = self.geometry.rows - 1
        looks = self._looks
        if self.hover != NO_CELL and self.ghost != EMPTY and looks.get(self.hover, NOTHING).stone == EMPTY:
            looks = {**looks, self.hover: CellLook(ghost=self.ghost)}
        brackets = Brackets(self.cursor, self._last, self.hover)
        if self._pictures is not None:
            segments = self._pictures.line(self.geometry, y, looks, brackets)
        else:
            painter = Painter(self.geometry, self._glyphs, PLAIN if self.app.no_color else COLOURS)
            segments = painter.line(y, looks, brackets)
        return Strip(segments, self.geometry.columns)

    def watch_cursor(self, before: Cell, after: Cell) -> None:
        """Redraw the two changed cells only."""
        self.refresh(self.cell_region(before), self.cell_region(after))
        if self.is_mounted:
            self.scroll_to_cursor()
            self.post_message(self.CursorMoved(after))

    def watch_hover(self, before: Cell, after: Cell) -> None:
        """Redraw the two changed cells only."""
        regions = [self.cell_region(cell) for cell in (before, after) if cell != NO_CELL]
        if regions:
            self.refresh(*regions)

    def watch_ghost(self) -> None:
        """Redraw the cell under the mouse."""
        if self.hover != NO_CELL:
            self.refresh(self.cell_region(self.hover))

    def action_move_cursor(self, rows: int, columns: int) -> None:
        """Move the cursor, up to the edge."""
        size = self.geometry.size
        row, column = divmod(self.cursor, size)
        row = min(max(row + rows, 0), size - 1)
        column = min(max(column + columns, 0), size - 1)
        self.cursor = row * size + column

    def action_press_cell(self) -> None:
        """Press the cell under the cursor."""
        self._press(self.cursor)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        self.hover = self.cell_at(event.x, event.y)

    def on_leave(self, event: events.Leave) -> None:
        """Clear the hovered cell when the mouse leaves."""
        self.hover = NO_CELL

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember the cell on which a click begins."""
        self._held = self.cell_at(event.x, event.y)

    def on_click(self, event: events.Click) -> None:
        """Press the clicked cell. Only the left button counts, and none that was pressed on another cell."""
        cell = self.cell_at(event.x, event.y)
        if event.button == 1 and cell == self._held != NO_CELL:
            self.cursor = cell
            self._press(cell)


def draw_boards_anew(app: App[Any]) -> None:
    """Draw the boards of all screens again, with other pictures."""
    for screen in app.screen_stack:
        for board in screen.query(BoardWidget):
            board.refresh()


def best_scale(rules: Rules, columns: int, rows: int) -> int:
    """Return the largest scale at which the whole board fits into this room, 1 if none does."""
    scales = range(MAX_SCALE, 1, -1)
    fits = (Geometry(rules.size, scale) for scale in scales)
    return next((each.scale for each in fits if each.columns <= columns and each.rows <= rows), 1)


def _middle(rules: Rules) -> Cell:
    return rules.size // 2 * rules.size + rules.size // 2


class BoardWindow(ScrollableContainer, can_focus=False):
    """The window around a board: it centres a board that fits and scrolls a larger one to its cursor."""

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self.query_one(BoardWidget).scroll_to_cursor)
        self.query_one(BoardWidget).refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the letters on the line that is the last one in view now."""
        super().watch_scroll_y(old_value, new_value)
        self.query_one(BoardWidget).refresh()
