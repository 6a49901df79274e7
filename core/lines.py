"""Scans of the lines through a cell: runs of stones and winning lines."""

import numpy as np
from numpy.typing import NDArray

from core.jit import lean_kernel
from core.rules import Cell

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""The four directions of a line as (rows, columns): along a row, a column and both diagonals."""


@lean_kernel
def run_length(stones: NDArray[np.int8], cell: int, row_step: int, column_step: int, size: int) -> int:
    """Return the length of the unbroken run of `cell`'s colour through `cell`, in one direction. `stones`: [A]."""
    colour = stones[cell]
    row, column = cell // size, cell % size
    length = 1
    for sign in (1, -1):
        r, c = row + sign * row_step, column + sign * column_step
        while 0 <= r < size and 0 <= c < size and stones[r * size + c] == colour:
            length += 1
            r += sign * row_step
            c += sign * column_step
    return length


@lean_kernel
def makes_line(stones: NDArray[np.int8], cell: int, size: int, connect: int) -> bool:
    """Return True if the stone on `cell` is part of a line of `connect` or more of its colour. `stones`: [A]."""
    for row_step, column_step in DIRECTIONS:  # noqa: SIM110 - numba compiles no generator inside `any`
        if run_length(stones, cell, row_step, column_step, size) >= connect:
            return True
    return False


def winning_cells(stones: NDArray[np.int8], cell: Cell, size: int, connect: int) -> list[Cell]:
    """Return all cells of the winning lines through `cell` in ascending order; none without such a line."""
    cells: set[Cell] = set()
    row, column = divmod(cell, size)
    for row_step, column_step in DIRECTIONS:
        if run_length(stones, cell, row_step, column_step, size) < connect:
            continue
        for sign in (1, -1):
            r, c = row, column
            while 0 <= r < size and 0 <= c < size and stones[r * size + c] == stones[cell]:
                cells.add(r * size + c)
                r, c = r + sign * row_step, c + sign * column_step
    return sorted(cells)
