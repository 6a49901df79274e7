"""The forest: many search trees as a struct of arrays, without a Python object a node.

`G` trees of up to `C` nodes on boards of `A` cells. Node 0 of a tree is its root. A node holds the statistics of the
edge into it (A II-C): visit count N, total value W *for the side that moved into it*, prior P. The first descent along
an edge makes its node; until then the edge is only a prior in its parent's row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.line_nets.arrays import CACHE_LINE, aligned_empty
from core.compiled.zobrist import position_key
from core.position import Position
from core.rules import EMPTY, NO_CELL, Rules

NO_NODE = -1
"""The parent of the root, and the end of a list of children."""

# States of a node.
NEW = 0
"""Neither evaluated nor in flight: a fresh root."""
PENDING = 1
"""A leaf in flight, which waits for its evaluation (the expanding list of A II-E)."""
OPEN = 2
"""Its children may be visited: an evaluation gave their priors, or there is a single reply."""
WON = 3
"""An end of the game: the move into it made a line."""
DRAWN = 4
"""An end of the game: the board is full."""
PROVEN = 5
"""Proven by its threats before the end of the game (`search.tree.leaf_tactics`); it needs no evaluation."""

_MAX_PLACES = 4
"""Places of a tree's table of positions for each node, at most."""

MAX_UNSPREAD = 64
"""Proofs of nodes with the same position that wait to be carried up; more are left to be found again."""


def record_type(fields: list[tuple[str, str]], size: int) -> np.dtype[np.void]:
    """Return a record of `size` bytes with the fields one after the other, the widest first so that all are aligned."""
    names, formats = zip(*fields, strict=True)
    return np.dtype({"names": list(names), "formats": list(formats), "itemsize": size})


NODE = record_type(
    [
        ("value_sum", "f8"),  # W of the edge into the node, for the side that moved into it
        ("squares_sum", "f8"),  # the sum of the squares of the values that are summed in W
        ("key", "i8"),  # Zobrist key of the stones and the side to move
        ("visits", "i4"),  # N of the edge into the node; descents in flight are not in it
        ("in_flight", "i4"),  # descents through the edge that are not backed up yet: one virtual loss each
        ("prior", "f4"),  # P of the edge into the node
        ("value", "f4"),  # the evaluator's own value of the node, for the side to move there
        ("parent", "i4"),  # NO_NODE for the root
        ("first_child", "i4"),  # the newest visited child, or NO_NODE
        ("next_sibling", "i4"),  # the next older visited child of the same parent, or NO_NODE
        ("next_twin", "i4"),  # another node with the same position (`search.tree.transpositions`), or NO_NODE
        ("move", "i2"),  # the move that leads into the node
        ("next_unvisited", "i2"),  # the unvisited legal move with the largest prior, or NO_CELL
        # The proof of the edge into the node: n wins for the side that moved, -n loses for it, where the game ends
        # n plies after the position before the move; 0 without a proof.
        ("proof", "i2"),
        ("state", "i1"),
        ("has_value", "i1"),  # 1 if `value` is the evaluator's: not before, nor where a single reply opened the node
    ],
    CACHE_LINE,
)
"""A node: one line of the processor's cache, so that a descent waits for memory once a child."""

TREE = record_type(
    [
        ("key", "i8"),  # Zobrist key of the root's stones and side to move
        ("simulations", "i8"),  # started since the forest was made
        ("random_key", "i8"),  # 32 bits: the tree's stream of random numbers (`search.tree.noise`)
        ("draws", "i8"),  # numbers drawn from it
        ("leaf_depths", "i8"),  # plies from the root to the leaves reached since the root was set, added up
        ("leaves", "i4"),  # the number of these leaves
        ("nodes", "i4"),  # nodes in use
        ("simulations_left", "i4"),  # simulations not started yet
        ("noise_share", "f4"),  # share of noise, mixed into the root's priors after its evaluation; 0 for none
        ("node_noise_share", "f4"),  # share of the noise drawn anew at every selection; 0 for none
        ("node_noise_alpha", "f4"),  # its concentration
        ("last_move", "i2"),  # the move that led to the root position
        ("move_before", "i2"),  # the one before that
        ("to_move", "i1"),  # at the root
    ],
    80,
)
"""The record of a tree."""


class Forest(NamedTuple):
    """The arrays of all trees. The system provides their memory as nodes fill it.

    They hold records instead of one array a field, because each array more costs every kernel call some time.
    """

    nodes: NDArray[np.void]
    """[G, C] of `NODE`."""
    trees: NDArray[np.void]
    """[G] of `TREE`."""
    child_priors: NDArray[np.int16]
    """[G, C, A] P of the unvisited moves as words (`search.tree.softmax`); -1 elsewhere."""
    root_stones: NDArray[np.int8]
    """[G, A] the position at the root."""
    noise: NDArray[np.float32]
    """[G, A] the noise for the root's priors, or that of the last selection."""
    twins: NDArray[np.int32]
    """[G, T] the first node with a position, at the place that the key names; T is 0 without transpositions."""
    unspread: NDArray[np.int32]
    """[G, `MAX_UNSPREAD`] scratch: nodes whose new proof is still to be carried up."""

    @property
    def capacity(self) -> int:
        """Nodes a tree has room for."""
        return int(self.nodes.shape[1])

    @property
    def cells(self) -> int:
        """Cells of the board."""
        return int(self.root_stones.shape[1])


def make_forest(trees: int, capacity: int, cells: int, *, transpositions: bool = False) -> Forest:
    """Return room for `trees` trees of `capacity` nodes on boards of `cells` cells; every root is blank.

    With `transpositions` a tree knows which of its nodes have the same position.
    """
    return Forest(
        nodes=aligned_empty((trees, capacity), NODE),  # [G, C]
        trees=np.zeros(trees, dtype=TREE),  # [G]
        child_priors=np.empty((trees, capacity, cells), dtype=np.int16),  # [G, C, A]
        root_stones=np.full((trees, cells), EMPTY, dtype=np.int8),  # [G, A]
        noise=np.zeros((trees, cells), dtype=np.float32),  # [G, A]
        twins=np.full((trees, table_size(capacity) if transpositions else 0), NO_NODE, dtype=np.int32),  # [G, T]
        unspread=np.zeros((trees, MAX_UNSPREAD), dtype=np.int32),
    )


def table_size(capacity: int) -> int:
    """Return the places for the positions of `capacity` nodes: a power of two, twice to four times as many."""
    return 2 << max(0, capacity - 1).bit_length()


def set_root(forest: Forest, tree: int, position: Position) -> None:
    """Make `tree` a lone fresh root at `position`. Raises `ValueError` if the game is over."""
    if position.is_game_over():
        raise ValueError("a finished game cannot be searched")
    stones = stones_of(position)
    forest.root_stones[tree] = stones
    root = forest.trees[tree]
    root["to_move"] = position.side_to_move
    root["last_move"], root["move_before"] = position.last_moves
    root["key"] = position_key(stones, position.side_to_move)
    reset_tree(forest, tree)


def reset_tree(forest: Forest, tree: int) -> None:
    """Drop all nodes of a tree but a fresh root at the same position."""
    forget_positions(forest, tree)
    root = forest.nodes[tree, 0]
    for name in ("value_sum", "squares_sum", "visits", "in_flight", "value", "has_value", "proof"):
        root[name] = 0
    root["prior"] = 1.0
    root["key"] = forest.trees[tree]["key"]
    root["parent"] = root["first_child"] = root["next_sibling"] = root["next_twin"] = NO_NODE
    root["move"] = root["next_unvisited"] = NO_CELL
    root["state"] = NEW
    for name in ("leaf_depths", "leaves", "simulations_left", "noise_share"):
        forest.trees[tree][name] = 0
    forest.trees[tree]["nodes"] = 1


def forget_positions(forest: Forest, tree: int) -> None:
    """Remove all nodes of a tree from its table of positions."""
    if places := forest.twins.shape[1]:
        keys = forest.nodes["key"][tree, : forest.trees["nodes"][tree]]
        forest.twins[tree, keys & (places - 1)] = NO_NODE


def bytes_per_node(rules: Rules, *, transpositions: bool = False) -> int:
    """Return the memory of one node, the maximum of one simulation."""
    places = _MAX_PLACES * np.dtype(np.int32).itemsize if transpositions else 0
    return NODE.itemsize + rules.cells * np.dtype(np.int16).itemsize + places
