"""The game for kernels: positions as arrays that compiled code reads."""

from typing import TYPE_CHECKING

from core.position import Position

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def stones_of(position: Position) -> "NDArray[np.int8]":
    """Return the stones of a position [A] as an array that shares their memory."""
    import numpy as np  # the configuration of nets reads sizes from this package, and the screen needs no numpy

    return np.frombuffer(position.stones, dtype=np.int8)


def legal_moves_of(position: Position) -> "NDArray[np.bool_]":
    """Return the mask [A] of the legal moves of a position."""
    import numpy as np

    legal = np.zeros(position.rules.cells, dtype=np.bool_)
    legal[position.legal_moves()] = True
    return legal


def near_stones(position: Position, reach: int) -> "NDArray[np.bool_]":
    """Return the mask [A] of the cells at most `reach` rows and columns away from a stone."""
    import numpy as np

    size, window = position.rules.size, 2 * reach + 1
    board = np.pad((stones_of(position) != 0).reshape(size, size), reach)
    near: NDArray[np.bool_] = np.lib.stride_tricks.sliding_window_view(board, (window, window)).max(axis=(2, 3))
    return near.ravel()
