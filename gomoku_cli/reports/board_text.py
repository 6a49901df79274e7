"""Boards on the terminal: rows of cells with a mark around the last move, and coordinates on the edges.

Everything is ASCII, so that each cell has its width in every font.
"""

from collections.abc import Callable

from rich.text import Text

from core.notation import column_letter
from core.rules import BLACK, NO_CELL, Cell, Colour
from gomoku_cli.console import STDOUT

STONES = {BLACK: "><", -BLACK: "()"}
"""X and O, two columns wide: about as wide as high in most terminals."""
GRID = "#c4c4c4"
"""Colour of the lines between cells; those between rows are underlines."""
PAPER = f"underline {GRID} on #ffffff"
STONE_STYLES = {BLACK: "bold #ffffff on #202020", -BLACK: "bold #000000 on #b0b0b0"}
WIN_STYLE = "bold #ffffff on #2f7d32"
"""Of a stone in a winning line."""
_MARK_STYLE = "bold #000000 on #ffffff"


def has_colours() -> bool:
    """Return True if stdout shows shades of colours: 256 or more of them."""
    return not STDOUT.no_color and STDOUT.color_system in ("256", "truecolor")


def stone_text(colour: Colour, colours: bool) -> Text:
    """Return a stone, two columns wide."""
    return Text(STONES[colour], STONE_STYLES[colour] if colours else "bold")


def board_width(size: int, cell_width: int) -> int:
    """Return the columns of a board on the terminal."""
    return 3 + size * (cell_width + 1)


def board_text(size: int, cell_width: int, cell_of: Callable[[Cell], Text], last: Cell, *, colours: bool) -> Text:
    """Return the lines of a board: each cell as `cell_of` gives it, `cell_width` columns wide, with a gap between.

    Brackets in the gaps mark the last move; `NO_CELL` marks none.
    """
    board = Text(no_wrap=True, overflow="crop")

    def add_gap(left: Cell, right: Cell) -> None:
        if last != NO_CELL and last in (left, right):
            board.append("[" if last == right else "]", _MARK_STYLE if colours else "bold")
        else:
            board.append("|" if colours else " ", PAPER if colours else "")

    for row in reversed(range(size)):
        board.append(f"{row + 1:>2}")
        first = row * size
        for cell in range(first, first + size):
            add_gap(cell - 1 if cell > first else NO_CELL, cell)
            board.append_text(cell_of(cell))
        add_gap(first + size - 1, NO_CELL)
        board.append("\n")
    # A letter stands under the middle of its cell, or left of it.
    letters = "".join(f" {column_letter(column):^{cell_width}}" for column in range(size))
    board.append(f"  {letters} ")
    return board


def show_board(board: Text) -> None:
    """Print a board. Its lines stay whole: a file is wider than any terminal, and a narrow terminal breaks them."""
    STDOUT.print(board, soft_wrap=True)
