"""The rules of a game: the board's size, the length of the line that wins, and the lines themselves."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Rules:
    """Freestyle k-in-a-row: black moves first, `connect` *or more* stones in a line win, a full board draws (A, I).

    >>> print(gomoku.Rules(size=9))
    5 in a row on 9x9

    Raises `ValueError` for a size or a length outside the supported range.
    """

    size: int = 15
    """Cells along an edge of the square board, 3 to 25."""
    connect: int = 5
    """Stones in a line that win, 3 to 6 and no more than `size`."""

    def __post_init__(self) -> None:
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise ValueError(f"board size {self.size} is outside {MIN_SIZE} to {MAX_SIZE}")
        if not MIN_CONNECT <= self.connect <= min(MAX_CONNECT, self.size):
            raise ValueError(
                f"connect length {self.connect} is outside {MIN_CONNECT} to {min(MAX_CONNECT, self.size)} "
                f"on a board of {self.size}"
            )

    @property
    def cells(self) -> int:
        """Cells of the board: `A` in the shapes of arrays."""
        return self.size * self.size

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
            if len(line) >= self.connect:
                found.update(line)
        return sorted(found)

    def __str__(self) -> str:
        return f"{self.connect} in a row on {self.size}x{self.size}"
