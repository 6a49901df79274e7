"""Descents until a batch of leaves is full; threats at leaves come first."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.rules import CompiledRules
from core.compiled.threats import side_of
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.rules import BLACK
from search.tree.forest import DRAWN, OPEN, PENDING, PROVEN, WON, Forest
from search.tree.kernels.backup import back_up, release, value_into
from search.tree.kernels.descent import COLLISION, END, FULL, LEAF, REVISIT, TWIN, add_child, descend
from search.tree.kernels.leaves import FREE, Leaves, Shard, free_leaf
from search.tree.kernels.puct import SearchParams
from search.tree.leaf_tactics import DECIDED, UNDECIDED, LeafTactics, follow_replies
from search.tree.proofs import proof_above, prove_parents
from search.tree.softmax import word_of
from search.tree.transpositions import find_twin

_WHOLE_BATCH = 8
"""Leaves with which a batch is large enough for a third one to be worth more than more leaves."""
_TOUCHED = 128
"""Nodes that are read ahead; three times as many gained nothing more."""
_MAX_REVISITS = 256
"""Local playouts of a tree's turn that end at open nodes: with more the search would not stop in time."""


@lean_kernel
def gather(shard: Shard, members: NDArray[np.int32], tactics: LeafTactics | None) -> int:
    """Descend the active trees of a shard for the leaves of their next batch; return the number of its `members`.

    A tree has at most one leaf in flight for every `params.visits_per_leaf` visits of its root (the dilution of A
    II-E), in all its batches together. If it has several batches, each is of one side to move: the leaves of the other
    side wait for a later batch, since each side has a net of its own, and few rows of a net cost nearly as much as
    many. Each tree decides on its own, so it finds the same beside any other trees.

    Ends of games, and local playouts that end at an open node, are backed up at once. A collision's virtual loss stays
    until the descents of its tree are done, so that the next one goes elsewhere. A tree with a proven root is done.
    With `tactics` each leaf's threats come first (`look_ahead`); a leaf that they decide is backed up like an end.
    """
    forest, trees, active, rules, params, leaves = shard
    count = 0
    for index in range(trees.shape[0]):
        tree = trees[index]
        if not active[tree]:
            continue
        counts = leaves.counts[index]
        if touch(forest, tree) < 0:
            continue
        allowed = min(params.leaves_in_flight, max(1, forest.nodes[tree, 0]["visits"] // params.visits_per_leaf))
        room = allowed - forest.nodes[tree, 0]["in_flight"]
        most = batch_leaves(allowed, params)
        collisions = 0
        revisits = 0
        while room > 0 and max(counts[0], counts[1]) < most and collisions < most and revisits < _MAX_REVISITS:
            if forest.trees[tree]["simulations_left"] <= 0:
                break
            if forest.nodes[tree, 0]["proof"] != 0:
                forest.trees[tree]["simulations_left"] = 0
                break
            end, found = descend_for_leaf(forest, tree, index, rules, params, leaves)
            if end == COLLISION:
                leaves.scratch.collided[collisions] = found
                collisions += 1
            elif end == REVISIT:
                revisits += 1
            elif end == LEAF and (tactics is None or look_ahead(forest, tree, found, leaves, params, tactics)):
                queue = side_of(leaves.records[found]["to_move"]) if params.batches_in_flight > 1 else 0
                leaves.waiting[index, queue, counts[queue]] = found
                counts[queue] += 1
                room -= 1
        for collision in range(collisions):
            release(forest, tree, leaves.scratch.collided[collision])
        queue = 0 if counts[0] >= counts[1] else 1
        for waiting in range(counts[queue]):
            members[count] = leaves.waiting[index, queue, waiting]
            count += 1
        counts[queue] = 0
    return count


@lean_kernel
def touch(forest: Forest, tree: int) -> int:
    """Read the oldest nodes of a tree, which is no longer in the processor's caches: return a number of at least 0.

    The children of a node are a list, whose nodes come from memory one after the other; these come side by side.
    """
    visits = 0
    for node in range(min(forest.trees[tree]["nodes"], _TOUCHED)):
        visits += forest.nodes[tree, node]["visits"]
    return visits


@lean_kernel
def descend_for_leaf(
    forest: Forest,
    tree: int,
    index: int,
    rules: CompiledRules,
    params: SearchParams,
    leaves: Leaves,
) -> tuple[int, int]:
    """Descend a tree once, number `index` of those that `leaves` belong to. Return the end, and what it is about.

    `LEAF`: a leaf of `leaves`, no longer free, for its evaluation. `COLLISION`: the node, whose virtual loss stays. Any
    other end has been backed up or undone.
    """
    counts = leaves.counts[index]
    leaf = leaves.free[index, counts[FREE] - 1]
    descent = descend(forest, tree, leaves.stones[leaf], rules, params, leaves.scratch)
    if descent.end == COLLISION:
        return COLLISION, descent.node
    if descent.end == FULL:
        release(forest, tree, descent.node)
        forest.trees[tree]["simulations_left"] = 0
        return FULL, descent.node
    forest.trees[tree]["simulations_left"] -= 1
    forest.trees[tree]["simulations"] += 1
    if descent.end == END:
        won = forest.nodes[tree, descent.node]["state"] == WON
        back_up(forest, tree, descent.node, 1.0 if won else 0.0, params.decay)
        return END, descent.node
    if descent.end == TWIN:
        twin = forest.nodes[tree, find_twin(forest, tree, descent.node)]
        back_up(forest, tree, descent.node, twin["value_sum"] / max(1, twin["visits"]), params.decay)
        return END, descent.node
    if descent.end == REVISIT:
        value = float(forest.nodes[tree, descent.node]["value"])
        back_up(forest, tree, descent.node, value_into(value, params), params.decay)
        return REVISIT, descent.node
    record = leaves.records[leaf]
    record["plies"] = 0
    record["to_move"] = descent.to_move
    record["last_move"] = descent.last_move
    record["move_before"] = descent.move_before
    record["key"] = descent.key
    record["tree"] = tree
    record["node"] = descent.node
    counts[FREE] -= 1
    return LEAF, leaf


@lean_kernel
def batch_leaves(allowed: int, params: SearchParams) -> int:
    """Return the leaves of one batch of a tree that may have `allowed` leaves in flight.

    With several batches, as many leaves as in one of them may wait for a later batch. A third batch is worth more than
    larger ones only once a batch has `_WHOLE_BATCH` leaves. There are few sizes, since a runtime prepares each: 1, 2,
    4, 8 and the largest.
    """
    if params.batches_in_flight == 1:
        return allowed
    most = params.leaves_in_flight // (params.batches_in_flight + 1)
    if most >= _WHOLE_BATCH and allowed // (params.batches_in_flight + 1) >= most:
        return most
    leaves = 1
    while leaves < _WHOLE_BATCH and 4 * leaves <= allowed:
        leaves *= 2
    return leaves


@lean_kernel
def look_ahead(
    forest: Forest, tree: int, leaf: int, leaves: Leaves, params: SearchParams, tactics: LeafTactics
) -> bool:
    """Look at the threats on a leaf and `settle` it; return True if its evaluation is still needed.

    `tactics.has_urgent` and `tactics.urgent` of `leaf` are set to the leaf's urgent moves.
    """
    record = leaves.records[leaf]
    side, is_root = int(np.int64(record["to_move"])), record["node"] == 0
    finding, proof, count, _ = follow_replies(tactics, tree, leaves.stones[leaf], side, leaf, is_root)
    return settle(forest, tree, leaf, leaves, params, tactics, finding, proof, count)


@lean_kernel
def settle(
    forest: Forest,
    tree: int,
    leaf: int,
    leaves: Leaves,
    params: SearchParams,
    tactics: LeafTactics,
    finding: int,
    proof: int,
    count: int,
) -> bool:
    """Bring what `follow_replies` found on a leaf into its tree; return True if its evaluation is still needed.

    A leaf that the threats decide is backed up, and free again. Else its record is that of the position after the
    `count` single replies.
    """
    record, replies = leaves.records[leaf], tactics.replies[leaf]
    node, plies = open_replies(forest, tree, record["node"], int(np.int64(record["to_move"])), replies, count)
    if finding != UNDECIDED:
        end_by_threats(forest, tree, node, plies, finding, proof, params)
        free_leaf(leaves, leaf)
        return False
    record["node"], record["plies"] = node, plies
    for reply in replies[:count]:
        record["key"] ^= STONE_KEYS[0 if record["to_move"] == BLACK else 1, reply] ^ WHITE_TO_MOVE
        record["to_move"] = -record["to_move"]
        record["move_before"] = record["last_move"]
        record["last_move"] = reply
    return True


@lean_kernel
def open_replies(
    forest: Forest, tree: int, node: int, to_move: int, replies: NDArray[np.int16], count: int
) -> tuple[int, int]:
    """Open a leaf for the first of `count` single replies, the node after it for the next, and so on.

    The side `to_move` makes the first one. Return the last node, and the plies from there to the position after all
    replies: 0 unless the tree has no room for more nodes than the simulations to come may need.
    """
    for index in range(count):
        room = forest.nodes.shape[1] - forest.trees[tree]["nodes"] - forest.trees[tree]["simulations_left"]
        open_for_one(forest, tree, node, int(np.int64(replies[index])))
        if room <= 0:
            return node, count - index
        node = add_child(forest, tree, node, int(np.int64(replies[index])), to_move)
        to_move = -to_move
        forest.nodes[tree, node]["in_flight"] += 1
        forest.nodes[tree, node]["state"] = PENDING
    return node, 0


@lean_kernel
def end_by_threats(
    forest: Forest, tree: int, node: int, plies: int, finding: int, proof: int, params: SearchParams
) -> None:
    """Back up a position that its threats decide, or in which the board is full, `plies` below a leaf's `node`.

    `finding` and `proof` are those of `follow_replies`.
    """
    if finding == DECIDED and node != 0:
        for _ in range(plies):
            proof = proof_above(proof)
        forest.nodes[tree, node]["proof"] = proof
        forest.nodes[tree, node]["state"] = PROVEN
        prove_parents(forest, tree, node)
    elif plies == 0:
        forest.nodes[tree, node]["state"] = DRAWN
    back_up(forest, tree, node, 0.0, params.decay)


@lean_kernel
def open_for_one(forest: Forest, tree: int, node: int, move: int) -> None:
    """Open a node without an evaluation for a single move; the other moves have no prior, like occupied cells."""
    row = forest.child_priors[tree, node]
    row[:] = -1
    row[move] = word_of(1.0)
    forest.nodes[tree, node]["next_unvisited"] = move
    forest.nodes[tree, node]["state"] = OPEN
    if node == 0:
        forest.trees[tree]["noise_share"] = 0.0
