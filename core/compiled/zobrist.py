"""Zobrist keys: a position as 63 bits, updated with one exclusive or a move.

Kernels work on int64 throughout, since numba turns mixed signed and unsigned integers into floats.
"""

import numpy as np
from numpy.typing import NDArray

from core.rules import BLACK, MAX_SIZE, WHITE, Colour

_SEED = 0x60_60_60

_words = np.random.Generator(np.random.Philox(key=_SEED)).integers(
    0, 1 << 63, size=(4, MAX_SIZE * MAX_SIZE), dtype=np.int64
)
_words.setflags(write=False)

STONE_KEYS: NDArray[np.int64] = _words[:2]
"""[2, cells] keys of stones: row 0 black, row 1 white."""
LAST_MOVE_KEYS: NDArray[np.int64] = _words[2:]
"""[2, cells] keys of the last move and of the one before it."""
WHITE_TO_MOVE: np.int64 = np.int64(0x5DEECE66D1A2B3C5)


def position_key(stones: NDArray[np.int8], to_move: Colour) -> int:
    """Return the key of stones [A] and the side to move; last moves are no part of it."""
    key = int(WHITE_TO_MOVE) if to_move == WHITE else 0
    for row, colour in enumerate((BLACK, WHITE)):
        for cell in np.flatnonzero(stones == colour):
            key ^= int(STONE_KEYS[row, cell])
    return key
