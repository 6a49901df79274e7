"""The eight symmetries of a square board, as maps of cell indices."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

SYMMETRIES = 8
IDENTITY = 0


@cache
def targets(size: int) -> NDArray[np.intp]:
    """[8, A] where each cell goes: symmetry `s` carries cell `i` to `targets[s, i]`. Symmetry 0 is the identity."""
    cells = np.arange(size * size).reshape(size, size)
    turned = [np.rot90(cells, quarter) for quarter in range(4)]
    # `sources` of a symmetry lists, for each cell, the one it is filled from; its inverse says where each goes.
    sources = np.stack([view.ravel() for board in turned for view in (board, board[:, ::-1])])
    result = np.argsort(sources, axis=1)
    result.setflags(write=False)
    return result


@cache
def sources(size: int) -> NDArray[np.intp]:
    """[8, A] the inverse of `targets`: under symmetry `s` cell `i` is filled from `sources[s, i]`."""
    result = np.argsort(targets(size), axis=1)
    result.setflags(write=False)
    return result
