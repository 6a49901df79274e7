"""The mentor's transposition table: results of searched positions, for other orders of moves that lead to them.

An entry is a key and one number, in which score, depth, move, bound and generation are packed. A position has two
possible slots. Each search has a generation of its own: `look_up` returns entries of older ones only if they are not
older than its argument, and they are overwritten first.
"""

import numpy as np
from numpy.typing import NDArray

from core.jit import lean_inlined_kernel, lean_kernel
from search.mentor.scores import INFINITY

EXACT, LOWER, UPPER = 1, 2, 3
"""Bounds: the value of a position is the score of its entry; at least the score; at most the score."""

_MOVE_SHIFT, _DEPTH_SHIFT, _SCORE_SHIFT, _GENERATION_SHIFT = 2, 12, 20, 37
GENERATIONS = (1 << 63 - _GENERATION_SHIFT) - 1
"""The last generation that fits; the first is 1."""


@lean_kernel
def look_up(table: NDArray[np.int64], slots: int, oldest: int, key: int) -> int:
    """Return the packed entry of a position, not older than generation `oldest`, or 0.

    `table`: [at least `slots`, 2], of which the first `slots`, a power of two, are used.
    """
    slot = key & (slots - 1)
    for at in (slot, slot ^ 1):
        if table[at, 0] == key and table[at, 1] >> _GENERATION_SHIFT >= oldest:
            return int(table[at, 1])
    return 0


@lean_inlined_kernel
def move_of(entry: int) -> int:
    """Return the best known move, or -1."""
    return (entry >> _MOVE_SHIFT & 1023) - 1


@lean_inlined_kernel
def depth_of(entry: int) -> int:
    """Return the depth to which the position was searched."""
    return entry >> _DEPTH_SHIFT & 255


@lean_inlined_kernel
def score_of(entry: int) -> int:
    """Return the stored score, for the side to move."""
    return (entry >> _SCORE_SHIFT & 0x1FFFF) - INFINITY


@lean_inlined_kernel
def decides(entry: int, score: int, alpha: int, beta: int) -> bool:
    """Return True if an entry with this score settles a position searched between `alpha` and `beta`."""
    bound = entry & 3
    return bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha)


@lean_kernel
def keep(
    table: NDArray[np.int64], slots: int, generation: int, key: int, score: int, depth: int, move: int, bound: int
) -> None:
    """Write an entry over its own older one, over one of an older generation, or over the less deep of two."""
    at = key & (slots - 1)
    if not (table[at, 0] == key and table[at, 1] >> _GENERATION_SHIFT == generation):
        other = at ^ 1
        fresh = table[at, 1] >> _GENERATION_SHIFT == generation
        other_fresh = table[other, 1] >> _GENERATION_SHIFT == generation
        less_deep = depth_of(table[other, 1]) < depth_of(table[at, 1])
        if (other_fresh and table[other, 0] == key) or (fresh and (not other_fresh or less_deep)):
            at = other
    table[at, 0] = key
    table[at, 1] = (
        generation << _GENERATION_SHIFT
        | (score + INFINITY) << _SCORE_SHIFT
        | depth << _DEPTH_SHIFT
        | (move + 1) << _MOVE_SHIFT
        | bound
    )
