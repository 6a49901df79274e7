"""`write_planes`: a net's input planes, written by a kernel where the net reads them."""

import numpy as np
from numpy.typing import NDArray

from core.jit import lean_kernel
from core.rules import BLACK


@lean_kernel
def write_planes(
    stones: NDArray[np.int8],
    to_move: NDArray[np.int8],
    last_moves: NDArray[np.int16],
    rows: NDArray[np.intp],
    planes: NDArray[np.uint16] | NDArray[np.float32],
    first: int,
    kinds: tuple[int, int, int],
    one: np.uint16 | np.float32,
) -> None:
    """Write the planes of some rows of a batch of positions to `planes` [n, A, C], from row `first` on.

    The positions are as in `core.evaluation.PositionBatch`; `rows` are indices into them. From the side to move: own
    stones, the opponent's, then `kinds` = (number of last moves, a plane each; 1 for a plane of ones where Black is to
    move, else 0; copies of all planes). `one` stands for one, in the number format of `planes`; all else becomes zero.
    """
    lasts, colour, copies = kinds
    count = 2 + lasts + colour
    for index in range(len(rows)):
        row, target = rows[index], first + index
        side = to_move[row]
        for cell in range(planes.shape[1]):
            for plane in range(planes.shape[2]):
                planes[target, cell, plane] = 0
        for start in range(0, copies * count, count):
            for cell in range(planes.shape[1]):
                stone = stones[row, cell]
                if stone != 0:
                    planes[target, cell, start + (0 if stone == side else 1)] = one
            for back in range(lasts):
                cell = last_moves[row, back]
                if 0 <= cell < planes.shape[1]:
                    planes[target, cell, start + 2 + back] = one
            if colour and side == BLACK:
                for cell in range(planes.shape[1]):
                    planes[target, cell, start + 2 + lasts] = one
