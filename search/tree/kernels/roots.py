"""Forced moves and wins at the root, results there, and rerooting."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules, is_legal
from core.compiled.threats import FIVE, side_of
from search.solvers.fives import forced_reply
from search.tree.forest import NEW, NO_NODE, OPEN, PROVEN, WON, Forest
from search.tree.kernels.descent import add_child
from search.tree.kernels.gathering import open_for_one
from search.tree.leaf_tactics import LeafTactics, load_board, winning_move
from search.tree.proofs import prove_parents, proven_value
from search.tree.softmax import prior_of
from search.tree.transpositions import enter_position


@lean_kernel
def prove_root(forest: Forest, tree: int, tactics: LeafTactics) -> None:
    """Search for a forced win of the side to move at the root, and prove the move that begins it.

    Nothing may be in flight. A full tree stays unchanged.
    """
    if forest.nodes[tree, 0]["proof"] != 0:
        return
    board = load_board(tactics.boards, tree, forest.root_stones[tree])
    move, plies = winning_move(board, tactics, side_of(forest.trees[tree]["to_move"]))
    if plies == 0:
        return
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE and forest.nodes[tree, child]["move"] != move:
        child = forest.nodes[tree, child]["next_sibling"]
    if child == NO_NODE:
        if forest.trees[tree]["nodes"] == forest.nodes.shape[1]:
            return
        if forest.nodes[tree, 0]["state"] == NEW:
            open_for_one(forest, tree, 0, move)
            forest.nodes[tree, 0]["state"] = NEW
        child = add_child(forest, tree, 0, move, int(np.int64(forest.trees[tree]["to_move"])))
        forest.nodes[tree, child]["state"] = WON if plies == 1 else PROVEN
    forest.nodes[tree, child]["proof"] = plies
    prove_parents(forest, tree, child)


@lean_kernel
def has_one_reply(forest: Forest, tree: int, tactics: LeafTactics) -> bool:
    """Return True if the opponent threatens five on one cell at the root, and the side to move on none."""
    side = side_of(forest.trees[tree]["to_move"])
    board = load_board(tactics.boards, tree, forest.root_stones[tree])
    return bool(board.counts[side, FIVE] == 0) and forced_reply(board, side)[0] == 1


@lean_kernel
def write_root_moves(
    rules: CompiledRules,
    forest: Forest,
    tree: int,
    visits: NDArray[np.int32],
    proofs: NDArray[np.int16],
    priors: NDArray[np.float32],
) -> None:
    """Write visit counts, proofs as in `NODE` and priors of the root's moves, each [A]; 0 where there are none."""
    visits[:] = 0
    proofs[:] = 0
    priors[:] = 0.0
    stones, to_move = forest.root_stones[tree], forest.trees[tree]["to_move"]
    is_open = forest.nodes[tree, 0]["state"] == OPEN
    child = forest.nodes[tree, 0]["first_child"]
    choices = 0
    while child != NO_NODE:
        choices += 1
        child = forest.nodes[tree, child]["next_sibling"]
    if is_open:
        for cell in range(stones.shape[0]):
            choices += forest.child_priors[tree, 0, cell] >= 0
        for cell in range(stones.shape[0]):
            word = forest.child_priors[tree, 0, cell]
            if word >= 0:
                priors[cell] = prior_of(word)
            elif is_legal(rules, stones, cell, to_move):
                # A legal move without a prior. If the root was opened for a single reply, five answers any other move;
                # if for urgent moves, an open four or two fours.
                proofs[cell] = -2 if choices == 1 else -4
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        edge = forest.nodes[tree, child]
        visits[edge["move"]] = edge["visits"]
        proofs[edge["move"]] = edge["proof"]
        if is_open:
            priors[edge["move"]] = edge["prior"]
        child = edge["next_sibling"]


@lean_kernel
def root_value(forest: Forest, tree: int, decay: float) -> float:
    """Return the root's value for its side to move: its proven value, else the mean over its visited edges.

    Without visited edges it is the root's own evaluation.
    """
    if forest.nodes[tree, 0]["proof"] != 0:
        return -proven_value(forest.nodes[tree, 0]["proof"], decay) / decay
    visits = 0
    total = 0.0
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        visits += forest.nodes[tree, child]["visits"]
        total += forest.nodes[tree, child]["value_sum"]
        child = forest.nodes[tree, child]["next_sibling"]
    return total / visits if visits > 0 else float(forest.nodes[tree, 0]["value"])


@lean_kernel
def reroot(forest: Forest, tree: int, move: int, remap: NDArray[np.int32]) -> bool:
    """Make the child that `move` leads to the root, keep its subtree and free the rest (A IV-D).

    Return False, with the nodes unchanged, if the move has no open node. Nothing may be in flight. `remap` [C] is
    scratch. Children are always newer than their parents, so one forward pass compacts the nodes in place. The tree's
    table of positions must be empty.
    """
    root = forest.nodes[tree, 0]["first_child"]
    while root != NO_NODE and forest.nodes[tree, root]["move"] != move:
        root = forest.nodes[tree, root]["next_sibling"]
    if root == NO_NODE or forest.nodes[tree, root]["state"] != OPEN:
        return False
    for node in range(root):
        remap[node] = NO_NODE
    kept = 0
    for node in range(root, forest.trees[tree]["nodes"]):
        parent = NO_NODE
        if node != root:
            parent = remap[forest.nodes[tree, node]["parent"]]
            if parent == NO_NODE:
                remap[node] = NO_NODE
                continue
        remap[node] = kept
        if kept != node:
            forest.nodes[tree, kept] = forest.nodes[tree, node]
            for cell in range(forest.child_priors.shape[2]):
                forest.child_priors[tree, kept, cell] = forest.child_priors[tree, node, cell]
        moved = forest.nodes[tree, kept]
        moved["parent"] = parent
        moved["first_child"] = NO_NODE
        moved["next_sibling"] = NO_NODE
        enter_position(forest, tree, kept)
        if parent != NO_NODE:
            moved["next_sibling"] = forest.nodes[tree, parent]["first_child"]
            forest.nodes[tree, parent]["first_child"] = kept
        kept += 1
    forest.trees[tree]["nodes"] = kept
    return True
