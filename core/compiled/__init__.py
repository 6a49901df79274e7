"""The game for kernels: positions as arrays that compiled code reads."""

from typing import TYPE_CHECKING

from core.position import Position

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def stones_of(position: Position) -> "NDArray[np.int8]":
    """Return the stones of a position [A] as an array that shares their memory."""
    import numpy as np  # not above: options of the command line import this folder, and `--help` needs no numpy

    return np.frombuffer(position.stones, dtype=np.int8)
