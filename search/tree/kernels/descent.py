"""Descents from the root to a leaf, with one virtual loss on every node of the path."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules, has_moves, wins, write_legal
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.rules import BLACK, NO_CELL
from search.tree.forest import DRAWN, NEW, NO_NODE, OPEN, PENDING, WON, Forest
from search.tree.kernels.puct import SearchParams, draw_noise, select
from search.tree.noise import random_share
from search.tree.proofs import prove_parents
from search.tree.softmax import Scratch, prior_of, scan_best
from search.tree.transpositions import enter_position, take_from_twin

# Ends of a descent.
LEAF = 0
"""A leaf that needs an evaluation, now pending."""
END = 1
"""An end of game, or a node proven by its threats."""
COLLISION = 2
"""A leaf that was pending already."""
FULL = 3
"""An edge without a node in a tree without room for one."""
REVISIT = 4
"""An open node at which a local playout ends: its evaluation is backed up again."""
TWIN = 5
"""A leaf that took priors and value of another node with the same position."""


class Descent(NamedTuple):
    """The end of a descent and the position there; the stones are written elsewhere."""

    end: int
    """`LEAF`, `END`, `COLLISION`, `FULL`, `REVISIT` or `TWIN`."""
    node: int
    to_move: int
    last_move: int
    move_before: int
    key: int
    """Zobrist key of the stones and the side to move."""


_NO_LIMIT = 1 << 30
"""More plies than any descent has."""


@lean_kernel
def descend(
    forest: Forest, tree: int, stones: NDArray[np.int8], rules: CompiledRules, params: SearchParams, scratch: Scratch
) -> Descent:
    """Descend once from the root, with one virtual loss more on every node of the path, the root included.

    Overwrites `stones` [A] with the position at the node.
    """
    for cell in range(stones.shape[0]):
        stones[cell] = forest.root_stones[tree, cell]
    # Integers of one width, since numba does not unify named tuples.
    to_move = int(np.int64(forest.trees[tree]["to_move"]))
    last, before = int(np.int64(forest.trees[tree]["last_move"])), int(np.int64(forest.trees[tree]["move_before"]))
    key = forest.trees[tree]["key"]
    draws_noise = forest.trees[tree]["node_noise_share"] > 0.0
    deepest = local_depth(forest, tree, params) if params.local_playouts > 0.0 else _NO_LIMIT
    node, depth = 0, 0
    forest.nodes[tree, 0]["in_flight"] += 1
    while True:
        state = forest.nodes[tree, node]["state"]
        if state != OPEN:
            if state == NEW:
                if node != 0 and take_from_twin(forest, tree, node):
                    if forest.nodes[tree, node]["proof"] != 0:
                        prove_parents(forest, tree, node)
                    end = TWIN
                else:
                    forest.nodes[tree, node]["state"] = PENDING
                    end = LEAF
            else:
                end = COLLISION if state == PENDING else END
            break
        if depth >= deepest and forest.nodes[tree, node]["has_value"] != 0:
            end = REVISIT
            break
        if draws_noise:
            write_legal(rules, stones, to_move, scratch.legal, scratch.exponents)
            draw_noise(forest, tree, scratch.legal, scratch)
            child, move = select(forest, tree, node, params, forest.noise[tree])
        else:
            child, move = select(forest, tree, node, params, None)
        if child == NO_NODE:
            if forest.trees[tree]["nodes"] == forest.nodes.shape[1]:
                end = FULL
                break
            child = add_child(forest, tree, node, move, to_move)
            stones[move] = to_move
            if wins(rules, stones, move):
                forest.nodes[tree, child]["state"] = WON
                if params.proofs:
                    forest.nodes[tree, child]["proof"] = 1
                    prove_parents(forest, tree, child)
            elif (
                rules.has_fouls is not None or forest.nodes[tree, node]["next_unvisited"] == NO_CELL
            ) and not has_moves(rules, stones, -to_move):
                forest.nodes[tree, child]["state"] = DRAWN
        else:
            stones[move] = to_move
        key ^= STONE_KEYS[0 if to_move == BLACK else 1, move] ^ WHITE_TO_MOVE
        node = child
        depth += 1
        forest.nodes[tree, node]["in_flight"] += 1
        to_move = -to_move
        last, before = move, last
    if params.local_playouts > 0.0 and end in (LEAF, END, TWIN):
        forest.trees[tree]["leaf_depths"] += depth
        forest.trees[tree]["leaves"] += 1
    return Descent(end, node, to_move, last, before, key)


@lean_kernel
def local_depth(forest: Forest, tree: int, params: SearchParams) -> int:
    """Draw if the next descent is a local playout; return the ply at which it ends, `_NO_LIMIT` for a full one.

    That is half the mean depth of the leaves that descents from this root have reached, rounded up, at least 1.
    """
    root = forest.trees[tree]
    is_local = random_share(root["random_key"], root["draws"]) < params.local_playouts
    root["draws"] += 1
    if not is_local:
        return _NO_LIMIT
    return int(max(1, math.ceil(root["leaf_depths"] / (2.0 * max(1, root["leaves"])))))


@lean_kernel
def add_child(forest: Forest, tree: int, node: int, move: int, to_move: int) -> int:
    """Make the node of a move of the side `to_move` without one and return it; the tree must have room."""
    child: int = forest.trees[tree]["nodes"]
    forest.trees[tree]["nodes"] = child + 1
    priors = forest.child_priors[tree, node]
    parent = forest.nodes[tree, node]
    edge = forest.nodes[tree, child]
    edge["value_sum"] = 0.0
    edge["squares_sum"] = 0.0
    edge["key"] = parent["key"] ^ STONE_KEYS[0 if to_move == BLACK else 1, move] ^ WHITE_TO_MOVE
    edge["visits"] = 0
    edge["in_flight"] = 0
    edge["prior"] = prior_of(priors[move])
    edge["value"] = 0.0
    edge["parent"] = node
    edge["first_child"] = NO_NODE
    edge["next_sibling"] = parent["first_child"]
    edge["move"] = move
    edge["next_unvisited"] = NO_CELL
    edge["proof"] = 0
    edge["state"] = NEW
    edge["has_value"] = 0
    parent["first_child"] = child
    priors[move] = -1
    parent["next_unvisited"] = scan_best(priors)
    enter_position(forest, tree, child)
    return child
