"""Evaluations into nodes: priors over the legal moves, with the noise of the root, and values."""

import math

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules, write_legal
from core.compiled.symmetry import IDENTITY
from search.tree.forest import NEW, NO_NODE, OPEN, Forest
from search.tree.kernels.backup import back_up, release, value_into
from search.tree.kernels.leaves import Shard, free_leaf
from search.tree.kernels.puct import SearchParams
from search.tree.leaf_tactics import LeafTactics, others_lose
from search.tree.softmax import Scratch, prior_of, scan_best, word_of, write_priors

_NOT_URGENT = np.float32(4.0)
"""Reduction of the logits of moves that are not urgent where others are: it divides their priors by 55."""
_LOST = np.float32(80.0)
"""The same where such moves lose for certain: it leaves them no prior."""


@lean_kernel
def expand(
    shard: Shard,
    members: NDArray[np.int32],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    images: NDArray[np.int64],
    tactics: LeafTactics | None,
) -> bool:
    """Open the `members` of a batch with their evaluations and back them up, which takes their virtual losses off.

    `logits` [B, A] and `values` [B], for the side to move, are indexed by the leaves' rows; `images` [8, A] is the cell
    to which each symmetry carries a cell; `tactics` is that of `gather`. Return False if an evaluation is not finite;
    its leaf becomes new again, without its virtual losses.
    """
    forest, _, _, rules, params, leaves = shard
    whole = True
    cells, scratch = leaves.stones.shape[1], leaves.scratch
    turned = scratch.numbers[0]
    for leaf in members:
        record = leaves.records[leaf]
        tree, node, row, symmetry = record["tree"], record["node"], record["row"], record["symmetry"]
        if record["plies"] > 0:
            whole = back_up_deep(forest, tree, node, record["plies"], float(values[row]), params) and whole
            free_leaf(leaves, leaf)
            continue
        policy = logits[row]
        if symmetry != IDENTITY:
            for cell in range(cells):
                turned[cell] = policy[images[symmetry, cell]]
            policy = turned
        is_urgent = tactics is not None and tactics.has_urgent[leaf]
        if tactics is not None and is_urgent:
            least = _LOST if others_lose(rules, record["to_move"]) else _NOT_URGENT
            for cell in range(cells):
                turned[cell] = policy[cell] - (least if tactics.urgent[leaf, cell] == 0 else np.float32(0.0))
            policy = turned
        value = float(values[row])
        if open_node(forest, tree, node, leaves.stones[leaf], record["to_move"], rules, policy, value, scratch):
            if tactics is not None and is_urgent and others_lose(rules, record["to_move"]):
                leave_urgent(forest, tree, node, tactics.urgent[leaf])
            back_up(forest, tree, node, value_into(value, params), params.decay)
        else:
            forest.nodes[tree, node]["state"] = NEW
            release(forest, tree, node)
            whole = False
        free_leaf(leaves, leaf)
    return whole


@lean_kernel
def leave_urgent(forest: Forest, tree: int, node: int, urgent: NDArray[np.int8]) -> None:
    """Take the priors of all moves but the `urgent` ones [A] off a node: it is lost once these are.

    A node with less than two legal ones, as some in renju, keeps its priors.
    """
    row = forest.child_priors[tree, node]
    left = 0
    for cell in range(row.shape[0]):
        left += row[cell] >= 0 and urgent[cell] != 0
    if left < 2:
        return
    for cell in range(row.shape[0]):
        row[cell] = row[cell] if urgent[cell] != 0 else np.int16(-1)
    forest.nodes[tree, node]["next_unvisited"] = scan_best(row)


@lean_kernel
def back_up_deep(forest: Forest, tree: int, node: int, plies: int, value: float, params: SearchParams) -> bool:
    """Back up the evaluation of a position some `plies` of single replies below an open node.

    Return False if it is not finite; then the virtual losses are taken off alone.
    """
    if not math.isfinite(value):
        release(forest, tree, node)
        return False
    edge_value = value_into(value, params)
    for _ in range(plies):
        edge_value *= -params.decay
    back_up(forest, tree, node, edge_value, params.decay)
    return True


@lean_kernel
def open_node(
    forest: Forest,
    tree: int,
    node: int,
    stones: NDArray[np.int8],
    to_move: int,
    rules: CompiledRules,
    logits: NDArray[np.float32],
    value: float,
    scratch: Scratch,
) -> bool:
    """Write the evaluation of a leaf: its priors, the softmax of `logits` [A] over the legal moves, and its value.

    Return False, with the node unchanged, if a number is not finite.
    """
    row = forest.child_priors[tree, node]
    write_legal(rules, stones, to_move, scratch.legal, scratch.exponents)
    total = write_priors(scratch.legal, logits, row, scratch)
    if not (math.isfinite(total) and math.isfinite(value)):
        return False
    forest.nodes[tree, node]["value"] = value
    forest.nodes[tree, node]["has_value"] = 1
    forest.nodes[tree, node]["state"] = OPEN
    forest.nodes[tree, node]["next_unvisited"] = scan_best(row)
    if node == 0:
        mix_root_noise(forest, tree)
    return True


@lean_kernel
def mix_root_noise(forest: Forest, tree: int) -> None:
    """Mix noise into the priors of the root's moves, visited ones too: P' = (1 - share) P + share * noise; once."""
    share = forest.trees[tree]["noise_share"]
    if share <= 0.0:
        return
    forest.trees[tree]["noise_share"] = 0.0
    row = forest.child_priors[tree, 0]
    for cell in range(row.shape[0]):
        if row[cell] >= 0:
            row[cell] = word_of((1.0 - share) * prior_of(row[cell]) + share * forest.noise[tree, cell])
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        noise = forest.noise[tree, forest.nodes[tree, child]["move"]]
        forest.nodes[tree, child]["prior"] = (1.0 - share) * forest.nodes[tree, child]["prior"] + share * noise
        child = forest.nodes[tree, child]["next_sibling"]
    forest.nodes[tree, 0]["next_unvisited"] = scan_best(row)
