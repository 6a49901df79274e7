"""The mentor's transposition table: results of searched positions, for other orders of moves that lead to them.

An entry is two numbers: in the second, score, depth, move, bound and generation are packed; the first is the key of
the position, combined with the second by exclusive or. So threads share a table without locks: an entry whose numbers
two threads wrote belongs to no position, and nobody finds it (Hyatt and Mann, "A lock-less transposition table
implementation for parallel search", 2002). A position has two possible slots. Each search has a generation of its own:
entries of older ones count only if they are not older than the argument `oldest`, and they are overwritten first.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from search.mentor.scores import INFINITY, PROVEN

EXACT, LOWER, UPPER = 1, 2, 3
"""Bounds: the value of a position is the score of its entry; at least the score; at most the score."""

_MOVE_SHIFT, _DEPTH_SHIFT, _SCORE_SHIFT, _GENERATION_SHIFT = 2, 12, 20, 37
GENERATIONS = (1 << 63 - _GENERATION_SHIFT) - 1
"""The last generation that fits; the first is 1."""
_WITHOUT_GENERATION = (1 << _GENERATION_SHIFT) - 1
_NEARLY_AS_DEEP = 2
"""Plies by which a bound may be less deep than the entry that it replaces."""


class Entries(NamedTuple):
    """The part of a table that a search uses."""

    table: NDArray[np.int64]
    """[at least `slots`, 2]"""
    slots: int
    """The first ones, a power of two."""
    generation: int
    """Of the search."""
    oldest: int
    """The oldest generation of which entries are used."""


@lean_kernel
def look_up(entries: Entries, key: int) -> int:
    """Return the packed entry of a position, or 0."""
    table, slot = entries.table, key & (entries.slots - 1)
    for at in (slot, slot ^ 1):
        entry = int(table[at, 1])
        if table[at, 0] ^ entry == key and entry >> _GENERATION_SHIFT >= entries.oldest:
            return entry
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
def keep(entries: Entries, key: int, score: int, depth: int, move: int, bound: int) -> None:
    """Write an entry over the older one of its position, one of an older generation, or the less deep of two.

    An entry without a move keeps the older one's. Where entries of earlier searches count, a bound leaves a much deeper
    entry of its position as it is, except that it belongs to this generation now.
    """
    table, slots, generation, oldest = entries
    at = key & (slots - 1)
    other = at ^ 1
    here, there = int(table[at, 1]), int(table[other, 1])
    known = 0
    if table[at, 0] ^ here == key and here >> _GENERATION_SHIFT >= oldest:
        known = here
    elif table[other, 0] ^ there == key and there >> _GENERATION_SHIFT >= oldest:
        known, at = there, other
    else:
        fresh = here >> _GENERATION_SHIFT == generation
        other_fresh = there >> _GENERATION_SHIFT == generation
        if fresh and (not other_fresh or depth_of(there) < depth_of(here)):
            at = other
    if known != 0:
        if move < 0:
            move = move_of(known)
        much_deeper = depth_of(known) > depth + _NEARLY_AS_DEEP
        if much_deeper and bound != EXACT and abs(score) < PROVEN and oldest < generation:
            entry = known & _WITHOUT_GENERATION | generation << _GENERATION_SHIFT
            table[at, 0], table[at, 1] = key ^ entry, entry
            return
    entry = (
        generation << _GENERATION_SHIFT
        | (score + INFINITY) << _SCORE_SHIFT
        | depth << _DEPTH_SHIFT
        | (move + 1) << _MOVE_SHIFT
        | bound
    )
    table[at, 0], table[at, 1] = key ^ entry, entry
