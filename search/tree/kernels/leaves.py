"""Leaves in flight: their positions, their records, and the queues in which they wait for a batch."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules
from search.tree.forest import Forest, record_type
from search.tree.kernels.puct import SearchParams
from search.tree.softmax import Scratch, make_scratch

LEAF_RECORD = record_type(
    [
        ("key", "i8"),  # Zobrist key of the stones and the side to move
        ("tree", "i4"),
        ("node", "i4"),
        ("row", "i4"),  # the batch row of the leaf's evaluation; several leaves may share one
        ("last_move", "i2"),
        ("move_before", "i2"),
        ("plies", "i2"),  # from the node to the evaluated position
        ("to_move", "i1"),
        ("symmetry", "i1"),  # under which the leaf is evaluated
    ],
    32,
)
"""The record of a leaf in flight."""


class Leaves(NamedTuple):
    """The leaves in flight of `T` trees, up to `L` each: leaves `t * L` to `t * L + L - 1` are those of tree `t`."""

    stones: NDArray[np.int8]
    """[T * L, A] the position at the leaf."""
    records: NDArray[np.void]
    """[T * L] of `LEAF_RECORD`."""
    free: NDArray[np.int32]
    """[T, L] leaves that are not in flight, the next one to use last."""
    waiting: NDArray[np.int32]
    """[T, 2, L] leaves that wait for a batch, the oldest first, in two queues."""
    counts: NDArray[np.int32]
    """[T, 3] leaves in the two queues, and free ones."""
    scratch: Scratch


class Shard(NamedTuple):
    """Some trees of a forest, which one thread descends, with their leaves in flight."""

    forest: Forest
    trees: NDArray[np.int64]
    """[T] their indices in the forest."""
    active: NDArray[np.bool_]
    """[G] True for trees with a search under way."""
    rules: CompiledRules
    params: SearchParams
    leaves: Leaves


FREE = 2
"""Index of the number of free leaves in `Leaves.counts`."""


def make_leaves(trees: int, leaves: int, cells: int) -> Leaves:
    """Return room for `leaves` leaves of each of `trees` trees on boards of `cells` cells."""
    counts = np.zeros((trees, 3), dtype=np.int32)
    counts[:, FREE] = leaves
    return Leaves(
        stones=np.zeros((trees * leaves, cells), dtype=np.int8),
        records=np.zeros(trees * leaves, dtype=LEAF_RECORD),
        free=np.arange(trees * leaves, dtype=np.int32).reshape(trees, leaves)[:, ::-1].copy(),
        waiting=np.zeros((trees, 2, leaves), dtype=np.int32),
        counts=counts,
        scratch=make_scratch(cells, leaves),
    )


@lean_kernel
def free_leaf(leaves: Leaves, leaf: int) -> None:
    """Count a leaf as free."""
    index = leaf // leaves.free.shape[1]
    leaves.free[index, leaves.counts[index, FREE]] = leaf
    leaves.counts[index, FREE] += 1
