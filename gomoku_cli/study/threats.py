"""Threats on a board: the lines that stand, the cells that make stronger ones, and wins by fours.

The classes are those of `core.compiled.threats`, named for five in a row: a *four* is one stone short of it, an *open
three* one stone short of an open four.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import legal_masks
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE, ThreatBoard, load, new_threat_board, side_of
from core.rules import BLACK, DIRECTIONS, EMPTY, Cell, Colour, Rules
from search.solvers.vcf import VcfWork, new_vcf_work, solve_vcf

VCF_NODES = 20_000
"""Limit of the search for a win by fours: some dozen milliseconds at most."""
_VCF_TABLE_BITS = 14

_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six")


def kind_name(kind: int, connect: int) -> str:
    """Return the name of a class where `connect` stones win: five in a row make a `four` and an `open three`."""
    short = {FIVE: 0, OPEN_FOUR: 1, FOUR: 1, OPEN_THREE: 2}[kind]
    return ("open " if kind in (OPEN_FOUR, OPEN_THREE) else "") + _NUMBERS[connect - short]


class Threats:
    """The threats of one position after another: a board and a solver that are made once. For one thread."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._board: ThreatBoard = new_threat_board(rules)
        self._work: VcfWork = new_vcf_work(rules, _VCF_TABLE_BITS)

    def cells(self, stones: NDArray[np.int8]) -> NDArray[np.uint8]:
        """Return the strongest class that a stone makes on each cell: [2, A], of Black, then of White.

        `stones`: [A]. Occupied and forbidden cells and classes below `OPEN_THREE` have 0.
        """
        load(self._board, stones)
        strongest: NDArray[np.uint8] = self._board.patterns.max(axis=1)
        strongest[:, stones != EMPTY] = 0
        strongest[strongest < OPEN_THREE] = 0
        strongest[side_of(BLACK), ~self.legal(stones, BLACK)] = 0
        return strongest

    def legal(self, stones: NDArray[np.int8], colour: Colour) -> NDArray[np.bool_]:
        """Return the mask [A] of the legal moves of a colour. `stones`: [A]."""
        legal: NDArray[np.bool_] = legal_masks(self._board.rules, stones[None], np.array([colour], np.int8))[0]
        return legal

    def patterns(self, stones: NDArray[np.int8], colour: Colour, cell: Cell) -> list[int]:
        """Return the classes that a stone of `colour` makes on an empty cell, one a direction. `stones`: [A]."""
        load(self._board, stones)
        found: list[int] = self._board.patterns[side_of(colour), :, cell].tolist()
        return found

    def double_threes(self, stones: NDArray[np.int8], colour: Colour) -> list[Cell]:
        """Return the empty cells where a stone of `colour` makes two open threes or more. `stones`: [A]."""
        load(self._board, stones)
        count = (self._board.patterns[side_of(colour)] == OPEN_THREE).sum(axis=0)
        return np.flatnonzero((count > 1) & self.legal(stones, colour)).tolist()

    def grown_lines(self, stones: NDArray[np.int8], colour: Colour, cell: Cell) -> list[tuple[int, tuple[Cell, ...]]]:
        """Return the lines of which a stone on an empty cell makes five, or else an open four, one a direction.

        That is the class of each, `OPEN_FOUR` where another cell makes five as well, `FOUR` or `OPEN_THREE`, and its
        stones in order. `stones`: [A].
        """
        made = self.patterns(stones, colour, cell)
        kind, length = (FOUR, 1) if FIVE in made else (OPEN_THREE, 2)
        if max(made) < OPEN_FOUR:
            return []
        found = []
        for direction in np.flatnonzero(np.array(made) == max(made)).tolist():
            held = [
                tuple(each for each in window if stones[each] == colour)
                for window in self._windows(stones, colour, cell, direction)
                if (stones[window] != -colour).all()
            ]
            # Two cells make five of the same stones, or, as in x.xxx.x, each of other ones.
            ways = Counter(line for line in held if len(line) == self.rules.connect - length)
            if kind == FOUR:
                for line in ways:
                    ways[line] = self._fives_of(stones, colour, line, direction)
            line = max(ways, key=ways.__getitem__)
            found.append((OPEN_FOUR if kind == FOUR and ways[line] > 1 else kind, line))
        return found

    def _fives_of(self, stones: NDArray[np.int8], colour: Colour, line: tuple[Cell, ...], direction: int) -> int:
        """Return the number of legal moves that make five of the stones of a four."""
        legal = self.legal(stones, colour)
        missing = (set(window) - set(line) for window in self._windows(stones, colour, line[0], direction))
        return sum(len(cells) == 1 and bool(legal[cells.pop()]) for cells in missing)

    def win_by_fours(self, stones: NDArray[np.int8], colour: Colour, *, nodes: int = VCF_NODES) -> tuple[Cell, ...]:
        """Return the shortest win by fours of a colour if it were to move: the moves of both sides, or none.

        `stones`: [A], without a line that wins. The odd ones of the moves are the defender's forced replies.
        """
        load(self._board, stones)
        plies = solve_vcf(self._board, self._work, side_of(colour), nodes)
        return tuple(self._work.line[: max(plies, 0)].tolist())

    def _windows(self, stones: NDArray[np.int8], colour: Colour, cell: Cell, direction: int) -> Iterator[list[Cell]]:
        """Yield the windows of a winning line's length that hold `cell`, without those of lines that win nothing."""
        connect, axis = self.rules.connect, self._axis(cell, direction)
        at = axis.index(cell)
        for first in range(max(0, at - connect + 1), min(at, len(axis) - connect) + 1):
            beside = axis[max(0, first - 1) : first] + axis[first + connect : first + connect + 1]
            around = [stones[each] for each in beside]
            is_too_long = colour in around and self.rules.longest(colour) == connect
            if not is_too_long and not (self.rules.needs_open_end and around == [-colour] * 2):
                yield axis[first : first + connect]

    def _axis(self, cell: Cell, direction: int) -> list[Cell]:
        """Return the cells of the whole line through `cell`, in order from the left, or from the bottom."""
        size, (row_step, column_step) = self.rules.size, DIRECTIONS[direction]
        row, column = divmod(cell, size)
        points = ((row + step * row_step, column + step * column_step) for step in range(1 - size, size))
        return [r * size + c for r, c in points if 0 <= r < size and 0 <= c < size]
