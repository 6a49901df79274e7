"""Characters and colours of the board."""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from rich.style import Style

from core.rules import BLACK, EMPTY, WHITE, Cell, Colour

WOOD = "#976d37"
"""Black and white stones both have a contrast of 4.5 to it; hardly any other brightness allows that."""
INK = "#000000"
PAPER = "#ffffff"
_LINE = "#57390f"
_LAST = "#ffdf87"


class Glyphs(NamedTuple):
    """The characters of a board, each one column wide."""

    black: str
    white: str
    star: str
    line: str
    """The character between two crossings of a row."""
    down: str
    """The character between two crossings of a column."""
    crossings: str
    """Nine of them: top left, top, top right, left, middle, right, bottom left, bottom, bottom right."""
    hint: str

    def stone(self, colour: Colour) -> str:
        """Return the stone of `colour`."""
        return self.black if colour == BLACK else self.white

    def crossing(self, row: int, column: int, size: int) -> str:
        """Return the crossing of a cell on a board of `size`."""
        vertical = 0 if row == size - 1 else 2 if row == 0 else 1
        horizontal = 0 if column == 0 else 2 if column == size - 1 else 1
        return self.crossings[3 * vertical + horizontal]


# A white stone is filled as well, and has a ring that a black one lacks.
UNICODE = Glyphs(black="●", white="◉", star="•", line="─", down="│", crossings="┌┬┐├┼┤└┴┘", hint="◇")
# The width of the glyphs above is ambiguous: terminals with East Asian fonts may give them two columns.
ASCII = Glyphs(black="X", white="O", star="*", line="-", down="|", crossings="+++++++++", hint="?")
MONOCHROME = UNICODE._replace(white="○")
"""Without colours a filled and an empty stone are told apart by shape alone."""

QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""Blocks by the quarters that they fill: 1 upper left, 2 upper right, 4 lower left, 8 lower right."""
UPPER_HALF = "▀"


@cache
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


_Sides = Mapping[Colour, Style]
"""The styles for Black and for White."""


class Palette(NamedTuple):
    """Styles of the parts of a board."""

    base: Style
    line: Style
    stones: _Sides
    texts: _Sides
    """Text on a stone."""
    white_ring: Style
    lasts: _Sides
    """The mark of the last move in the middle of a large stone."""
    last: Style
    """The brackets of the last move."""
    cursor: Style
    hover: Style
    win: Style
    ghosts: _Sides
    """Stones of a variation."""
    hint: Style
    threats: _Sides
    has_colours: bool

    def bare_ghost(self, colour: Colour) -> Style:
        """Return the style of a ghost stone without a number: it has the colour of a stone."""
        ground = self.hover if colour == BLACK else self.cursor
        return self.stones[colour] + Style(bgcolor=ground.bgcolor)

    def mark(self, colour: Colour) -> Style:
        """Return the style of the mark of a threat, or of a hint for `EMPTY`."""
        return self.hint if colour == EMPTY else self.threats[colour]

    def heat(self, share: float) -> Style:
        """Return the background of a share of 0 to 1, white to red (paper Y, Fig. 6), with text that is readable."""
        # Never quite white, which is the colour of stones.
        green = round(72 + 150 * (1 - share) ** 0.7)
        return Style(color=INK, bgcolor=f"#ff{green:02x}{green - 8:02x}")


COLOURS = Palette(
    base=Style(color=INK, bgcolor=WOOD),
    line=Style(color=_LINE, bgcolor=WOOD),
    stones={BLACK: Style(color=INK, bgcolor=WOOD), WHITE: Style(color=PAPER, bgcolor=WOOD, bold=True)},
    texts={BLACK: Style(color=PAPER, bgcolor=INK), WHITE: Style(color=INK, bgcolor=PAPER)},
    white_ring=Style(color="#707070", bgcolor=PAPER),
    lasts={BLACK: Style(color=_LAST, bgcolor=INK, bold=True), WHITE: Style(color="#a40000", bgcolor=PAPER, bold=True)},
    last=Style(color=PAPER, bgcolor=WOOD, bold=True),
    cursor=Style(color=PAPER, bgcolor="#4a2c06", bold=True),
    hover=Style(color=INK, bgcolor="#b98a4c"),
    win=Style(color=PAPER, bgcolor="#2f6f2c", bold=True),
    ghosts={BLACK: Style(color=PAPER, bgcolor="#3d2a10"), WHITE: Style(color=INK, bgcolor="#ead9bd")},
    hint=Style(color=INK, bgcolor="#8fd18a", bold=True),
    threats={
        BLACK: Style(color=INK, bgcolor="#f0a830", bold=True),
        WHITE: Style(color=PAPER, bgcolor="#a02020", bold=True),
    },
    has_colours=True,
)

PLAIN = Palette(
    base=Style(),
    line=Style(dim=True),
    stones={BLACK: Style(bold=True), WHITE: Style()},
    texts={BLACK: Style(reverse=True), WHITE: Style(underline=True)},
    white_ring=Style(),
    lasts={BLACK: Style(bold=True), WHITE: Style(bold=True)},
    last=Style(bold=True),
    cursor=Style(bold=True),
    hover=Style(),
    win=Style(reverse=True, bold=True),
    ghosts={BLACK: Style(reverse=True, dim=True), WHITE: Style(underline=True, dim=True)},
    hint=Style(reverse=True),
    threats={BLACK: Style(bold=True, reverse=True), WHITE: Style(bold=True, underline=True)},
    has_colours=False,
)
"""Attributes alone, for NO_COLOR."""
