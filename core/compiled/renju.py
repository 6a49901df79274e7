"""Renju's forbidden moves for kernels: the twin of `core.rules.find_foul`, without memory of its own.

A three depends on another move that may be forbidden by threes that depend on a third one, and so on. Kernels do not
call themselves and lean ones have no arrays, so the moves of such a chain lie in integers, `_BITS` bits each.
"""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.rules import BLACK, DIRECTIONS, EMPTY, NO_CELL

_FIVE = 5
"""Stones in a row that win in renju."""
_BITS = 10
"""Bits of a cell."""
_DEPTH = 12
"""Moves in the longest chain; a longer one would need more than five dozen stones of Black in one pattern."""
_HALF = _DEPTH // 2
"""Moves in each of two integers."""
_CELL = (1 << _BITS) - 1
_FRAME, _THREE = 5, 16
"""Bits of a move's frame, and the one that is set once it has a real three."""

FEWEST = 4
"""Black's stones within four cells that two threes need beside the move; an overline and two fours need no fewer."""

ALLOWED, MAKES_FIVE, OVERLINE, DOUBLE_FOUR, DOUBLE_THREE = range(5)
"""Verdicts on a move of Black. The last three forbid it."""
_UNKNOWN = -1
"""Two threes or more if their stones are allowed."""


@lean_kernel
def _is_placed(cell: int, depth: int, low: int, high: int) -> bool:
    """Return True if the chain's first `depth` moves hold a cell."""
    for level in range(depth):  # noqa: SIM110 - numba compiles no generator inside `any`
        if (low if level < _HALF else high) >> _BITS * (level % _HALF) & _CELL == cell:
            return True
    return False


@lean_kernel
def _run(stones: NDArray[np.int8], cell: int, step: int, room: int, depth: int, low: int, high: int) -> int:
    """Return Black's stones that follow a cell without a gap, the chain's moves among them."""
    length = 0
    while length < room:
        at = cell + (length + 1) * step
        if stones[at] != BLACK and not _is_placed(at, depth, low, high):
            break
        length += 1
    return length


@lean_kernel
def _is_free(stones: NDArray[np.int8], cell: int, depth: int, low: int, high: int) -> bool:
    return bool(stones[cell] == EMPTY) and not _is_placed(cell, depth, low, high)


@lean_kernel
def _rooms(size: int, cell: int, direction: int) -> tuple[int, int]:
    """Return the cells between a cell and the edge along a direction of `DIRECTIONS`, and against it."""
    row, column = cell // size, cell % size
    up, down, right, left = size - 1 - row, row, size - 1 - column, column
    if direction == 0:
        return right, left
    if direction == 1:
        return up, down
    if direction == 2:
        return min(up, right), min(down, left)
    return min(up, left), min(down, right)


@lean_kernel
def _line(
    stones: NDArray[np.int8], size: int, cell: int, direction: int, depth: int, low: int, high: int
) -> tuple[int, int, int, int]:
    """Return what Black's stone on a cell makes along a direction.

    The stones of its row; the fours, 0 to 2; and the stones that could make a straight four of a three, ahead and
    behind, `NO_CELL` for none.
    """
    step = DIRECTIONS[direction][0] * size + DIRECTIONS[direction][1]
    room, room_behind = _rooms(size, cell, direction)
    ahead = _run(stones, cell, step, room, depth, low, high)
    behind = _run(stones, cell, -step, room_behind, depth, low, high)
    row = ahead + 1 + behind
    # The cell at each end of the row, and the row beyond it.
    gain, gain_behind, beyond, beyond_behind = NO_CELL, NO_CELL, 0, 0
    if ahead < room and _is_free(stones, cell + (ahead + 1) * step, depth, low, high):
        gain = cell + (ahead + 1) * step
        beyond = _run(stones, gain, step, room - ahead - 1, depth, low, high)
    if behind < room_behind and _is_free(stones, cell - (behind + 1) * step, depth, low, high):
        gain_behind = cell - (behind + 1) * step
        beyond_behind = _run(stones, gain_behind, -step, room_behind - behind - 1, depth, low, high)
    fours = 0
    if gain != NO_CELL and row + 1 + beyond == _FIVE:
        fours = 1
    if gain_behind != NO_CELL and row + 1 + beyond_behind == _FIVE and not (fours == 1 and row == _FIVE - 1):
        fours += 1
    three, three_behind = NO_CELL, NO_CELL
    # A straight four has an empty cell at both ends, and no stone of Black beyond.
    if gain != NO_CELL and gain_behind != NO_CELL:
        if row + beyond == _FIVE - 2 and beyond_behind == 0:
            at = ahead + 1 + beyond
            if _widens(stones, cell, step, room, at, depth, low, high):
                three = gain
        if row + beyond_behind == _FIVE - 2 and beyond == 0:
            at = behind + 1 + beyond_behind
            if _widens(stones, cell, -step, room_behind, at, depth, low, high):
                three_behind = gain_behind
    return row, fours, three, three_behind


@lean_kernel
def _widens(
    stones: NDArray[np.int8], cell: int, step: int, room: int, at: int, depth: int, low: int, high: int
) -> bool:
    """Return True if the cell after the first `at` ones is empty, with no stone of Black behind it."""
    if at >= room or not _is_free(stones, cell + (at + 1) * step, depth, low, high):
        return False
    return _run(stones, cell + (at + 1) * step, step, room - at - 1, depth, low, high) == 0


@lean_kernel
def _glance(stones: NDArray[np.int8], size: int, cell: int, depth: int, low: int, high: int) -> int:
    """Return the verdict on a move that needs no look at others, `_UNKNOWN` if threes decide."""
    fours, threes, longest = 0, 0, 0
    for direction in range(4):
        row, more_fours, three, three_behind = _line(stones, size, cell, direction, depth, low, high)
        if row == _FIVE:
            return MAKES_FIVE
        longest = max(longest, row)
        fours += more_fours
        if three != NO_CELL or three_behind != NO_CELL:
            threes += 1
    if longest > _FIVE:
        return OVERLINE
    if fours > 1:
        return DOUBLE_FOUR
    return _UNKNOWN if threes > 1 else ALLOWED


@lean_kernel
def count_neighbours(stones: NDArray[np.int8], size: int, counts: NDArray[np.int32]) -> None:
    """Write Black's stones within four cells of each cell on the lines through it into `counts` [A]. `stones`: [A].

    A move with fewer than `FEWEST` of them is allowed.
    """
    counts[:] = 0
    for cell in range(stones.shape[0]):
        if stones[cell] == BLACK:
            for direction in range(4):
                step = DIRECTIONS[direction][0] * size + DIRECTIONS[direction][1]
                room, room_behind = _rooms(size, cell, direction)
                for distance in range(1, min(room, _FIVE - 1) + 1):
                    counts[cell + distance * step] += 1
                for distance in range(1, min(room_behind, _FIVE - 1) + 1):
                    counts[cell - distance * step] += 1


@lean_kernel
def verdict(stones: NDArray[np.int8], size: int, cell: int) -> int:
    """Return the verdict on Black's stone on an empty cell. `stones`: [A]."""
    result = _glance(stones, size, cell, 0, 0, 0)
    return result if result != _UNKNOWN else _by_threes(stones, size, cell)


@lean_kernel
def _by_threes(stones: NDArray[np.int8], size: int, cell: int) -> int:
    """Return `DOUBLE_THREE` or `ALLOWED` for a move that makes two threes if their stones are allowed.

    Each move of the chain tries the stones of its threes, direction by direction, ahead and behind. Its frame holds how
    many of these eight it has tried, and a bit that is set once it has a real three.
    """
    low, high, frames, depth = cell, 0, 0, 1
    while True:
        level = depth - 1
        at = (low if level < _HALF else high) >> _BITS * (level % _HALF) & _CELL
        frame = frames >> _FRAME * level & (2 * _THREE - 1)
        tried, stone = frame & (_THREE - 1), NO_CELL
        while tried < 8 and stone == NO_CELL:
            _, _, three, three_behind = _line(stones, size, at, tried >> 1, level, low, high)
            stone = three if tried & 1 == 0 else three_behind
            tried += 1
        if stone == NO_CELL:
            if level == 0:
                return ALLOWED
            depth, result = level, ALLOWED
        else:
            frames += tried - (frame & (_THREE - 1)) << _FRAME * level
            result = _glance(stones, size, stone, depth, low, high)
            if result == _UNKNOWN and depth < _DEPTH:
                shift = _BITS * (depth % _HALF)
                if depth < _HALF:
                    low = low & ~(_CELL << shift) | stone << shift
                else:
                    high = high & ~(_CELL << shift) | stone << shift
                frames &= ~((2 * _THREE - 1) << _FRAME * depth)
                depth += 1
                continue
        # The verdict on the stone that the last move of the chain tries may decide that move, and so on back.
        while result in (ALLOWED, _UNKNOWN):
            shift = _FRAME * (depth - 1)
            frame = frames >> shift & (2 * _THREE - 1)
            if frame < _THREE:
                after = ((frame + 1) & ~1) | _THREE  # on to the next direction
                frames += after - frame << shift
                break
            if depth == 1:
                return DOUBLE_THREE
            depth, result = depth - 1, DOUBLE_THREE
