"""The rules of a game: the board's size, the lines that win, and the moves that are allowed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import index
from typing import NamedTuple, SupportsIndex

from core.arguments import check_kind

Cell = int
"""A cell of the board: `row * size + column`; row 0 is the bottom row, column 0 the left one."""
Colour = int
"""`BLACK` or `WHITE`."""

Stones = Sequence[int]
"""[A] `BLACK`, `WHITE` or `EMPTY` per cell."""

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
    """The lines that win, and the moves that are forbidden.

    >>> gomoku.Rules(variant="renju").variant is gomoku.Variant.RENJU
    True
    """

    FREESTYLE = "freestyle"
    """`connect` stones or more win."""
    STANDARD = "standard"
    """Exactly `connect` stones win; a longer line, an overline, wins nothing."""
    RENJU = "renju"
    """Black wins by exactly five and may not make an overline, two fours or two threes (`find_foul`); five or more of
    White win."""
    CARO = "caro"
    """Five stones win unless the opponent's stones enclose them on both sides; more than five win anyway."""
    CARO_EXACT = "caro-exact"
    """The same, but more than five win nothing."""

    def __repr__(self) -> str:
        return repr(self.value)


def shipped_variant(variant: Variant) -> Variant:
    """Return the variant whose nets, openings and suites serve a variant too: for `caro-exact` those of `caro`."""
    return Variant.CARO if variant == Variant.CARO_EXACT else variant


_NAMES = {
    Variant.FREESTYLE: "{} in a row",
    Variant.STANDARD: "exactly {} in a row",
    Variant.RENJU: "renju",
    Variant.CARO: "caro",
    Variant.CARO_EXACT: "caro with exactly {} in a row",
}
"""Names of the variants, with the length of a line."""
_OF_FIVE = 5
"""The length of a line in the variants that are played with no other."""


class Foul(NamedTuple):
    """The reason why renju forbids a move of Black."""

    kind: str
    """`overline`, `4-4` or `3-3`."""
    cell: Cell
    lines: tuple[tuple[Cell, ...], ...]
    """The stones of the lines that the move makes, itself among them, in their order."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of k-in-a-row: black moves first, a line of `connect` stones wins, a full board draws (A, I).

    Every empty cell is a legal move, except that renju forbids Black some. A side without a legal move draws too.

    Positions, screens and players ask them; kernels ask their twin in `core.compiled.rules`.

    >>> print(gomoku.Rules(size=9))
    5 in a row on 9x9

    Raises `ValueError` for a size or a length outside the supported range, and for a variant that there is not, and
    `TypeError` for a fraction.
    """

    size: int = 15
    """Cells along an edge of the square board, 3 to 25."""
    connect: int = 5
    """Stones in a line that win, 3 to 6 and no more than `size`."""
    variant: Variant = Variant.FREESTYLE
    """Rules beyond these numbers: lines that win, and moves that are legal."""

    def __post_init__(self) -> None:
        for name in ("size", "connect"):
            check_kind(name, getattr(self, name), SupportsIndex, "a whole number")
            object.__setattr__(self, name, index(getattr(self, name)))
        if not MIN_SIZE <= self.size <= MAX_SIZE:
            raise ValueError(f"board size {self.size} is outside {MIN_SIZE} to {MAX_SIZE}")
        if not MIN_CONNECT <= self.connect <= min(MAX_CONNECT, self.size):
            raise ValueError(
                f"connect length {self.connect} is outside {MIN_CONNECT} to {min(MAX_CONNECT, self.size)} "
                f"on a board of {self.size}"
            )
        if self.variant not in tuple(Variant):
            raise ValueError(f"there is no variant {self.variant!r} of the rules: valid is {', '.join(Variant)}")
        object.__setattr__(self, "variant", Variant(self.variant))  # a text is the name of one
        if self.connect != _OF_FIVE and (self.has_fouls or self.needs_open_end):
            raise ValueError(f"{self.variant} is played with {_OF_FIVE} in a row, not {self.connect}")

    @property
    def cells(self) -> int:
        """Cells of the board: `A` in the shapes of arrays."""
        return self.size * self.size

    def longest(self, colour: Colour) -> int:
        """Return the stones in the longest line of a colour that wins: `MAX_SIZE` without a limit."""
        exact = self.variant in (Variant.STANDARD, Variant.CARO_EXACT) or (self.has_fouls and colour == BLACK)
        return self.connect if exact else MAX_SIZE

    @property
    def needs_open_end(self) -> bool:
        """True if `connect` stones win nothing between two stones of the opponent; an edge encloses no line."""
        return self.variant in (Variant.CARO, Variant.CARO_EXACT)

    @property
    def has_fouls(self) -> bool:
        """True if some empty cells are forbidden to Black."""
        return self.variant == Variant.RENJU

    def foul(self, stones: Stones, cell: Cell, to_move: Colour) -> Foul | None:
        """Return the reason why an empty cell is forbidden to a side; None where it is not."""
        return find_foul(self.size, stones, cell) if self.has_fouls and to_move == BLACK else None

    def is_legal(self, stones: Stones, cell: Cell, to_move: Colour) -> bool:
        """Return True if a side may play a cell of the board while the game goes on."""
        return stones[cell] == EMPTY and (self.variant != Variant.RENJU or self.foul(stones, cell, to_move) is None)

    def legal_moves(self, stones: Stones, to_move: Colour) -> list[Cell]:
        """Return the cells that a side may play while the game goes on, ascending."""
        empty = [cell for cell, stone in enumerate(stones) if stone == EMPTY]
        return [cell for cell in empty if self.is_legal(stones, cell, to_move)] if self.has_fouls else empty

    def has_moves(self, stones: Stones, to_move: Colour) -> bool:
        """Return True if a side may play some cell of the board."""
        return any(self.is_legal(stones, cell, to_move) for cell in range(self.cells))

    def wins(self, stones: Stones, cell: Cell) -> bool:
        """Return True if the stone on `cell` wins."""
        return bool(self.winning_line(stones, cell))

    def is_worthless(self, stones: Stones, cell: Cell) -> bool:
        """Return True if the stone on `cell` wins nothing but would in freestyle: its line is too long or enclosed."""
        return not self.wins(stones, cell) and Rules(self.size, self.connect).wins(stones, cell)

    def winning_line(self, stones: Stones, cell: Cell) -> list[Cell]:
        """Return the cells of the winning lines through the stone on `cell`, ascending; none if it does not win."""
        return sorted({each for line in self.winning_lines(stones, cell) for each in line})

    def winning_lines(self, stones: Stones, cell: Cell) -> list[list[Cell]]:
        """Return the winning lines through the stone on `cell`; none if it does not win."""
        found = []
        size, colour = self.size, stones[cell]
        row, column = divmod(cell, size)
        for row_step, column_step in DIRECTIONS:
            line = [cell]
            for sign in (1, -1):
                r, c = row + sign * row_step, column + sign * column_step
                while 0 <= r < size and 0 <= c < size and stones[r * size + c] == colour:
                    line.append(r * size + c)
                    r, c = r + sign * row_step, c + sign * column_step
            if self.connect <= len(line) <= self.longest(colour):
                is_enclosed = len(line) == self.connect and self._enclosing(stones, line, (row_step, column_step)) > 1
                if not (is_enclosed and self.needs_open_end):
                    found.append(line)
        return found

    def _enclosing(self, stones: Stones, line: list[Cell], step: tuple[int, int]) -> int:
        """Return the stones of the opponent at the ends of a line, 0 to 2. `step`: its direction, of `DIRECTIONS`."""
        count = 0
        for cell, sign in ((min(line), -1), (max(line), 1)):
            row, column = cell // self.size + sign * step[0], cell % self.size + sign * step[1]
            if 0 <= row < self.size and 0 <= column < self.size:
                count += stones[row * self.size + column] == -stones[cell]
        return count

    def __str__(self) -> str:
        return f"{_NAMES[self.variant].format(self.connect)} on {self.size}x{self.size}"


# Renju's forbidden moves of Black, by chapter 9 of the International Rules of Renju
# (https://www.renju.net/study/rifrules.php). Five in a row comes before all else. Otherwise a stone must not make an
# *overline* of six or more, two *fours* (4-4, also two in one line), or two *threes* (3-3). A four is one stone short
# of five in a row; a straight four can become five on both sides. A three can become a straight four by a stone that
# makes no five and is itself allowed.


def find_foul(size: int, stones: Stones, cell: Cell) -> Foul | None:
    """Return the reason why Black may not play an empty cell, None if it may. `stones`: [A]."""
    board = list(stones)
    return _foul(board, cell, _lines(board, size, cell), size)


class _Line(NamedTuple):
    """The line through a stone of Black: its row, and what one stone more at either end would make of it."""

    row: list[Cell]
    """Black's unbroken row, in the order of the line."""
    gains: list[tuple[Cell, list[Cell]]]
    """The empty cell at an end of the row, and Black's unbroken row beyond it."""
    widens: list[bool]
    """For both ends: True if one stone there makes no row longer than itself."""


def _lines(board: list[int], size: int, cell: Cell) -> list[_Line]:
    """Return the four lines through Black's stone on `cell`, which may be empty still."""
    row, column = divmod(cell, size)
    lines = []
    for row_step, column_step in DIRECTIONS:
        ends, gains, widens = [], [], []
        for sign in (-1, 1):
            ray = _ray(size, row, column, sign * row_step, sign * column_step)
            run = _run(board, ray)
            beyond: list[Cell] = []
            if len(run) < len(ray) and board[ray[len(run)]] == EMPTY:
                beyond = _run(board, ray[len(run) + 1 :])
                gains.append((ray[len(run)], beyond))
                widens.append(not beyond)
            else:
                widens.append(False)
            ends.append(run)
        lines.append(_Line([*reversed(ends[0]), cell, *ends[1]], gains, widens))
    return lines


def _ray(size: int, row: int, column: int, row_step: int, column_step: int) -> list[Cell]:
    cells = []
    row, column = row + row_step, column + column_step
    while 0 <= row < size and 0 <= column < size:
        cells.append(row * size + column)
        row, column = row + row_step, column + column_step
    return cells


def _run(board: list[int], ray: list[Cell]) -> list[Cell]:
    """Return the cells at the beginning of a ray that hold stones of Black."""
    length = 0
    while length < len(ray) and board[ray[length]] == BLACK:
        length += 1
    return ray[:length]


def _foul(board: list[int], cell: Cell, lines: list[_Line], size: int) -> Foul | None:
    if any(len(line.row) == _OF_FIVE for line in lines):
        return None
    overlines = tuple(tuple(line.row) for line in lines if len(line.row) > _OF_FIVE)
    if overlines:
        return Foul("overline", cell, overlines)
    fours = {
        tuple(sorted([*line.row, *beyond]))
        for line in lines
        for _, beyond in line.gains
        if len(line.row) + 1 + len(beyond) == _OF_FIVE
    }
    if len(fours) > 1:
        return Foul("4-4", cell, tuple(sorted(fours)))
    board[cell] = BLACK
    threes = [three for line in lines if (three := next(_threes(board, line, size), None)) is not None]
    board[cell] = EMPTY
    return Foul("3-3", cell, tuple(threes)) if len(threes) > 1 else None


def _threes(board: list[int], line: _Line, size: int) -> Iterator[tuple[Cell, ...]]:
    """Yield the stones of a three for each stone that makes a straight four of it and is allowed."""
    for gain, beyond in line.gains:
        if len(line.row) + len(beyond) != _OF_FIVE - 2:
            continue
        lines = _lines(board, size, gain)
        if any(len(each.row) == _OF_FIVE for each in lines) or _foul(board, gain, lines, size) is not None:
            continue
        four = next(each for each in lines if len(each.row) == _OF_FIVE - 1 and line.row[0] in each.row)
        if all(four.widens):
            yield tuple(sorted([*line.row, *beyond]))
