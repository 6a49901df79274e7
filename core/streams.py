"""Random streams that depend on their purpose, never on threads or order.

The key of a stream is a seed with the game, the ply and the purpose. Two runs with the same seed draw the same numbers,
whatever else the process does.
"""

from enum import IntEnum

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

_MASK = (1 << 64) - 1


class Purpose(IntEnum):
    """The purpose of a stream, so that two uses of one seed, game and ply never share numbers."""

    OPENING = 1
    NOISE = 2
    MOVE = 3
    ROLLOUT = 4
    SYMMETRY = 5
    SHUFFLE = 6
    BASICS = 7
    MENTOR = 8
    INITIAL_WEIGHTS = 9
    GATE = 10
    SEARCH = 11
    FULL_SEARCH = 12


def stream_key(seed: int, *keys: int) -> int:
    """Return a 64-bit key mixed (splitmix64) from a seed and any number of integers in their order."""
    state = 0
    # The seed is mixed like a key: if it were only added to the first one, seed 1 with game 2 would equal seed 2 with
    # game 1. `int`, because numpy's integers overflow at the mask.
    for key in (seed, *keys, len(keys)):
        state = (state + 0x9E3779B97F4A7C15 + (int(key) & _MASK)) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


class _Key(ISeedSequence):
    """A key of Philox. Given as `key`, numpy would first ask the system for random numbers that nobody uses."""

    def __init__(self, key: int) -> None:
        self._words = np.array([key, 0], dtype=np.uint64)

    def generate_state(self, n_words: int, dtype: object = np.uint64) -> NDArray[np.uint64]:
        return self._words


def generator(seed: int, *keys: int) -> np.random.Generator:
    """Return numpy's generator over the counter-based stream of `stream_key(seed, *keys)`."""
    # Its types know no other sources of a state than their own.
    return np.random.Generator(np.random.Philox(_Key(stream_key(seed, *keys))))  # type: ignore[arg-type]
