"""The board widget: grid, stones, cursor and marks, drawn line by line."""

from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.geometry import Region, Size, Spacing
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from core.notation import column_letter
from core.position import Position
from core.rules import BLACK, EMPTY, NO_CELL, Cell, Colour, Rules, colour_name

_LEFT = 3
"""Screen columns to the left of the grid: two for the row number, one gap."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters of a board, each one column wide."""

    black: str
    white: str
    star: str
    line: str
    """The character between two crossings of a row."""
    crossings: str
    """Nine of them: top left, top, top right, left, middle, right, bottom left, bottom, bottom right."""

    def stone(self, colour: Colour) -> str:
        """Return the stone of `colour`."""
        return self.black if colour == BLACK else self.white


UNICODE = Glyphs(black="●", white="○", star="•", line="─", crossings="┌┬┐├┼┤└┴┘")
# The width of the glyphs above is ambiguous: terminals with East Asian fonts may give them two columns.
ASCII = Glyphs(black="X", white="O", star="*", line="-", crossings="+++++++++")


def star_points(size: int) -> frozenset[Cell]:
    """Return the marked cells: the centre, four corner points, and from size 19 on the points between these."""
    inset = 3 if size >= 13 else 2
    points: set[Cell] = set()
    if size >= 9:
        edges = (inset, size - 1 - inset)
        points = {row * size + column for row in edges for column in edges}
    if size % 2 and size >= 5:
        middle = size // 2
        points.add(middle * size + middle)
        if size >= 19:
            points |= {row * size + middle for row in edges} | {middle * size + column for column in edges}
    return frozenset(points)


class BoardWidget(Widget, can_focus=True):
    """A board that shows a position and reports pressed cells. It does not know the rules of turns.

    A crossing takes two columns and one row, about a square in most terminals.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "board--label",
        "board--line",
        "board--star",
        "board--black",
        "board--white",
        "board--ghost-black",
        "board--ghost-white",
        "board--hover",
        "board--cursor",
        "board--last",
        "board--win",
    }

    DEFAULT_CSS = """
    BoardWidget {
        width: auto;
        height: auto;
        background: #aa7b3e;
        color: #3a2508;

        .board--label { color: #3a2508; }
        .board--line { color: #6e4a1b; }
        .board--star { color: #3a2508; }
        .board--black { color: #000000; }
        .board--white { color: #ffffff; text-style: bold; }
        .board--ghost-black { color: #523610; }
        .board--ghost-white { color: #ead9bd; }
        .board--hover { background: #c79a5a; }
        .board--cursor { color: #ffffff; background: #6b431a; text-style: bold; }
        .board--last { color: #ffd75f; text-style: bold; }
        .board--win { background: #3f7d3a; text-style: bold; }

        &:nocolor {
            .board--line, .board--ghost-black, .board--ghost-white { text-style: dim; }
            .board--win { text-style: reverse bold; }
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move_cursor(0, -1)", "Left", show=False),
        Binding("right,l", "move_cursor(0, 1)", "Right", show=False),
        Binding("up,k", "move_cursor(1, 0)", "Up", show=False),
        Binding("down,j", "move_cursor(-1, 0)", "Down", show=False),
        Binding("enter,space,ctrl+j", "press_cell", "Play", show=False),
    ]

    cursor: reactive[Cell] = reactive(0, repaint=False)
    """The cell that the keyboard plays on."""
    hover: reactive[Cell] = reactive(NO_CELL, repaint=False)
    """The cell under the mouse, or `NO_CELL`."""
    ghost: reactive[Colour] = reactive(EMPTY, repaint=False)
    """The colour of the stone that a click would place, shown under the mouse; `EMPTY` if a click places none."""

    @dataclass
    class CellPressed(Message):
        """The user clicked a cell or chose it with the keyboard. The cell may be occupied."""

        cell: Cell

    def __init__(self, rules: Rules, *, glyphs: Glyphs) -> None:
        super().__init__()
        self._edge = rules.size
        self._glyphs = glyphs
        self._stars = star_points(rules.size)
        self._stones = Position(rules).stones
        self._last_move = NO_CELL
        self._winning: frozenset[Cell] = frozenset()
        self.set_reactive(BoardWidget.cursor, rules.cells // 2 + (0 if rules.size % 2 else rules.size // 2))

    @property
    def columns(self) -> int:
        """Width of the whole board in screen columns."""
        return _LEFT + 2 * self._edge

    def show(self, position: Position) -> None:
        """Draw the current state of `position`."""
        self._stones = position.stones.copy()
        self._last_move = position.last_moves[0]
        self._winning = frozenset(position.winning_line())
        self.refresh()

    def cell_at(self, x: int, y: int) -> Cell:
        """Return the cell at column `x` and line `y` of the widget, or `NO_CELL` off the grid."""
        column, row = (x - _LEFT) // 2, self._edge - 1 - y
        if 0 <= column < self._edge and 0 <= row < self._edge:
            return row * self._edge + column
        return NO_CELL

    def cell_region(self, cell: Cell) -> Region:
        """Return the region of a cell in the widget, with the gaps on both sides that hold its marks."""
        row, column = divmod(cell, self._edge)
        return Region(_LEFT - 1 + 2 * column, self._edge - 1 - row, 3, 1)

    def scroll_to_cursor(self) -> None:
        """Scroll the cursor into view if the board is larger than its window."""
        if isinstance(self.parent, Widget):
            # The spacing keeps the letters and numbers visible when the cursor is next to them.
            region = self.cell_region(self.cursor).translate(self.virtual_region.offset)
            self.parent.scroll_to_region(region, spacing=Spacing(1, 2, 1, 2), animate=False, immediate=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the width of the whole board: the window around it scrolls."""
        return self.columns

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the board and the line of letters."""
        return self._edge + 1

    def render_line(self, y: int) -> Strip:
        """Return line `y` of the board: the top row first, the letters last."""
        base = self.rich_style
        label = base + self.get_component_rich_style("board--label", partial=True)
        if y >= self._edge:
            letters = "".join(f"{column_letter(column)} " for column in range(self._edge))
            return Strip([Segment(" " * _LEFT + letters, label)], self.columns)
        row = self._edge - 1 - y
        segments = [Segment(f"{row + 1:>2}", label), self._gap(row, -1, base)]
        for column in range(self._edge):
            segments += (self._crossing(row, column, base), self._gap(row, column, base))
        return Strip(segments, self.columns)

    def _crossing(self, row: int, column: int, base: Style) -> Segment:
        cell = row * self._edge + column
        colour = int(self._stones[cell])
        if colour != EMPTY:
            name, glyph = colour_name(colour), self._glyphs.stone(colour)
        elif cell == self.hover and self.ghost != EMPTY:
            name, glyph = f"ghost-{colour_name(self.ghost)}", self._glyphs.stone(self.ghost)
        elif cell in self._stars:
            name, glyph = "cursor" if cell == self.cursor else "star", self._glyphs.star
        else:
            vertical = 0 if row == self._edge - 1 else 2 if row == 0 else 1
            horizontal = 0 if column == 0 else 2 if column == self._edge - 1 else 1
            name, glyph = "cursor" if cell == self.cursor else "line", self._glyphs.crossings[3 * vertical + horizontal]
        style = base
        for mark, marked in (
            ("hover", cell == self.hover),
            ("cursor", cell == self.cursor),
            ("win", cell in self._winning),
            (name, True),
        ):
            if marked:
                style += self.get_component_rich_style(f"board--{mark}", partial=True)
        return Segment(glyph, style)

    def _gap(self, row: int, column: int, base: Style) -> Segment:
        """Return the column to the right of a crossing: a line, or a bracket of the cursor or the last move."""
        left = row * self._edge + column if column >= 0 else NO_CELL
        right = row * self._edge + column + 1 if column < self._edge - 1 else NO_CELL
        for cell, (opening, closing), name in ((self.cursor, "[]", "cursor"), (self._last_move, "()", "last")):
            if cell != NO_CELL and cell in (left, right):
                style = base + self.get_component_rich_style(f"board--{name}", partial=True)
                return Segment(opening if cell == right else closing, style)
        inside = left != NO_CELL and right != NO_CELL
        style = base + self.get_component_rich_style("board--line", partial=True)
        return Segment(self._glyphs.line if inside else " ", style)

    def watch_cursor(self, before: Cell, after: Cell) -> None:
        """Redraw the two changed cells only."""
        self.refresh(self.cell_region(before), self.cell_region(after))
        if self.is_mounted:
            self.scroll_to_cursor()

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
        row, column = divmod(self.cursor, self._edge)
        row = min(max(row + rows, 0), self._edge - 1)
        column = min(max(column + columns, 0), self._edge - 1)
        self.cursor = row * self._edge + column

    def action_press_cell(self) -> None:
        """Press the cell under the cursor."""
        self.post_message(self.CellPressed(self.cursor))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follow the mouse."""
        self.hover = self.cell_at(event.x, event.y)

    def on_leave(self, event: events.Leave) -> None:
        """Clear the hovered cell when the mouse leaves."""
        self.hover = NO_CELL

    def on_click(self, event: events.Click) -> None:
        """Press the clicked cell. Only the left button counts."""
        cell = self.cell_at(event.x, event.y)
        if event.button == 1 and cell != NO_CELL:
            self.cursor = cell
            self.post_message(self.CellPressed(cell))


class BoardWindow(ScrollableContainer, can_focus=False):
    """The window around a board: it centres a board that fits and scrolls a larger one to its cursor."""

    DEFAULT_CSS = """
    BoardWindow { align: center middle; scrollbar-size: 1 1; }
    """

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self.query_one(BoardWidget).scroll_to_cursor)
