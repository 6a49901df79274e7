"""The eight symmetries of a square board, as maps of cell indices."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

SYMMETRIES = 8
IDENTITY = 0
"""The symmetry that leaves every cell in its place."""


@cache
def targets(size: int) -> NDArray[np.intp]:
    """Return the targets of all cells [8, A]: symmetry `s` carries cell `i` to `targets[s, i]`."""
    cells = np.arange(size * size).reshape(size, size)
    turned = [np.rot90(cells, quarter) for quarter in range(4)]
    # `sources` of a symmetry lists the origin of each cell; the inverse lists the targets.
    sources = np.stack([view.ravel() for board in turned for view in (board, board[:, ::-1])])
    result = np.argsort(sources, axis=1)
    result.setflags(write=False)
    return result


@cache
def sources(size: int) -> NDArray[np.intp]:
    """Return the inverse of `targets` [8, A]: under symmetry `s` cell `i` is filled from `sources[s, i]`."""
    result = np.argsort(targets(size), axis=1)
    result.setflags(write=False)
    return result
