"""Threats: the pattern that a stone on a cell would make along each line through it, updated move by move.

The classes are named for a connect length of 5 and mean the same for any length `k`: a *five* is `k` or more in a line,
a *four* one stone short of it, a *three* two short, a *two* three short. They are defined by the cells around the
centre of one line, each empty, own, or blocked (the opponent's stone or the wall): the nearest k-1 on each side, and
where more than `k` do not win one more, which tells if a line is longer (`reach_of`).

- `FIVE`: some `k` cells in a row through the centre are all own, and no stone of their own lies next to them where
  more than `k` do not win.
- `OPEN_FOUR`: two or more empty cells each of which, filled, makes `FIVE`; `FOUR`: exactly one such cell.
- `OPEN_THREE`: one more own stone can make `OPEN_FOUR`; `THREE`: one more can make `FOUR`.
- `OPEN_TWO`: one more own stone can make `OPEN_THREE`; `TWO`: one more can make `THREE`.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules, compile_rules
from core.rules import BLACK, DIRECTIONS, EMPTY, WHITE, Rules

NONE, TWO, OPEN_TWO, THREE, OPEN_THREE, FOUR, OPEN_FOUR, FIVE = range(8)
PATTERNS = 8
"""Pattern classes, in ascending strength from `NONE` to `FIVE`."""

BLACK_SIDE, WHITE_SIDE = 0, 1
"""Index of a colour in the arrays of a `ThreatBoard`: `side = (1 - colour) // 2`."""

PACKED = PATTERNS ** len(DIRECTIONS)
"""Number of values of `packed_patterns`: the length of a table with it as index."""

_SLOT_OWN, _SLOT_BLOCKED = 1, 2
"""Ternary digits of a window's code in `pattern_table`; an empty cell is 0."""

_SLOT_BLACK, _SLOT_WHITE, _SLOT_WALL = 1, 2, 3
"""Digits to the base of four of a window's code on a board; an empty cell is 0."""


def reach_of(connect: int, exact: bool) -> int:
    """Return the cells of a window on each side of its centre. `exact`: a longer line than `connect` wins nothing."""
    return connect if exact else connect - 1


@cache
def pattern_table(connect: int, exact: bool = False) -> NDArray[np.uint8]:
    """Return the class of every window by its code: [3^(2 reach)].

    Digit `i` of the code, from the lowest, is the cell at offset `i - reach` for the cells before the centre and
    `i - reach + 1` for those after it.
    """
    reach = reach_of(connect, exact)
    slots = 2 * reach
    windows = np.arange(3**slots)
    digits = [windows // 3**slot % 3 for slot in range(slots)]
    own = [digit == _SLOT_OWN for digit in digits]
    own.insert(reach, np.ones(len(windows), dtype=np.bool_))

    table = np.zeros(len(windows), dtype=np.uint8)
    for first in range(reach - connect + 1, reach + 1):
        line = np.logical_and.reduce(own[first : first + connect])
        table[line & ~(own[first - 1] | own[first + connect]) if exact else line] = FIVE

    def fills(of_class: int) -> NDArray[np.intp]:
        """Return for each window [windows] the number of empty cells that complete a window of `of_class`."""
        count = np.zeros(len(windows), dtype=np.intp)
        for slot, digit in enumerate(digits):
            empty = np.flatnonzero(digit == 0)
            count[empty] += table[empty + 3**slot * _SLOT_OWN] == of_class
        return count

    completing = fills(FIVE)
    table[(table == NONE) & (completing > 1)] = OPEN_FOUR
    table[(table == NONE) & (completing == 1)] = FOUR
    for result, stronger in ((OPEN_THREE, OPEN_FOUR), (THREE, FOUR), (OPEN_TWO, OPEN_THREE), (TWO, THREE)):
        table[(table == NONE) & (fills(stronger) > 0)] = result
    table.setflags(write=False)
    return table


@cache
def both_patterns_table(connect: int, exact: bool = False) -> NDArray[np.uint8]:
    """Return the classes of every window of a board, black's plus `PATTERNS` times white's: [4^(2 reach)].

    The code's slots are those of `pattern_table`, two bits each: empty, black, white or wall.
    """
    slots = 2 * reach_of(connect, exact)
    as_black, as_white = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    for slot in range(slots):
        # The digit of a later slot is the slower one.
        black = 3**slot * np.array((0, _SLOT_OWN, _SLOT_BLOCKED, _SLOT_BLOCKED), dtype=np.int32)
        white = 3**slot * np.array((0, _SLOT_BLOCKED, _SLOT_OWN, _SLOT_BLOCKED), dtype=np.int32)
        as_black, as_white = np.add.outer(black, as_black).ravel(), np.add.outer(white, as_white).ravel()
    table = pattern_table(connect, exact)
    both = table[as_black] + PATTERNS * table[as_white]
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
    """[2 sides, PATTERNS] pairs of an empty cell and a direction of each class; a side without fives cannot win now."""


def new_threat_board(rules: Rules) -> ThreatBoard:
    """Return an empty board; boards share only the read-only table."""
    exact = rules.longest == rules.connect
    board = ThreatBoard(
        rules=compile_rules(rules),
        table=both_patterns_table(rules.connect, exact),
        reach=reach_of(rules.connect, exact),
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
        ahead, behind = board.room[direction, cell], board.room[4 + direction, cell]
        for distance in range(-behind, ahead + 1):
            if distance == 0:
                continue
            seen_from = cell + distance * step
            # From there the changed cell lies in the opposite direction.
            slot = reach - distance if distance > 0 else reach - 1 - distance
            code = codes[seen_from] ^ digit << 2 * slot
            codes[seen_from] = code
            after = board.table[code]
            new_black, new_white = after & (PATTERNS - 1), after >> 3
            old_black, old_white = black[seen_from], white[seen_from]
            if new_black != old_black or new_white != old_white:
                black[seen_from], white[seen_from] = new_black, new_white
                if stones[seen_from] == EMPTY:
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
