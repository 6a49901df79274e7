"""The board on the screen: grid, stones, cursor and marks, drawn line by line."""

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
"""Screen columns left of the first line of the board: two for the row number, one gap."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The characters a board is drawn with, each one column wide."""

    black: str
    white: str
    star: str
    line: str
    """Between two crossings of a row."""
    crossings: str
    """Nine of them: top left, top, top right, left, middle, right, bottom left, bottom, bottom right."""

    def stone(self, colour: Colour) -> str:
        """The stone of `colour`."""
        return self.black if colour == BLACK else self.white


UNICODE = Glyphs(black="●", white="○", star="•", line="─", crossings="┌┬┐├┼┤└┴┘")
# The glyphs above have ambiguous width: terminals set up for East Asian fonts may give them two columns.
ASCII = Glyphs(black="X", white="O", star="*", line="-", crossings="+++++++++")


def star_points(size: int) -> frozenset[Cell]:
    """The cells marked for orientation: the centre, the four corner points, and on 19 and more those between them."""
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
    """A board that shows a position and says which cell was pressed; the game is its owner's affair.

    A crossing takes two columns and one row, which terminals show about square.
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
        Binding("enter,space", "press_cell", "Play", show=False),
    ]

    cursor: reactive[Cell] = reactive(0, repaint=False)
    """The cell that the keyboard plays."""
    hover: reactive[Cell] = reactive(NO_CELL, repaint=False)
    """The cell under the mouse; `NO_CELL` where there is none."""
    ghost: reactive[Colour] = reactive(EMPTY, repaint=False)
    """The colour of the stone that a click would place, shown under the mouse; `EMPTY` when it would place none."""

    @dataclass
    class CellPressed(Message):
        """A cell was clicked, or chosen with the keyboard; it may be occupied."""

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
        """Screen columns that the whole board takes."""
        return _LEFT + 2 * self._edge

    def show(self, position: Position) -> None:
        """Draws `position` as it stands now."""
        self._stones = position.stones.copy()
        self._last_move = position.last_moves[0]
        self._winning = frozenset(position.winning_line())
        self.refresh()

    def cell_at(self, x: int, y: int) -> Cell:
        """The cell drawn at column `x` and line `y` of the widget; `NO_CELL` off the grid."""
        column, row = (x - _LEFT) // 2, self._edge - 1 - y
        if 0 <= column < self._edge and 0 <= row < self._edge:
            return row * self._edge + column
        return NO_CELL

    def cell_region(self, cell: Cell) -> Region:
        """Where a cell is drawn in the widget, with the gaps at its sides that hold its marks."""
        row, column = divmod(cell, self._edge)
        return Region(_LEFT - 1 + 2 * column, self._edge - 1 - row, 3, 1)

    def scroll_to_cursor(self) -> None:
        """Brings the cursor into view where the board is larger than its window."""
        if isinstance(self.parent, Widget):
            # The spacing shows the letters and numbers too when the cursor is beside them.
            region = self.cell_region(self.cursor).translate(self.virtual_region.offset)
            self.parent.scroll_to_region(region, spacing=Spacing(1, 2, 1, 2), animate=False, immediate=True)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """The whole board: the window around it scrolls."""
        return self.columns

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of the board and the line of letters."""
        return self._edge + 1

    def render_line(self, y: int) -> Strip:
        """Line `y` of the board, the top row first and the letters last."""
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
        """The column between a crossing and its right neighbour: line, or a bracket of the cursor or last move."""
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
        """Redraws the two cells concerned, and nothing else of the board."""
        self.refresh(self.cell_region(before), self.cell_region(after))
        if self.is_mounted:
            self.scroll_to_cursor()

    def watch_hover(self, before: Cell, after: Cell) -> None:
        """Redraws the two cells concerned."""
        regions = [self.cell_region(cell) for cell in (before, after) if cell != NO_CELL]
        if regions:
            self.refresh(*regions)

    def watch_ghost(self) -> None:
        """Redraws the cell under the mouse."""
        if self.hover != NO_CELL:
            self.refresh(self.cell_region(self.hover))

    def action_move_cursor(self, rows: int, columns: int) -> None:
        """Moves the cursor, not past the edge."""
        row, column = divmod(self.cursor, self._edge)
        row = min(max(row + rows, 0), self._edge - 1)
        column = min(max(column + columns, 0), self._edge - 1)
        self.cursor = row * self._edge + column

    def action_press_cell(self) -> None:
        """Presses the cell under the cursor."""
        self.post_message(self.CellPressed(self.cursor))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Follows the mouse."""
        self.hover = self.cell_at(event.x, event.y)

    def on_leave(self, event: events.Leave) -> None:
        """Forgets the mouse when it goes elsewhere."""
        self.hover = NO_CELL

    def on_click(self, event: events.Click) -> None:
        """Presses the clicked cell; other buttons than the left one do nothing."""
        cell = self.cell_at(event.x, event.y)
        if event.button == 1 and cell != NO_CELL:
            self.cursor = cell
            self.post_message(self.CellPressed(cell))


class BoardWindow(ScrollableContainer, can_focus=False):
    """The part of the screen that shows a board: centres it where it fits and scrolls after its cursor where not."""

    DEFAULT_CSS = """
    BoardWindow { align: center middle; scrollbar-size: 1 1; }
    """

    def on_resize(self, event: events.Resize) -> None:
        """Keeps the cursor in sight."""
        self.call_after_refresh(self.query_one(BoardWidget).scroll_to_cursor)
