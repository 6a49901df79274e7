"""The board of the prover as arrays, in plain windows of `connect` cells, and the kernels that read it."""

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
FREE = -1
_TABLE_BITS = 18
_OTHER = 8
"""Weight of a white stone in the code of a window: a black one counts 1, so a code tells both counts (5 in a row)."""

kernel = numba.njit(nogil=True)


class Tables(NamedTuple):
    """The board as arrays; `W` windows, `A` cells."""

    windows: NDArray[np.int16]
    """[W, connect] the cells of each window."""
    through: NDArray[np.int16]
    """[A, 20] the windows through each cell; -1 fills the row."""
    codes: NDArray[np.int8]
    """[W] stones of a window: black ones plus `_OTHER` times the white ones."""
    owner: NDArray[np.int8]
    """[A] 0, 1 or `FREE`."""
    keys: NDArray[np.uint64]
    """[2, A + 1] random codes of the stones; the last of each row is that of the side to move."""
    key: NDArray[np.uint64]
    """[1] the key of the position."""
    seen: NDArray[np.uint64]
    """[3, 2^18] keys of positions: fours that do not win, and proven or failed questions with quiet moves."""
    values: NDArray[np.int16]
    """[3, 2^18] the number of fours that do not win; lengths of proofs, 0 for a failure."""
    tried: NDArray[np.int64]
    """[2] fours tried, and their limit."""
    connect: int


@kernel
def put(board: Tables, cell: int, side: int) -> None:
    """Lay a stone of `side`, 0 or 1, on a free cell."""
    board.owner[cell] = side
    _count(board, cell, side, 1 if side == 0 else _OTHER)


@kernel
def take(board: Tables, cell: int) -> None:
    """Take the stone of a cell away."""
    side = board.owner[cell]
    board.owner[cell] = FREE
    _count(board, cell, side, -1 if side == 0 else -_OTHER)


@kernel
def _count(board: Tables, cell: int, side: int, step: int) -> None:
    """Add to the codes of the windows through a cell, and change the key of the position."""
    board.key[0] ^= board.keys[side, cell]
    for window in board.through[cell]:
        if window < 0:
            break
        board.codes[window] += step


@kernel
def mark_completing(board: Tables, side: int, lacking: int, marks: NDArray[np.bool_]) -> int:
    """Mark the free cells of windows of `side` alone that lack `lacking` stones; return their number."""
    target = (board.connect - lacking) * (1 if side == 0 else _OTHER)
    marks[:] = False
    count = 0
    for window in range(board.codes.shape[0]):
        if board.codes[window] == target:
            for cell in board.windows[window]:
                if board.owner[cell] == FREE and not marks[cell]:
                    marks[cell] = True
                    count += 1
    return count


@kernel
def write_fives_through(board: Tables, cell: int, side: int, fives: NDArray[np.int64]) -> int:
    """Write the first two cells that make five in windows through `cell`; return their number, at most 2."""
    target = (board.connect - 1) * (1 if side == 0 else _OTHER)
    count = 0
    for window in board.through[cell]:
        if window < 0:
            break
        if board.codes[window] == target:
            for other in board.windows[window]:
                if board.owner[other] == FREE and (count == 0 or fives[0] != other):
                    fives[count] = other
                    count += 1
                    if count == 2:
                        return 2
    return count


@kernel
def write_promise(board: Tables, side: int, promise: NDArray[np.int32]) -> None:
    """Write for each free cell how much a quiet stone of `side` there could threaten; 0 where it cannot."""
    unit = 1 if side == 0 else _OTHER
    promise[:] = 0
    for window in range(board.codes.shape[0]):
        code = board.codes[window]
        if code == unit or code == 2 * unit:
            for cell in board.windows[window]:
                if board.owner[cell] == FREE:
                    promise[cell] += 1 if code == unit else 8


def new_tables(size: int, connect: int, budget: int) -> Tables:
    """Return an empty board, whose questions may try `budget` fours."""
    reach = connect - 1
    windows = [
        [(row + i * down) * size + column + i * right for i in range(connect)]
        for row in range(size)
        for column in range(size)
        for down, right in DIRECTIONS
        if row + reach * down < size and 0 <= column + reach * right < size
    ]
    through = np.full((size * size, 4 * connect), -1, np.int16)
    for number, window in enumerate(windows):
        for cell in window:
            through[cell, np.argmin(through[cell])] = number
    draw = np.random.default_rng(5)
    return Tables(
        windows=np.array(windows, np.int16),
        through=through,
        codes=np.zeros(len(windows), np.int8),
        owner=np.full(size * size, FREE, np.int8),
        keys=draw.integers(1, 2**63, (2, size * size + 64), np.uint64),
        key=np.zeros(1, np.uint64),
        seen=np.zeros((3, 1 << _TABLE_BITS), np.uint64),
        values=np.zeros((3, 1 << _TABLE_BITS), np.int16),
        tried=np.array([0, budget], np.int64),
        connect=connect,
    )
