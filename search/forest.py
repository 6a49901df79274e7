"""Many search trees side by side, as arrays: no Python object a node.

`G` trees of up to `C` nodes on boards of `A` cells. Node 0 of a tree is its root. A node holds the statistics of the
edge that leads into it (A II-C): visit count N, total value W *for the side that moved into it*, prior P. Nodes are
made when an edge is first taken; edges never taken are only a prior in their parent's row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import EMPTY, NO_CELL, Rules

NO_NODE = -1

# States of a node.
NEW = 0
"""Never judged and not in flight: a fresh root."""
PENDING = 1
"""A leaf in flight: it waits for its evaluation (the expanding list of A II-E)."""
OPEN = 2
"""Judged: its priors are known and its children may be visited."""
WON = 3
"""An end of game: the move into it made a line."""
DRAWN = 4
"""An end of game: the board is full."""


class Forest(NamedTuple):
    """The arrays of all trees. Memory is reserved here and taken by the system as nodes fill it."""

    parent: NDArray[np.int32]
    """[G, C] `NO_NODE` for the root."""
    move: NDArray[np.int16]
    """[G, C] the move that leads into the node."""
    first_child: NDArray[np.int32]
    """[G, C] the newest visited child, or `NO_NODE`."""
    next_sibling: NDArray[np.int32]
    """[G, C] the next older visited child of the same parent, or `NO_NODE`."""
    next_unvisited: NDArray[np.int16]
    """[G, C] the unvisited legal move with the largest prior, or `NO_CELL`."""
    state: NDArray[np.int8]
    """[G, C]"""
    visits: NDArray[np.int32]
    """[G, C] N of the edge into the node; descents in flight are not in it."""
    in_flight: NDArray[np.int32]
    """[G, C] descents that passed the edge and are not backed up yet: each weighs one virtual loss."""
    value_sum: NDArray[np.float64]
    """[G, C] W of the edge into the node, for the side that moved into it."""
    prior: NDArray[np.float32]
    """[G, C] P of the edge into the node."""
    value: NDArray[np.float32]
    """[G, C] the evaluator's own value of the node, for the side to move there."""
    child_priors: NDArray[np.float32]
    """[G, C, A] P of the unvisited moves; -1 for occupied cells and for moves that became nodes."""
    nodes: NDArray[np.int32]
    """[G] nodes in use."""
    simulations_left: NDArray[np.int32]
    """[G] simulations still to be started."""
    root_stones: NDArray[np.int8]
    """[G, A]"""
    root_to_move: NDArray[np.int8]
    """[G]"""
    root_last_moves: NDArray[np.int16]
    """[G, 2]"""
    root_noise: NDArray[np.float32]
    """[G, A] noise to mix into the root's priors once they are known."""
    root_noise_share: NDArray[np.float32]
    """[G] its share; 0 for none."""

    @property
    def capacity(self) -> int:
        """Nodes a tree has room for."""
        return int(self.parent.shape[1])


def make_forest(trees: int, capacity: int, cells: int) -> Forest:
    """Room for `trees` trees of `capacity` nodes on boards of `cells` cells; every root is blank."""
    nodes = (trees, capacity)
    return Forest(
        parent=np.empty(nodes, dtype=np.int32),
        move=np.empty(nodes, dtype=np.int16),
        first_child=np.empty(nodes, dtype=np.int32),
        next_sibling=np.empty(nodes, dtype=np.int32),
        next_unvisited=np.empty(nodes, dtype=np.int16),
        state=np.empty(nodes, dtype=np.int8),
        visits=np.empty(nodes, dtype=np.int32),
        in_flight=np.empty(nodes, dtype=np.int32),
        value_sum=np.empty(nodes, dtype=np.float64),
        prior=np.empty(nodes, dtype=np.float32),
        value=np.empty(nodes, dtype=np.float32),
        child_priors=np.empty((trees, capacity, cells), dtype=np.float32),
        nodes=np.zeros(trees, dtype=np.int32),
        simulations_left=np.zeros(trees, dtype=np.int32),
        root_stones=np.full((trees, cells), EMPTY, dtype=np.int8),
        root_to_move=np.ones(trees, dtype=np.int8),
        root_last_moves=np.full((trees, 2), NO_CELL, dtype=np.int16),
        root_noise=np.zeros((trees, cells), dtype=np.float32),
        root_noise_share=np.zeros(trees, dtype=np.float32),
    )


def plant(forest: Forest, tree: int, position: Position) -> None:
    """Makes `tree` a lone fresh root at `position`, which must not be over."""
    if position.is_game_over():
        raise ValueError("a finished game cannot be searched")
    forest.root_stones[tree] = position.stones
    forest.root_to_move[tree] = position.side_to_move
    forest.root_last_moves[tree] = position.last_moves
    clear(forest, tree)


def clear(forest: Forest, tree: int) -> None:
    """Forgets all that was searched from the tree's root position."""
    forest.parent[tree, 0] = NO_NODE
    forest.move[tree, 0] = NO_CELL
    forest.first_child[tree, 0] = NO_NODE
    forest.next_sibling[tree, 0] = NO_NODE
    forest.next_unvisited[tree, 0] = NO_CELL
    forest.state[tree, 0] = NEW
    forest.visits[tree, 0] = 0
    forest.in_flight[tree, 0] = 0
    forest.value_sum[tree, 0] = 0.0
    forest.prior[tree, 0] = 1.0
    forest.value[tree, 0] = 0.0
    forest.nodes[tree] = 1
    forest.simulations_left[tree] = 0
    forest.root_noise_share[tree] = 0.0


def bytes_per_node(rules: Rules) -> int:
    """Memory of one node, which is that of one simulation at most."""
    forest = make_forest(1, 1, rules.cells)
    return sum(array.nbytes for array in forest if array.ndim >= 2 and array.shape[1] == 1)
