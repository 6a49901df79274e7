"""Line patterns by their numbers. Needs no numba.

A line pattern is the cells of one direction around a cell: up to five each way, fewer where the board ends.

It has a digit for each of its cells: 0 empty, 1 a stone of the side to move, 2 of the opponent. With l cells
before and r after the middle there are 3^(l+r+1) patterns, for all l and r from 0 to 5 together `PATTERNS`. A pattern's
number is a constant of l and r plus a weight times the digit of each cell, so a stone changes the numbers around it by
additions.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets.numbers import REACH, REGIONS

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Steps in rows and columns."""
OFF_BOARD = 3
"""The digit of a cell that is not on the board, in `all_patterns`."""
AFTER = sum(3**r for r in range(REACH + 1))
"""Patterns of the cells after the middle."""
_BEFORE = sum(3 ** (l + 1) for l in range(REACH + 1))  # noqa: E741
"""Patterns of the middle and the cells before it."""
PATTERNS = _BEFORE * AFTER
"""397,488."""


def digit_weights() -> NDArray[np.int32]:
    """Return [11] the weight of each cell's digit, from the farthest before the middle to the farthest after it."""
    before = [AFTER * 3**k for k in range(REACH, -1, -1)]
    return np.array(before + [3**k for k in range(REACH)], dtype=np.int32)


@functools.cache
def empty_numbers(size: int) -> NDArray[np.int32]:
    """Return [A, 4] the number of the pattern around each cell of an empty board, in each direction. Read-only."""
    numbers = np.zeros((size, size, len(DIRECTIONS)), dtype=np.int32)
    for row in range(size):
        for column in range(size):
            for index, (down, right) in enumerate(DIRECTIONS):
                before = min(REACH, _room(row, -down, size), _room(column, -right, size))
                after = min(REACH, _room(row, down, size), _room(column, right, size))
                numbers[row, column, index] = _first(before, after)
    result = numbers.reshape(size * size, len(DIRECTIONS))
    result.flags.writeable = False
    return result


@functools.cache
def neighbours(size: int) -> NDArray[np.int64]:
    """Return [A, 4, 11] the cells of the pattern around each cell; A where the board ends. Read-only."""
    rows, columns = np.divmod(np.arange(size * size), size)
    steps = np.arange(-REACH, REACH + 1)
    result = np.empty((size * size, len(DIRECTIONS), len(steps)), dtype=np.int64)
    for index, (down, right) in enumerate(DIRECTIONS):
        row, column = rows[:, None] + down * steps, columns[:, None] + right * steps
        on_board = (row >= 0) & (row < size) & (column >= 0) & (column < size)
        result[:, index] = np.where(on_board, row * size + column, size * size)
    result.flags.writeable = False
    return result


@functools.cache
def halves() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the digits [1092, 6] of all first halves, the middle included, and [364, 5] of all second ones.

    `OFF_BOARD` where the board ends. The pattern of first half `a` and second half `b` has the number 364 a + b.
    """
    before = np.full((_BEFORE, REACH + 1), OFF_BOARD, dtype=np.int8)
    after = np.full((AFTER, REACH), OFF_BOARD, dtype=np.int8)
    for count in range(REACH + 1):
        for half, cells, first in (
            (before[:, ::-1], count + 1, (3 ** (count + 1) - 3) // 2),
            (after, count, (3**count - 1) // 2),
        ):
            numbers = np.arange(3**cells)
            for k in range(cells):
                half[first : first + 3**cells, k] = numbers // 3**k % 3
    before.flags.writeable = after.flags.writeable = False
    return before, after


@functools.cache
def all_patterns() -> NDArray[np.int8]:
    """Return [PATTERNS, 11] the digits of each pattern, by its number; `OFF_BOARD` where the board ends. Read-only."""
    before, after = halves()
    digits = np.concatenate((np.repeat(before, len(after), axis=0), np.tile(after, (len(before), 1))), axis=1)
    digits.flags.writeable = False
    return digits


def _first(before: int, after: int) -> int:
    """Return the number of the pattern of empty cells with that many before and after the middle."""
    first: int = AFTER * ((3 ** (before + 1) - 3) // 2) + (3**after - 1) // 2
    return first


def _room(place: int, step: int, size: int) -> int:
    """Return the number of steps that stay on the board."""
    return REACH if step == 0 else size - 1 - place if step > 0 else place


def region_edges(size: int) -> tuple[int, ...]:
    """Return the first row (or column) of each region of a board of `size`, and the end of the last."""
    return tuple(size * part // REGIONS for part in range(REGIONS + 1))
