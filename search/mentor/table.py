"""The mentor's transposition table: what was found out about positions, so that another order of moves finds it there.

An entry is a key and one number, in which score, depth, move, bound and generation are packed. A position has two slots
to be in. Each search has a generation of its own: entries of older ones are looked at only where that is asked for, and
are written over first.
"""

import numpy as np
from numpy.typing import NDArray

from core.jit import lean_inlined_kernel, lean_kernel
from search.mentor.scores import INFINITY

EXACT, LOWER, UPPER = 1, 2, 3
"""How the value of a position stands to the score of its entry: it is that, that or more, that or less."""

_MOVE_SHIFT, _DEPTH_SHIFT, _SCORE_SHIFT, _GENERATION_SHIFT = 2, 12, 20, 37
GENERATIONS = (1 << 63 - _GENERATION_SHIFT) - 1
"""The last generation there is room for; the first is 1."""


@lean_kernel
def look_up(table: NDArray[np.int64], slots: int, oldest: int, key: int) -> int:
    """The packed entry of a position, not older than that generation, or 0.

    `table`: [at least `slots`, 2], of which the first `slots`, a power of two, are used.
    """
    slot = key & (slots - 1)
    for at in (slot, slot ^ 1):
        if table[at, 0] == key and table[at, 1] >> _GENERATION_SHIFT >= oldest:
            return int(table[at, 1])
    return 0


@lean_inlined_kernel
def move_of(entry: int) -> int:
    """The best move that is known, or -1."""
    return (entry >> _MOVE_SHIFT & 1023) - 1


@lean_inlined_kernel
def depth_of(entry: int) -> int:
    """How deep the position was searched."""
    return entry >> _DEPTH_SHIFT & 255


@lean_inlined_kernel
def score_of(entry: int) -> int:
    """The score, for the side to move, as it was kept."""
    return (entry >> _SCORE_SHIFT & 0x1FFFF) - INFINITY


@lean_inlined_kernel
def decides(entry: int, score: int, alpha: int, beta: int) -> bool:
    """Whether an entry with this score says enough of a position that is searched between `alpha` and `beta`."""
    bound = entry & 3
    return bound == EXACT or (bound == LOWER and score >= beta) or (bound == UPPER and score <= alpha)


@lean_kernel
def keep(
    table: NDArray[np.int64], slots: int, generation: int, key: int, score: int, depth: int, move: int, bound: int
) -> None:
    """Writes an entry over its own older one, a forgotten one, or the less deep of two."""
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
