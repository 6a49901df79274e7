"""Scans of the lines through a cell, compiled: runs of stones and winning lines."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.rules import DIRECTIONS


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
