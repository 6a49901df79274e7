"""The game for kernels: positions as arrays that compiled code reads."""

import numpy as np
from numpy.typing import NDArray

from core.position import Position


def stones_of(position: Position) -> NDArray[np.int8]:
    """Return the stones of a position [A] as an array that shares their memory."""
    return np.frombuffer(position.stones, dtype=np.int8)
