"""Characters and colours of the board."""

from dataclasses import dataclass

from rich.style import Style

from core.rules import BLACK, Cell, Colour

WOOD = "#976d37"
"""Black and white stones both have a contrast of 4.5 to it; hardly any other brightness allows that."""
INK = "#000000"
PAPER = "#ffffff"
_LINE = "#57390f"
_LAST = "#ffdf87"


@dataclass(frozen=True, slots=True)
class Glyphs:
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
MONOCHROME = Glyphs(black="●", white="○", star="•", line="─", down="│", crossings="┌┬┐├┼┤└┴┘", hint="◇")
"""Without colours a filled and an empty stone are told apart by shape alone."""

QUADRANTS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
"""Blocks by the quarters that they fill: 1 upper left, 2 upper right, 4 lower left, 8 lower right."""
UPPER_HALF = "▀"


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


@dataclass(frozen=True, slots=True)
class Palette:
    """Styles of the parts of a board."""

    base: Style
    line: Style
    black: Style
    white: Style
    black_text: Style
    """Text on a black stone."""
    white_text: Style
    white_ring: Style
    last_on_black: Style
    """The mark of the last move in the middle of a large black stone."""
    last_on_white: Style
    last: Style
    """The brackets of the last move."""
    cursor: Style
    hover: Style
    win: Style
    black_ghost: Style
    white_ghost: Style
    hint: Style
    black_threat: Style
    white_threat: Style
    has_colours: bool

    def stone(self, colour: Colour) -> Style:
        """Return the style of a stone."""
        return self.black if colour == BLACK else self.white

    def text_on(self, colour: Colour) -> Style:
        """Return the style of text on a stone."""
        return self.black_text if colour == BLACK else self.white_text

    def ghost(self, colour: Colour) -> Style:
        """Return the style of a stone of a variation."""
        return self.black_ghost if colour == BLACK else self.white_ghost

    def bare_ghost(self, colour: Colour) -> Style:
        """Return the style of a ghost stone without a number: it has the colour of a stone."""
        ground = self.hover if colour == BLACK else self.cursor
        return self.stone(colour) + Style(bgcolor=ground.bgcolor)

    def threat(self, colour: Colour) -> Style:
        """Return the style of a threat's mark."""
        return self.black_threat if colour == BLACK else self.white_threat

    def heat(self, share: float) -> Style:
        """Return the background of a share of 0 to 1, white to red (paper Y, Fig. 6), with text that is readable."""
        # Never quite white, which is the colour of stones.
        green = round(72 + 150 * (1 - share) ** 0.7)
        return Style(color=INK, bgcolor=f"#ff{green:02x}{green - 8:02x}")


COLOURS = Palette(
    base=Style(color=INK, bgcolor=WOOD),
    line=Style(color=_LINE, bgcolor=WOOD),
    black=Style(color=INK, bgcolor=WOOD),
    white=Style(color=PAPER, bgcolor=WOOD, bold=True),
    black_text=Style(color=PAPER, bgcolor=INK),
    white_text=Style(color=INK, bgcolor=PAPER),
    white_ring=Style(color="#707070", bgcolor=PAPER),
    last_on_black=Style(color=_LAST, bgcolor=INK, bold=True),
    last_on_white=Style(color="#a40000", bgcolor=PAPER, bold=True),
    last=Style(color=PAPER, bgcolor=WOOD, bold=True),
    cursor=Style(color=PAPER, bgcolor="#4a2c06", bold=True),
    hover=Style(color=INK, bgcolor="#b98a4c"),
    win=Style(color=PAPER, bgcolor="#2f6f2c", bold=True),
    black_ghost=Style(color=PAPER, bgcolor="#3d2a10"),
    white_ghost=Style(color=INK, bgcolor="#ead9bd"),
    hint=Style(color=INK, bgcolor="#8fd18a", bold=True),
    black_threat=Style(color=INK, bgcolor="#f0a830", bold=True),
    white_threat=Style(color=PAPER, bgcolor="#a02020", bold=True),
    has_colours=True,
)

PLAIN = Palette(
    base=Style(),
    line=Style(dim=True),
    black=Style(bold=True),
    white=Style(),
    black_text=Style(reverse=True),
    white_text=Style(underline=True),
    white_ring=Style(),
    last_on_black=Style(bold=True),
    last_on_white=Style(bold=True),
    last=Style(bold=True),
    cursor=Style(bold=True),
    hover=Style(),
    win=Style(reverse=True, bold=True),
    black_ghost=Style(reverse=True, dim=True),
    white_ghost=Style(underline=True, dim=True),
    hint=Style(reverse=True),
    black_threat=Style(bold=True, reverse=True),
    white_threat=Style(bold=True, underline=True),
    has_colours=False,
)
"""Attributes alone, for NO_COLOR."""
