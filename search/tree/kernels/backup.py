"""Back up values, and undo virtual loss."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from search.tree.forest import NEW, NO_NODE, Forest
from search.tree.kernels.leaves import Leaves, free_leaf
from search.tree.kernels.puct import SearchParams
from search.tree.proofs import proven_value


@lean_kernel
def value_into(value: float, params: SearchParams) -> float:
    """Return the value of the edge into a node, for the side that moved, by the evaluator's `value` of the node."""
    return -value if params.repository else -params.decay * value


@lean_kernel
def back_up(forest: Forest, tree: int, node: int, edge_value: float, decay: float) -> None:
    """End a descent with a value and take its virtual losses off (A II-E).

    The edge into `node` gets `edge_value`, each edge above `-decay` times the value of the edge below, up to the root.
    An edge with a proof gets its proven value instead.
    """
    while node != NO_NODE:
        edge = forest.nodes[tree, node]
        if edge["proof"] != 0:
            edge_value = proven_value(edge["proof"], decay)
        edge["visits"] += 1
        edge["value_sum"] += edge_value
        edge["squares_sum"] += edge_value * edge_value
        edge["in_flight"] -= 1
        edge_value = -decay * edge_value
        node = edge["parent"]


@lean_kernel
def release(forest: Forest, tree: int, node: int) -> None:
    """End a descent without a value: take its virtual losses off and leave nothing else behind."""
    while node != NO_NODE:
        forest.nodes[tree, node]["in_flight"] -= 1
        node = forest.nodes[tree, node]["parent"]


@lean_kernel
def abandon(forest: Forest, leaves: Leaves, members: NDArray[np.int32]) -> None:
    """Make the `members` of a batch new again, without their virtual losses, after a failed evaluation."""
    for leaf in members:
        tree, node = leaves.records[leaf]["tree"], leaves.records[leaf]["node"]
        forest.nodes[tree, node]["state"] = NEW
        release(forest, tree, node)
        free_leaf(leaves, leaf)


@lean_kernel
def abandon_waiting(forest: Forest, leaves: Leaves) -> None:
    """Make all leaves that wait for a batch new again, without their virtual losses."""
    for index in range(leaves.counts.shape[0]):
        for queue in range(2):
            abandon(forest, leaves, leaves.waiting[index, queue, : leaves.counts[index, queue]])
            leaves.counts[index, queue] = 0
