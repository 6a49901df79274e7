"""The rules of a game: the board's size, the length of the line that wins, and the lines themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

Cell = int
"""A cell of the board: `row * size + column`; row 0 is the bottom row, column 0 the left one."""
Colour = int
"""`BLACK` or `WHITE`."""

BLACK = 1
WHITE = -1
EMPTY = 0

NO_CELL = -1
"""No cell, such as the last move of an empty board."""

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""The four directions of a line as (rows, columns): along a row, a column and both diagonals."""

MIN_SIZE, MAX_SIZE = 3, 25
MIN_CONNECT, MAX_CONNECT = 3, 6


def colour_name(colour: Colour) -> str:
    """Return `black` or `white`."""
    return "black" if colour == BLACK else "white"


class Variant(StrEnum):
    """The lines that win."""

    FREESTYLE = "freestyle"
    """`connect` stones or more win."""
    STANDARD = "standard"
    """Exactly `connect` stones win; a longer line, an overline, wins nothing."""

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of k-in-a-row: black moves first, a line of `connect` stones wins, a full board draws (A, I).

    Every empty cell is a legal move.

    Positions, screens and players ask them; kernels ask their twin in `core.compiled.rules`.

    >>> print(gomoku.Rules(size=9))
    5 in a row on 9x9

    Raises `ValueError` for a size or a length outside the supported range, and for a variant that there is not.
    """

    size: int = 15
    """Cells along an edge of the square board, 3 to 25."""
    connect: int = 5
    """Stones in a line that win, 3 to 6 and no more than `size`."""
    variant: Variant = Variant.FREESTYLE
    """Rules beyond these numbers: lines that win, and moves that are legal."""

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise ValueError(f"board size {self.size} is outside {MIN_SIZE} to {MAX_SIZE}")
        if not MIN_CONNECT <= self.connect <= min(MAX_CONNECT, self.size):
            raise ValueError(
                f"connect length {self.connect} is outside {MIN_CONNECT} to {min(MAX_CONNECT, self.size)} "
                f"on a board of {self.size}"
            )
        if self.variant not in tuple(Variant):
            raise ValueError(f"there is no variant {self.variant!r} of the rules: valid is {', '.join(Variant)}")

    @property
    def cells(self) -> int:
        """Cells of the board: `A` in the shapes of arrays."""
        return self.size * self.size

    @property
    def longest(self) -> int:
        """Stones in the longest line that wins: `MAX_SIZE` without a limit."""
        return self.connect if self.variant == Variant.STANDARD else MAX_SIZE

    def is_legal(self, stones: Sequence[int], cell: Cell, to_move: Colour) -> bool:
        """Return True if a side may play a cell of the board while the game goes on. `stones`: [A]."""
        return stones[cell] == EMPTY

    def legal_moves(self, stones: Sequence[int], to_move: Colour) -> list[Cell]:
        """Return the cells that a side may play while the game goes on, ascending. `stones`: [A]."""
        return [cell for cell in range(self.cells) if self.is_legal(stones, cell, to_move)]

    def wins(self, stones: Sequence[int], cell: Cell) -> bool:
        """Return True if the stone on `cell` wins. `stones`: [A]."""
        return bool(self.winning_line(stones, cell))

    def is_overline(self, stones: Sequence[int], cell: Cell) -> bool:
        """Return True if the stone on `cell` wins nothing, since its line is too long. `stones`: [A]."""
        return not self.wins(stones, cell) and Rules(self.size, self.connect).wins(stones, cell)

    def winning_line(self, stones: Sequence[int], cell: Cell) -> list[Cell]:
        """Return the cells of the winning lines through the stone on `cell`, ascending; none if it does not win.

        `stones`: [A] `BLACK`, `WHITE` or `EMPTY`.
        """
        found: set[Cell] = set()
        size, colour = self.size, stones[cell]
        row, column = divmod(cell, size)
        for row_step, column_step in DIRECTIONS:
            line = [cell]
            for sign in (1, -1):
                r, c = row + sign * row_step, column + sign * column_step
                while 0 <= r < size and 0 <= c < size and stones[r * size + c] == colour:
                    line.append(r * size + c)
                    r, c = r + sign * row_step, c + sign * column_step
            if self.connect <= len(line) <= self.longest:
                found.update(line)
        return sorted(found)

    def __str__(self) -> str:
        exactly = "exactly " if self.variant == Variant.STANDARD else ""
        return f"{exactly}{self.connect} in a row on {self.size}x{self.size}"
