"""Threats on a board: the lines that stand, the cells that make stronger ones, and wins by fours.

The classes are those of `core.compiled.threats`, named for five in a row: a *four* is one stone short of it, an *open
three* one stone short of an open four.
"""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import legal_masks
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE, ThreatBoard, load, new_threat_board, side_of
from core.notation import cell_name
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


class Shape(NamedTuple):
    """A line of stones that threatens to grow."""

    colour: Colour
    kind: int
    """`OPEN_FOUR`: two or more cells make five; `FOUR`: one does; `OPEN_THREE`: a cell makes an open four."""
    stones: tuple[Cell, ...]
    """The stones of the line, in its order."""
    gains: tuple[Cell, ...]
    """The empty cells that make the line stronger: a five of a four, an open four of an open three."""

    def span(self, size: int) -> str:
        """Return the names of its first and its last stone: `h8-h10`."""
        first, last = cell_name(self.stones[0], size), cell_name(self.stones[-1], size)
        return f"{first}-{last}"


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

    def shapes(self, stones: NDArray[np.int8], colour: Colour) -> list[Shape]:
        """Return the fours and open threes of a colour, the strongest first. `stones`: [A]."""
        load(self._board, stones)
        fours: _Lines = {}
        for cell, direction in self._makers(colour, FIVE):
            for line in self._fours_with(stones, colour, cell, direction):
                fours.setdefault((direction, line), set()).add(cell)
        threes: _Lines = {}
        for cell, direction in self._makers(colour, OPEN_FOUR):
            grown = stones.copy()
            grown[cell] = colour
            for line in self._open_fours_through(grown, colour, cell, direction):
                three = tuple(stone for stone in line if stone != cell)
                threes.setdefault((direction, three), set()).add(cell)
        shapes = [Shape(colour, OPEN_FOUR if len(gains) > 1 else FOUR, line, gains) for line, gains in _largest(fours)]
        return [*shapes, *(Shape(colour, OPEN_THREE, line, gains) for line, gains in _largest(threes))]

    def win_by_fours(self, stones: NDArray[np.int8], colour: Colour, *, nodes: int = VCF_NODES) -> tuple[Cell, ...]:
        """Return the shortest win by fours of a colour if it were to move: the moves of both sides, or none.

        `stones`: [A], without a line that wins. The odd ones of the moves are the defender's forced replies.
        """
        load(self._board, stones)
        plies = solve_vcf(self._board, self._work, side_of(colour), nodes)
        return tuple(self._work.line[: max(plies, 0)].tolist())

    def _makers(self, colour: Colour, kind: int) -> Iterator[tuple[Cell, int]]:
        """Yield each cell and direction in which a stone of `colour` makes a line of `kind` by a legal move."""
        patterns, stones = self._board.patterns[side_of(colour)], self._board.stones
        directions, cells = np.nonzero((patterns == kind) & self.legal(stones, colour))
        yield from zip(cells.tolist(), directions.tolist(), strict=True)

    def _fours_with(
        self, stones: NDArray[np.int8], colour: Colour, cell: Cell, direction: int
    ) -> Iterator[tuple[Cell, ...]]:
        """Yield the stones that make five with a stone on the empty `cell`: those of each window of the line."""
        for window in self._windows(stones, colour, cell, direction):
            others = tuple(each for each in window if each != cell)
            if all(stones[each] == colour for each in others):
                yield others

    def _open_fours_through(
        self, stones: NDArray[np.int8], colour: Colour, cell: Cell, direction: int
    ) -> Iterator[tuple[Cell, ...]]:
        """Yield the lines of an open four through the stone on `cell`: stones that make five with two empty cells."""
        seen: Counter[tuple[Cell, ...]] = Counter()
        for window in self._windows(stones, colour, cell, direction):
            held = tuple(each for each in window if stones[each] == colour)
            if len(held) == self.rules.connect - 1 and any(stones[each] == EMPTY for each in window):
                seen[held] += 1
        # Two cells make five of the same stones, or, as in x.xxx.x, each of other ones.
        yield from [line for line, count in seen.items() if count > 1] or seen

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


_Lines = dict[tuple[int, tuple[Cell, ...]], set[Cell]]
"""The gains of a line by its direction and its stones."""


def _largest(lines: _Lines) -> Iterator[tuple[tuple[Cell, ...], tuple[Cell, ...]]]:
    """Yield stones and gains of lines, the most gains first, without lines that gain nothing more along their axis."""
    known: set[tuple[int, Cell]] = set()
    for (direction, line), gains in sorted(lines.items(), key=lambda item: -len(item[1])):
        if any((direction, gain) not in known for gain in gains):
            known |= {(direction, gain) for gain in gains}
            yield line, tuple(sorted(gains))
