"""Lines of the board as segments, for cells of three sizes.

With scale `s` a crossing has a block of `2s` columns and `s` rows. The crossing itself is the character at column
`s - 1` of its block and at row `(s - 1) // 2`. Large stones are drawn with quarters of characters around it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from core.notation import column_letter
from core.rules import BLACK, EMPTY, NO_CELL, Cell, Colour
from gomoku_cli.tui.widgets.glyphs import QUADRANTS, UPPER_HALF, WOOD, Glyphs, Palette, star_points

LEFT = 3
"""Screen columns to the left of the grid: two for the row number, one gap."""
MAX_SCALE = 3

_STONE_WIDTHS = {2: {-1: 4, 0: 6, 1: 4}, 3: {-2: 6, -1: 8, 0: 10, 1: 8, 2: 6}}
"""Width of a large stone in half columns, by its half rows; the crossing's own are 0 and 1.

As high as wide, and one half row lower than a cell: neighbours of one colour never touch. So the middle of a stone is
the upper half of the crossing's row.
"""


class CellLook(NamedTuple):
    """All that is shown on a cell. Equal looks are drawn alike."""

    stone: Colour = EMPTY
    number: str = ""
    """Text on the stone: the number of its move, or a label."""
    is_last: bool = False
    is_winning: bool = False
    ghost: Colour = EMPTY
    """A stone of a variation, or of a click under the mouse."""
    ghost_text: str = ""
    heat: tuple[float, float] | None = None
    """Prior and visits as shares of the greatest ones."""
    heat_texts: tuple[str, str] = ("", "")
    """Prior and visits in percent, instead of the colours."""
    mark: str = ""
    """A letter of a threat, or the hint's mark."""
    mark_colour: Colour = EMPTY
    """The colour that makes the threat; `EMPTY` for a hint."""
    label: str = ""
    """A text of the record on an empty cell; a mark is drawn instead of it."""


NOTHING = CellLook()


class Geometry(NamedTuple):
    """Places of the cells in the widget."""

    size: int
    scale: int

    @property
    def columns(self) -> int:
        """Width of the whole board in screen columns."""
        return LEFT + 2 * self.scale * self.size

    @property
    def rows(self) -> int:
        """Height of the whole board, the letters included."""
        return self.scale * self.size + 1

    @property
    def centre(self) -> tuple[int, int]:
        """Column and row of the crossing in its block."""
        return self.scale - 1, (self.scale - 1) // 2

    def cell_at(self, x: int, y: int) -> Cell:
        """Return the cell at column `x` and line `y` of the widget, or `NO_CELL` off the grid."""
        column, row = (x - LEFT) // (2 * self.scale), self.size - 1 - y // self.scale
        if x >= LEFT and 0 <= column < self.size and 0 <= row < self.size:
            return row * self.size + column
        return NO_CELL

    def cell(self, cell: Cell) -> tuple[int, int, int, int]:
        """Return x, y, width and height of the block of a cell."""
        row, column = divmod(cell, self.size)
        return LEFT + 2 * self.scale * column, self.scale * (self.size - 1 - row), 2 * self.scale, self.scale

    def block(self, cell: Cell) -> tuple[int, int, int, int]:
        """Return x, y, width and height of all that a cell may change: its block and the marks around it."""
        x, y, width, height = self.cell(cell)
        above = 1 if self.scale > 1 and y > 0 else 0  # the upper edge of its stone, and the lower one of the next stone
        return x - 1, y - above, width + 1, height + above


class Brackets(NamedTuple):
    """The cells with marks at their sides."""

    cursor: Cell
    last: Cell
    hover: Cell = NO_CELL


class Painter:
    """Draws lines of a board in characters."""

    def __init__(self, geometry: Geometry, glyphs: Glyphs, palette: Palette) -> None:
        self.geometry = geometry
        self.glyphs = glyphs
        self.palette = palette
        self._stars = star_points(geometry.size)
        # Without colours, or in ASCII, a large stone is a character in a large cell.
        self._discs = geometry.scale > 1 and palette.has_colours and not glyphs.line.isascii()

    def line(self, y: int, looks: Mapping[Cell, CellLook], brackets: Brackets) -> list[Segment]:
        """Return line `y`: the top row first, the letters last."""
        geometry, palette = self.geometry, self.palette
        scale, size = geometry.scale, geometry.size
        centre_x, centre_y = geometry.centre
        if y >= scale * size:
            gap = " " * (2 * scale - 1)
            letters = "".join(column_letter(column) + gap for column in range(size))
            return [Segment((" " * (LEFT + centre_x) + letters)[: geometry.columns], palette.base)]
        row, inner = size - 1 - y // scale, y % scale
        chars: list[tuple[str, Style]] = [(letter, palette.base) for letter in f"{row + 1:>2} "]
        if inner != centre_y:
            chars = [(" ", palette.base)] * LEFT
        for column in range(size):
            for offset in range(2 * scale):
                chars.append(self._grid(row, column, offset - centre_x, inner - centre_y))
        for column in range(size):
            cell = row * size + column
            look = looks.get(cell, NOTHING)
            x = LEFT + 2 * scale * column
            self._cell(chars, x, inner, look, cell == brackets.hover)
            if self._discs and scale == 2 and inner == 1:
                self._half_rows(chars, x, look, looks.get(cell - size, NOTHING))
        if self._discs:
            self._stones(chars, row, inner - centre_y, looks)
        if inner == centre_y:
            self._texts(chars, row, looks)
            for cell, marks, style in (
                (brackets.last, "()", palette.last if not self._discs else None),
                (brackets.cursor, "[]", palette.cursor),
            ):
                if cell != NO_CELL and cell // size == row and style is not None:
                    x = LEFT + 2 * scale * (cell % size) + centre_x
                    # In small cells numbers reach into the brackets, and a bracket over a digit would make another one.
                    places = zip((x - scale, x + scale), marks, strict=True)
                    free = [(place, mark) for place, mark in places if not chars[place][0].isdigit()]
                    for place, mark in free:
                        _put(chars, place, mark, style)
                    if not free:
                        _restyle(chars, x, 2 * scale, style)
                    if marks == "[]" and palette.has_colours and looks.get(cell, NOTHING) == NOTHING:
                        _restyle(chars, x - scale + 1, 2 * scale - 1, style)
        return _joined(chars)

    def _grid(self, row: int, column: int, x: int, y: int) -> tuple[str, Style]:
        """Return the empty board's character, `x` columns and `y` rows (downwards) from a crossing."""
        size, glyphs, palette = self.geometry.size, self.glyphs, self.palette
        if x == 0 and y == 0:
            if row * size + column in self._stars:
                return glyphs.star, palette.base
            return glyphs.crossing(row, column, size), palette.line
        if y == 0 and not (x < 0 and column == 0) and not (x > 0 and column == size - 1):
            return glyphs.line, palette.line
        if x == 0 and not (y < 0 and row == size - 1) and not (y > 0 and row == 0):
            return glyphs.down, palette.line
        return " ", palette.base

    def _cell(self, chars: list[tuple[str, Style]], x: int, inner: int, look: CellLook, is_hovered: bool) -> None:
        """Draw the block of a cell, but for stones, texts and brackets."""
        palette, width = self.palette, 2 * self.geometry.scale
        if look.is_winning:
            _restyle(chars, x, width, palette.win)
        elif look.heat is not None and palette.has_colours:
            for half, share in enumerate(look.heat):
                _put(chars, x + half * width // 2, " " * (width // 2), palette.heat(share))
        elif is_hovered and look.stone == EMPTY:
            _restyle(chars, x, width, palette.hover)
        if any(look.heat_texts) and look.stone == EMPTY and look.ghost == EMPTY:
            self._numbers(chars, x, inner, look)

    def _half_rows(self, chars: list[tuple[str, Style]], x: int, above: CellLook, below: CellLook) -> None:
        """Draw the lower line of a cell of 4x2 as halves: a stone and its ground are centred on the crossing's line."""
        halves = zip(self._grounds(above, numbers=True), self._grounds(below), strict=True)
        for half, (upper, lower) in enumerate(halves):
            if upper is None and lower is None:
                continue
            if any(above.heat_texts):
                lower = upper
            style = Style(color=upper or WOOD, bgcolor=lower or WOOD)
            for place in range(x + 2 * half, min(x + 2 * half + 2, len(chars))):
                chars[place] = (chars[place][0] if upper == lower else UPPER_HALF, style)

    def _grounds(self, look: CellLook, *, numbers: bool = False) -> tuple[Color | None, Color | None]:
        """Return the colours of the two halves of a cell, None for the board's; of cells with `numbers` on request."""
        if look.is_winning:
            return self.palette.win.bgcolor, self.palette.win.bgcolor
        if look.heat is None or (any(look.heat_texts) and not numbers):
            return None, None
        left, right = (self.palette.heat(share).bgcolor for share in look.heat)
        return left, right

    def _numbers(self, chars: list[tuple[str, Style]], x: int, inner: int, look: CellLook) -> None:
        """Draw prior and visits in percent: one above the other in large cells, the visits alone in small ones."""
        scale = self.geometry.scale
        prior, visits = look.heat_texts
        text = (visits or prior) if scale == 1 else (prior, visits, "")[inner]
        style = (
            self.palette.heat(look.heat[inner if scale > 1 and inner < 2 else 1]) if look.heat else self.palette.base
        )
        if not self.palette.has_colours:
            # Numbers of two digits touch in small cells, and no ground tells them apart.
            style = Style(reverse=(x - LEFT) // 2 % 2 == 1) if scale == 1 else self.palette.base
        text = f"{text:^{2 * scale}}" if scale > 1 else f"{text:<2}"
        _put(chars, x, text[: 2 * scale], style)

    def _stones(self, chars: list[tuple[str, Style]], row: int, y: int, looks: Mapping[Cell, CellLook]) -> None:
        """Draw the parts of large stones on a line `y` rows below the crossings of `row`."""
        geometry, palette = self.geometry, self.palette
        size, scale = geometry.size, geometry.scale
        widths = _STONE_WIDTHS[scale]
        for column in range(size):
            masks: dict[int, int] = {}
            ink: Color | None = None
            # The stone of this row, or the one below whose upper edge reaches into this line.
            for near, shift in ((row, 0), (row - 1, -2 * scale)):
                look = looks.get(near * size + column, NOTHING) if near >= 0 else NOTHING
                for half in (0, 1) if look.stone != EMPTY else ():
                    width = widths.get(2 * y + half + shift, 0)
                    for place in range(1 - width // 2, 1 + width // 2):
                        masks[place // 2] = masks.get(place // 2, 0) | 1 << 2 * half + place % 2
                        ink = palette.stones[look.stone].color
            x = LEFT + 2 * scale * column + geometry.centre[0]
            for place, mask in masks.items():
                chars[x + place] = _block(mask, ink, *chars[x + place])

    def _texts(self, chars: list[tuple[str, Style]], row: int, looks: Mapping[Cell, CellLook]) -> None:
        """Draw the middle of stones, ghost stones and marks on the line of the crossings."""
        geometry, palette, glyphs = self.geometry, self.palette, self.glyphs
        scale = geometry.scale
        for column in range(geometry.size):
            look = looks.get(row * geometry.size + column, NOTHING)
            if look is NOTHING:
                continue
            x = LEFT + 2 * scale * column + geometry.centre[0]
            if look.stone != EMPTY:
                text, style = self._stone_text(look)
            elif look.ghost != EMPTY:
                text = look.ghost_text or glyphs.stone(look.ghost)
                style = palette.ghosts[look.ghost] if look.ghost_text else palette.bare_ghost(look.ghost)
                text = f"{text:^3}" if self._discs else text
                if not palette.has_colours and not look.ghost_text:
                    style = Style(dim=True)
            elif look.mark:
                text, style = look.mark, palette.mark(look.mark_colour)
                if any(look.heat_texts):  # a mark over a digit would make another number of it
                    _restyle(chars, LEFT + 2 * scale * column, 2 * scale, style)
                    continue
            elif look.label and not any(look.heat_texts):
                text = set_cell_size(look.label, min(cell_len(look.label), max(2, 2 * scale - 1)))
                style = chars[x][1] + Style(color=palette.base.color, bold=True)
            else:
                continue
            # A wide character takes the place of the next one too.
            letters = [piece for letter in text for piece in (letter, "")[: cell_len(letter)]]
            _put(chars, x - (len(letters) - 1) // 2, letters, style)

    def _stone_text(self, look: CellLook) -> tuple[str, Style]:
        """Return the text in the middle of a stone, and its style."""
        palette, glyphs = self.palette, self.glyphs
        if look.number:
            return look.number if self._discs else look.number[-2:], palette.texts[look.stone]
        if self._discs:
            if look.is_last:
                return UPPER_HALF, palette.lasts[look.stone]
            return (" ", palette.texts[BLACK]) if look.stone == BLACK else ("°", palette.white_ring)
        style = palette.stones[look.stone]
        if look.is_winning:
            style = style + Style(bgcolor=palette.win.bgcolor) if palette.has_colours else palette.win
        return glyphs.stone(look.stone), style


def _put(chars: list[tuple[str, Style]], x: int, text: Sequence[str], style: Style) -> None:
    """Write a text from column `x` on, as far as the line goes."""
    for place, letter in enumerate(text[: max(0, len(chars) - x)], start=x):
        chars[place] = (letter, style)


def _restyle(chars: list[tuple[str, Style]], x: int, width: int, style: Style) -> None:
    """Give the characters from column `x` on another style."""
    chars[x : x + width] = [(letter, style) for letter, _ in chars[x : x + width]]


@lru_cache(maxsize=1024)
def _block(mask: int, ink: Color | None, letter: str, below: Style) -> tuple[str, Style]:
    """Return the character with these quarters in the colour of a stone, and the others in that of its ground."""
    is_lower = mask & 0b0011 == 0
    ground = below.color if letter == UPPER_HALF and is_lower else below.bgcolor
    return QUADRANTS[mask], Style(color=ink, bgcolor=ground)


def _joined(chars: list[tuple[str, Style]]) -> list[Segment]:
    """Return segments with neighbours of one style in one piece."""
    segments: list[Segment] = []
    text, style = "", chars[0][1]
    for letter, own in chars:
        if own is not style and own != style:
            segments.append(Segment(text, style))
            text, style = "", own
        text += letter
    segments.append(Segment(text, style))
    return segments
