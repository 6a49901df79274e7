"""Arrays that begin where a line of the processor's cache does."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64
"""Bytes."""


def aligned_empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array with any content whose first byte is the first of a cache line.

    Rows of a whole number of lines, or of half of one, are then never spread over one line more than they need.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(size + CACHE_LINE, dtype=np.uint8)
    first = -raw.ctypes.data % CACHE_LINE
    return raw[first : first + size].view(dtype).reshape(shape)


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros that begins where a cache line does."""
    array = aligned_empty(shape, dtype)
    array[...] = 0
    return array
