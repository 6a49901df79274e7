"""Threats: the pattern that a stone on a cell would make along each line through it, updated move by move.

The classes are named for a connect length of 5 and mean the same for any length `k`: a *five* is `k` or more in a line,
a *four* one stone short of it, a *three* two short, a *two* three short. They are defined by the cells around the
centre of one line, each empty, own, or blocked (the opponent's stone or the wall): the nearest k-1 on each side, and
where longer lines or enclosed ones win nothing one more, which tells them apart (`Lines`).

- `FIVE`: some `k` cells in a row through the centre are all own, and win: no own stone lies next to them where more
  than `k` do not win, and in caro the opponent's do not lie at both ends.
- `OPEN_FOUR`: two or more empty cells each of which, filled, makes `FIVE`; `FOUR`: exactly one such cell.
- `OPEN_THREE`: one more own stone can make `OPEN_FOUR`; `THREE`: one more can make `FOUR`.
- `OPEN_TWO`: one more own stone can make `OPEN_THREE`; `TWO`: one more can make `THREE`.

In caro a five may also be prevented by a stone at its open end, where the opponent's lies at the other one. A cell for
such a five does not count for a four: it makes a `THREE` at least. In renju the patterns of Black know the lines alone,
so a cell of any class may be forbidden; an overline, which always is, has the class `OPEN_FOUR`.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules, compile_rules
from core.rules import BLACK, DIRECTIONS, EMPTY, WHITE, Rules

Number = TypeVar("Number", bound=np.generic)

NONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(8)
PATTERNS = 8
"""Pattern classes, in ascending strength from `NONE` to `FIVE`."""

_COUNTED = OPEN_THREE
"""The bit of the classes that `ThreatBoard.counts` counts: `OPEN_THREE` and all above it."""

BLACK_SIDE, WHITE_SIDE = 0, 1
"""Index of a colour in the arrays of a `ThreatBoard`: `side = (1 - colour) // 2`."""

PACKED = PATTERNS ** len(DIRECTIONS)
"""Number of values of `packed_patterns`: the length of a table with it as index."""

_SLOT_OWN, _SLOT_BLOCKED, _SLOT_EDGE = 1, 2, 3
"""Digits of a window's code in `pattern_table`; an empty cell is 0, and the wall a blocked one outside caro."""

_SLOT_BLACK, _SLOT_WHITE, _SLOT_WALL = 1, 2, 3
"""Digits to the base of four of a window's code on a board; an empty cell is 0."""


class Lines(NamedTuple):
    """The lines of one colour that win, and the windows in which they are seen."""

    connect: int
    exact: bool = False
    """True if a line longer than `connect` wins nothing."""
    forbids_overlines: bool = False
    """True if that colour may not make one."""
    needs_open_end: bool = False
    """True if `connect` stones between two stones of the opponent win nothing; then the wall differs from these."""
    reach: int = 0
    """Cells of a window on each side of its centre; 0 for as few as tell what wins."""

    @property
    def reaches(self) -> int:
        """Cells of a window on each side of its centre."""
        return self.reach or (self.connect if self.exact or self.needs_open_end else self.connect - 1)


@cache
def pattern_table(lines: Lines) -> NDArray[np.uint8]:
    """Return the class of every window by its code: [3^(2 reach)], or [4^(2 reach)] where the wall counts.

    Digit `i` of the code, from the lowest, is the cell at offset `i - reach` for the cells before the centre and
    `i - reach + 1` for those after it.
    """
    connect, reach, base = lines.connect, lines.reaches, 4 if lines.needs_open_end else 3
    slots = 2 * reach
    windows = np.arange(base**slots)
    digits = [windows // base**slot % base for slot in range(slots)]

    def at(digit: int, centre: bool) -> list[NDArray[np.bool_]]:
        """Return for each cell of a window, the centre too, where it is such a digit: each [windows]."""
        cells = [each == digit for each in digits]
        cells.insert(reach, np.full(len(windows), centre))
        return cells

    own, empty, closed = at(_SLOT_OWN, True), at(0, False), at(_SLOT_BLOCKED, False)
    five, firm, overline = np.zeros((3, len(windows)), dtype=np.bool_)
    for first in range(reach - connect + 1, reach + 1):
        line = np.logical_and.reduce(own[first : first + connect])
        if reach == connect - 1:
            five |= line
            continue
        before, after = first - 1, first + connect
        longer = line & (own[before] | own[after])
        overline |= longer
        line &= ~longer
        if lines.needs_open_end:
            five |= line & ~(closed[before] & closed[after])
            firm |= line & ~(closed[before] & (closed[after] | empty[after])) & ~(empty[before] & closed[after])
        else:
            five |= line
    if not lines.exact:
        five |= overline
        firm |= overline
    if not lines.needs_open_end:
        firm = five
    table = np.zeros(len(windows), dtype=np.uint8)
    table[five] = FIVE

    def fills(kind: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return for each window [windows] the number of empty cells that complete a window of a `kind` [windows]."""
        count = np.zeros(len(windows), dtype=np.intp)
        for slot, digit in enumerate(digits):
            open_cells = np.flatnonzero(digit == 0)
            count[open_cells] += kind[open_cells + base**slot * _SLOT_OWN]
        return count

    completing = fills(firm)
    table[(table == NONE) & (completing > 1)] = OPEN_FOUR
    table[(table == NONE) & (completing == 1)] = FOUR
    for result, stronger in ((OPEN_THREE, OPEN_FOUR), (THREE, FOUR), (OPEN_TWO, OPEN_THREE), (TWO, THREE)):
        if result == THREE and lines.needs_open_end:
            table[(table == NONE) & (fills(five) > 0)] = THREE
        table[(table == NONE) & (fills(table == stronger) > 0)] = result
    if lines.forbids_overlines:
        table[overline & ~five] = OPEN_FOUR
    table.setflags(write=False)
    return table


def lines_of(rules: Rules) -> tuple[Lines, Lines]:
    """Return the lines of Black and of White, with windows of one reach."""
    exact = [rules.longest(colour) == rules.connect for colour in (BLACK, WHITE)]
    black, white = (
        Lines(rules.connect, each, rules.has_fouls and each, rules.needs_open_end, rules.connect if any(exact) else 0)
        for each in exact
    )
    return black, white


@cache
def both_patterns_table(black: Lines, white: Lines) -> NDArray[np.uint8]:
    """Return the classes of every window of a board, black's plus `PATTERNS` times white's: [4^(2 reach)].

    The code's slots are those of `pattern_table`, two bits each: empty, black, white or wall.
    """
    edge = _SLOT_EDGE if black.needs_open_end else _SLOT_BLOCKED
    base, slots = 4 if black.needs_open_end else 3, 2 * black.reaches
    as_black, as_white = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    for slot in range(slots):
        # The digit of a later slot is the slower one.
        black_digits = base**slot * np.array((0, _SLOT_OWN, _SLOT_BLOCKED, edge), dtype=np.int32)
        white_digits = base**slot * np.array((0, _SLOT_BLOCKED, _SLOT_OWN, edge), dtype=np.int32)
        as_black = np.add.outer(black_digits, as_black).ravel()
        as_white = np.add.outer(white_digits, as_white).ravel()
    both = pattern_table(black)[as_black] + PATTERNS * pattern_table(white)[as_white]
    both.setflags(write=False)
    return both


class ThreatBoard(NamedTuple):
    """Stones and the patterns around every cell. Make one with `new_threat_board`; only kernels change it."""

    rules: CompiledRules
    table: NDArray[np.uint8]
    """[4^(2 reach)] `both_patterns_table`."""
    reach: int
    """Cells of a window on each side of its centre."""
    stones: NDArray[np.int8]
    """[A] `BLACK`, `WHITE` or `EMPTY`."""
    room: NDArray[np.int8]
    """[8, A] cells between each cell and the wall in each direction, then in the opposite one, at most `reach`."""
    codes: NDArray[np.int32]
    """[4 directions, A] the window around each cell."""
    patterns: NDArray[np.uint8]
    """[2 sides, 4 directions, A] the class that a stone of that side on the cell makes along that line. The window
    leaves out its centre: on an empty cell this is the class of a move there, under a stone that of the stone."""
    counts: NDArray[np.int32]
    """[2 sides, PATTERNS] pairs of an empty cell and a direction of each class from `OPEN_THREE` on; those below it are
    not kept. A side without fives cannot win now."""


def new_threat_board(rules: Rules) -> ThreatBoard:
    """Return an empty board; boards share only the read-only table."""
    black, white = lines_of(rules)
    board = ThreatBoard(
        rules=compile_rules(rules),
        table=both_patterns_table(black, white),
        reach=black.reaches,
        stones=np.zeros(rules.cells, dtype=np.int8),
        room=np.zeros((2 * len(DIRECTIONS), rules.cells), dtype=np.int8),
        codes=np.zeros((len(DIRECTIONS), rules.cells), dtype=np.int32),
        patterns=np.zeros((2, len(DIRECTIONS), rules.cells), dtype=np.uint8),
        counts=np.zeros((2, PATTERNS), dtype=np.int32),
    )
    reset(board)
    return board


@lean_kernel
def reset(board: ThreatBoard) -> None:
    """Remove all stones."""
    size, reach = board.rules.size, board.reach
    board.stones[:] = EMPTY
    board.counts[:] = 0
    for direction in range(4):
        row_step, column_step = DIRECTIONS[direction]
        for cell in range(size * size):
            code = 0
            for distance in range(1, reach + 1):
                for sign in (1, -1):
                    row = cell // size + sign * distance * row_step
                    column = cell % size + sign * distance * column_step
                    if 0 <= row < size and 0 <= column < size:
                        board.room[direction if sign > 0 else 4 + direction, cell] = distance
                    else:
                        slot = reach - 1 + distance if sign > 0 else reach - distance
                        code |= _SLOT_WALL << 2 * slot
            board.codes[direction, cell] = code
            patterns = board.table[code]
            for side in range(2):
                pattern = patterns >> 3 * side & (PATTERNS - 1)
                board.patterns[side, direction, cell] = pattern
                board.counts[side, pattern] += 1


@lean_kernel
def load(board: ThreatBoard, stones: NDArray[np.int8]) -> None:
    """Set the board to `stones`: [A]."""
    reset(board)
    for cell in range(len(stones)):
        if stones[cell] != EMPTY:
            place(board, cell, BLACK if stones[cell] == BLACK else WHITE)


@lean_kernel
def place(board: ThreatBoard, cell: int, colour: int) -> None:
    """Put a stone on an empty cell."""
    for side in range(2):
        for direction in range(4):
            board.counts[side, board.patterns[side, direction, cell]] -= 1
    board.stones[cell] = colour
    _change_lines(board, cell, colour)


@lean_kernel
def remove(board: ThreatBoard, cell: int) -> None:
    """Remove the stone on `cell`."""
    colour = BLACK if board.stones[cell] == BLACK else WHITE
    board.stones[cell] = EMPTY
    for side in range(2):
        for direction in range(4):
            board.counts[side, board.patterns[side, direction, cell]] += 1
    _change_lines(board, cell, colour)


@lean_kernel
def _change_lines(board: ThreatBoard, cell: int, colour: int) -> None:
    """Add a stone to the windows of all cells that see `cell`, or remove it: the same bits change."""
    size, reach, stones, counts = board.rules.size, board.reach, board.stones, board.counts
    digit = _SLOT_BLACK if colour == BLACK else _SLOT_WHITE
    for direction in range(4):
        step = DIRECTIONS[direction][0] * size + DIRECTIONS[direction][1]
        codes, black, white = board.codes[direction], board.patterns[0, direction], board.patterns[1, direction]
        for sign in (1, -1):
            # From a cell ahead the changed one lies behind, in the slot next to the centre at first.
            shift = 2 * (reach - 1) if sign > 0 else 2 * reach
            at = cell
            for _ in range(board.room[direction if sign > 0 else 4 + direction, cell]):
                at += sign * step
                # An index that cannot be negative spares the check for it, in each of some thirty cells.
                seen_from = np.uint64(at)
                code = codes[seen_from] ^ digit << shift
                codes[seen_from] = code
                shift -= 2 * sign
                after = board.table[np.uint64(code)]
                new_black, new_white = after & (PATTERNS - 1), after >> 3
                old_black, old_white = black[seen_from], white[seen_from]
                black[seen_from], white[seen_from] = new_black, new_white
                # Few cells have a class that counts, so the processor foresees this branch.
                if (new_black | old_black | new_white | old_white) & _COUNTED and stones[seen_from] == EMPTY:
                    counts[0, old_black] -= 1
                    counts[0, new_black] += 1
                    counts[1, old_white] -= 1
                    counts[1, new_white] += 1


@lean_kernel
def side_of(colour: int) -> int:
    """Return the index of a colour in a board's arrays."""
    return BLACK_SIDE if colour == BLACK else WHITE_SIDE


@lean_kernel
def colour_of(side: int) -> int:
    """Return the colour of an index of a board's arrays."""
    return BLACK if side == BLACK_SIDE else WHITE


@lean_kernel
def packed_patterns(board: ThreatBoard, side: int, cell: int) -> int:
    """Return the four patterns of a side at a cell as one number below `PACKED`, three bits a direction."""
    patterns = board.patterns
    return (
        int(patterns[side, 0, cell])
        | int(patterns[side, 1, cell]) << 3
        | int(patterns[side, 2, cell]) << 6
        | int(patterns[side, 3, cell]) << 9
    )


@lean_kernel
def strongest_pattern(board: ThreatBoard, side: int, cell: int) -> int:
    """Return the strongest of the four patterns of a side at a cell."""
    patterns = board.patterns
    return max(
        int(patterns[side, 0, cell]),
        int(patterns[side, 1, cell]),
        int(patterns[side, 2, cell]),
        int(patterns[side, 3, cell]),
    )


def unpack_patterns(packed: int) -> tuple[int, int, int, int]:
    """Return the four patterns of a number of `packed_patterns`."""
    return packed & 7, packed >> 3 & 7, packed >> 6 & 7, packed >> 9 & 7


def table_of(value: Callable[[tuple[int, int, int, int]], float], kind: type[Number]) -> NDArray[Number]:
    """Return the table [PACKED] of a function of four patterns, by their `packed_patterns`."""
    table = np.array([value(unpack_patterns(packed)) for packed in range(PACKED)], dtype=kind)
    table.setflags(write=False)
    return table
