"""The compiled steps of the search, in the order of the work (A II-C, II-E).

Select, descend, gather, expand, back up; then proofs, results at the root, and rerooting.

Values change sides at every edge. An edge into a won end gets +1; an edge into an evaluated leaf `-decay * v` (or `-v`
in the repository's form); every edge above gets `-decay` times the value of the edge below (A III-C).

Shapes: `A` cells of the board, `C` nodes of a tree, `L` leaves in flight, `B` rows of a batch.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.lines import makes_line
from core.compiled.symmetry import IDENTITY
from core.compiled.threats import FIVE, side_of
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.rules import BLACK, EMPTY, NO_CELL
from search.solvers.vcf import fives_of
from search.tree.forest import DRAWN, NEW, NO_NODE, OPEN, PENDING, PROVEN, WON, Forest, record_type
from search.tree.leaf_tactics import (
    DECIDED,
    UNDECIDED,
    LeafTactics,
    count_empty,
    follow_replies,
    load_board,
    winning_move,
)
from search.tree.noise import random_share, write_dirichlet
from search.tree.proofs import proof_above, prove_parents, proven_value
from search.tree.softmax import Scratch, best_with_noise, make_scratch, prior_of, scan_best, word_of, write_priors
from search.tree.transpositions import enter_position, find_twin, take_from_twin


class SearchParams(NamedTuple):
    """The numbers of `search.tree.settings` that kernels need."""

    c_puct: float
    """Weight of exploration (A eq. 8)."""
    decay: float
    """Winning-value decay a ply (A III-C)."""
    repository: bool
    """True if the decay starts one edge above the leaf, as in the code of paper A."""
    fpu_reduction: float
    """Reduction of first-play urgency; negative for the papers' `Q = 0`."""
    virtual_loss: int
    """Lost visits of an edge for each descent in flight (A II-E)."""
    virtual_loss_share: float
    """Pull of these visits on the edge's mean value, 0 to 1."""
    proofs: bool
    """True if won and lost nodes are proven and then not searched further."""
    leaves_in_flight: int
    """Maximum of leaves of a tree in flight."""
    visits_per_leaf: int
    """Visits of the root for each leaf in flight: more leaves would draw visits away from the best move."""
    batches_in_flight: int
    """Batches over which a tree's leaves in flight are spread."""
    local_playouts: float
    """Share of descents that end at half the mean depth of the leaves (S III-B1)."""


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


_FREE = 2
"""Index of the number of free leaves in `Leaves.counts`."""


def make_leaves(trees: int, leaves: int, cells: int) -> Leaves:
    """Return room for `leaves` leaves of each of `trees` trees on boards of `cells` cells."""
    counts = np.zeros((trees, 3), dtype=np.int32)
    counts[:, _FREE] = leaves
    return Leaves(
        stones=np.zeros((trees * leaves, cells), dtype=np.int8),
        records=np.zeros(trees * leaves, dtype=LEAF_RECORD),
        free=np.arange(trees * leaves, dtype=np.int32).reshape(trees, leaves)[:, ::-1].copy(),
        waiting=np.zeros((trees, 2, leaves), dtype=np.int32),
        counts=counts,
        scratch=make_scratch(cells, leaves),
    )


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
    plies: int
    """Plies from the node to the position, of single replies without a node."""
    to_move: int
    last_move: int
    move_before: int
    key: int
    """Zobrist key of the stones and the side to move."""


_WHOLE_BATCH = 8
"""Leaves with which a batch is large enough for a third one to be worth more than more leaves."""
_MAX_REVISITS = 256
"""Local playouts of a tree's turn that end at open nodes: with more the search would not stop in time."""
_NO_LIMIT = 1 << 30
"""More plies than any descent has."""
_NOT_URGENT = np.float32(4.0)
"""Reduction of the logits of moves that are not urgent where others are: it divides their priors by 55."""


# Select.


@lean_kernel
def select(
    forest: Forest,
    tree: int,
    node: int,
    params: SearchParams,
) -> tuple[int, int]:
    """Return the edge with the largest Q + U at an open node (A eq. 6-8), of those not proven to lose: (child, move).

    The child is `NO_NODE` for a move without a node. The current descent has been counted at `node` already. With
    forced playouts a visited move of the root comes first while it has less than sqrt(k P n) of the root's n visits
    (KataGo, Wu 2019, 3.2).
    """
    here = forest.nodes[tree, node]
    exploration = exploration_at(forest, tree, node, params)
    forced = forest.trees[tree]["forced_playouts"] if node == 0 else np.float32(0.0)
    best = -math.inf
    best_child = NO_NODE
    visited_priors = 0.0
    child = here["first_child"]
    while child != NO_NODE:
        edge = forest.nodes[tree, child]
        visited_priors += edge["prior"]
        if edge["proof"] >= 0:
            q, count = edge_statistics(forest, tree, child, params)
            lacks = forced > 0.0 and count * params.c_puct < exploration * math.sqrt(forced * edge["prior"])
            if lacks and edge["visits"] > 0:
                return child, edge["move"]
            # Q + U of A eq. 7 and 8.
            score = q + exploration * edge["prior"] / (1.0 + count)
            if score > best:
                best = score
                best_child = child
        child = edge["next_sibling"]
    unvisited = here["next_unvisited"]
    if unvisited != NO_CELL:
        prior = prior_of(forest.child_priors[tree, node, unvisited])
        if first_play_value(forest, tree, node, visited_priors, params) + exploration * prior > best:
            return NO_NODE, unvisited
    return best_child, forest.nodes[tree, best_child]["move"]


@lean_kernel
def select_with_noise(
    forest: Forest,
    tree: int,
    node: int,
    stones: NDArray[np.int8],
    params: SearchParams,
    scratch: Scratch,
) -> tuple[int, int]:
    """Return the edge that `select` would, with noise drawn for this selection in the priors (Y 3.2.1).

    P' = (1 - share) P + share * Dir(alpha) over the empty cells of the position's `stones` [A]. So the largest prior of
    the moves without a node may be any of theirs.
    """
    root = forest.trees[tree]
    noise = forest.noise[tree]
    root["draws"] = write_dirichlet(
        stones,
        noise,
        float(root["node_noise_alpha"]),
        root["random_key"],
        root["draws"],
        scratch,
    )
    share = root["node_noise_share"]
    kept = np.float32(1.0) - share
    here = forest.nodes[tree, node]
    exploration = exploration_at(forest, tree, node, params)
    best = -math.inf
    best_child = NO_NODE
    visited_priors = 0.0
    child = here["first_child"]
    while child != NO_NODE:
        edge = forest.nodes[tree, child]
        prior = kept * edge["prior"] + share * noise[edge["move"]]
        visited_priors += prior
        if edge["proof"] >= 0:
            q, count = edge_statistics(forest, tree, child, params)
            score = q + exploration * prior / (1.0 + count)
            if score > best:
                best = score
                best_child = child
        child = edge["next_sibling"]
    if here["next_unvisited"] != NO_CELL:
        unvisited, prior = best_with_noise(forest.child_priors[tree, node], noise, share)
        if first_play_value(forest, tree, node, visited_priors, params) + exploration * prior > best:
            return NO_NODE, unvisited
    return best_child, forest.nodes[tree, best_child]["move"]


@lean_kernel
def exploration_at(forest: Forest, tree: int, node: int, params: SearchParams) -> float:
    """Return the factor of P / (1 + N) in the U of a node's moves (A eq. 8)."""
    here = forest.nodes[tree, node]
    # The sum of N over the moves: every visit of a node but its first went on to a child, or was a local playout that
    # ended there, and so did every descent in flight but the current one.
    total = here["visits"] - 1 + params.virtual_loss * (here["in_flight"] - 1)
    return params.c_puct * math.sqrt(max(1.0, float(total)))


@lean_kernel
def edge_statistics(forest: Forest, tree: int, child: int, params: SearchParams) -> tuple[float, float]:
    """Return Q (A eq. 6) and N of the edge into a node, with its virtual losses."""
    edge = forest.nodes[tree, child]
    count = float(edge["visits"])
    q = edge["value_sum"] / count if count > 0.0 else 0.0
    if edge["in_flight"] > 0:
        # Virtual loss: each descent in flight counts as a visit whose value lies between the mean and a loss.
        lost = float(params.virtual_loss * edge["in_flight"])
        if count > 0.0:
            q -= params.virtual_loss_share * (q + 1.0) * lost / (count + lost)
        elif params.virtual_loss_share > 0.0:
            q = -1.0
        count += lost
    return q, count


@lean_kernel
def first_play_value(forest: Forest, tree: int, node: int, visited_priors: float, params: SearchParams) -> float:
    """Return the Q of a node's moves without visits; `visited_priors` is the sum of the other moves' priors."""
    if params.fpu_reduction < 0.0:
        return 0.0
    # First-play urgency: the mean of the node's own value and its children's, taken from the edge's sum.
    here = forest.nodes[tree, node]
    below = -here["value_sum"] / params.decay
    if params.repository:
        below += here["value"] * (1.0 - 1.0 / params.decay)
    mean: float = below / here["visits"]
    return mean - params.fpu_reduction * math.sqrt(visited_priors)


# Descend.


@lean_kernel
def descend(
    forest: Forest,
    tree: int,
    stones: NDArray[np.int8],
    connect: int,
    params: SearchParams,
    scratch: Scratch,
) -> Descent:
    """Descend once from the root, with one virtual loss more on every node of the path, the root included.

    Overwrites `stones` [A] with the position at the node.
    """
    size = int(math.sqrt(stones.shape[0]))
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
            child, move = select_with_noise(forest, tree, node, stones, params, scratch)
        else:
            child, move = select(forest, tree, node, params)
        if child == NO_NODE:
            if forest.trees[tree]["nodes"] == forest.nodes.shape[1]:
                end = FULL
                break
            child = add_child(forest, tree, node, move, to_move)
            stones[move] = to_move
            if makes_line(stones, move, size, connect):
                forest.nodes[tree, child]["state"] = WON
                if params.proofs:
                    forest.nodes[tree, child]["proof"] = 1
                    prove_parents(forest, tree, child)
            elif forest.nodes[tree, node]["next_unvisited"] == NO_CELL and count_empty(stones) == 0:
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
    return Descent(end, node, 0, to_move, last, before, key)


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


# Gather: descents until a batch of leaves is full.


@lean_kernel
def gather(
    forest: Forest,
    trees: NDArray[np.int64],
    active: NDArray[np.bool_],
    connect: int,
    params: SearchParams,
    leaves: Leaves,
    members: NDArray[np.int32],
    tactics: LeafTactics | None,
) -> int:
    """Descend the active ones of `trees` for the leaves of their next batch; return the number of its `members`.

    A tree has at most one leaf in flight for every `params.visits_per_leaf` visits of its root (the dilution of A
    II-E), in all its batches together. If it has several batches, each is of one side to move: the leaves of the other
    side wait for a later batch, since each side has a net of its own, and few rows of a net cost nearly as much as
    many. Each tree decides on its own, so it finds the same beside any other trees.

    Ends of games, and local playouts that end at an open node, are backed up at once. A collision's virtual loss stays
    until the descents of its tree are done, so that the next one goes elsewhere. A tree with a proven root is done.
    With `tactics` each leaf's threats come first (`look_ahead`); a leaf that they decide is backed up like an end.
    """
    count = 0
    most = batch_leaves(params.leaves_in_flight, params)
    for index in range(trees.shape[0]):
        tree = trees[index]
        if not active[tree]:
            continue
        counts = leaves.counts[index]
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
            end, found = descend_for_leaf(forest, tree, index, connect, params, leaves, tactics)
            if end == COLLISION:
                leaves.scratch.collided[collisions] = found
                collisions += 1
            elif end == REVISIT:
                revisits += 1
            elif end == LEAF:
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
def descend_for_leaf(
    forest: Forest,
    tree: int,
    index: int,
    connect: int,
    params: SearchParams,
    leaves: Leaves,
    tactics: LeafTactics | None,
) -> tuple[int, int]:
    """Descend a tree once, number `index` of those that `leaves` belong to. Return the end, and what it is about.

    `LEAF`: a leaf of `leaves`, no longer free, for its evaluation. `COLLISION`: the node, whose virtual loss stays. Any
    other end has been backed up or undone.
    """
    counts = leaves.counts[index]
    leaf = leaves.free[index, counts[_FREE] - 1]
    descent = descend(forest, tree, leaves.stones[leaf], connect, params, leaves.scratch)
    if descent.end == COLLISION:
        return COLLISION, descent.node
    if descent.end == FULL:
        release(forest, tree, descent.node)
        forest.trees[tree]["simulations_left"] = 0
        return FULL, descent.node
    forest.trees[tree]["simulations_left"] -= 1
    forest.trees[tree]["simulations"] += 1
    if tactics is not None and descent.end == LEAF:
        descent = look_ahead(forest, tree, descent, leaves.stones[leaf], params, tactics, leaf)
        if descent.end == END:
            return END, descent.node
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
    record["plies"] = descent.plies
    record["to_move"] = descent.to_move
    record["last_move"] = descent.last_move
    record["move_before"] = descent.move_before
    record["key"] = descent.key
    record["tree"] = tree
    record["node"] = descent.node
    counts[_FREE] -= 1
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
    forest: Forest,
    tree: int,
    descent: Descent,
    stones: NDArray[np.int8],
    params: SearchParams,
    tactics: LeafTactics,
    leaf: int,
) -> Descent:
    """Continue a descent from its leaf while the threats there leave no choice; `stones` [A] follow.

    A position that the threats decide is backed up, with `END`. `tactics.has_urgent` and `tactics.urgent` of `leaf` are
    set to the leaf's urgent moves.
    """
    to_move, key = descent.to_move, descent.key
    last, before = descent.last_move, descent.move_before
    finding, proof, count, side = follow_replies(tactics, tree, stones, to_move, leaf, descent.node == 0)
    for reply in tactics.replies[leaf, :count]:
        key ^= STONE_KEYS[0 if to_move == BLACK else 1, reply] ^ WHITE_TO_MOVE
        to_move = -to_move
        last, before = int(np.int64(reply)), last
    node, plies = open_replies(forest, tree, descent.node, descent.to_move, tactics.replies[leaf], count)
    end = LEAF
    if finding != UNDECIDED:
        end_by_threats(forest, tree, node, plies, finding, proof, params)
        end = END
    return Descent(end, node, plies, side, last, before, key)


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


# Expand: evaluations into nodes.


@lean_kernel
def expand(
    forest: Forest,
    leaves: Leaves,
    members: NDArray[np.int32],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    images: NDArray[np.int64],
    params: SearchParams,
    tactics: LeafTactics | None,
) -> bool:
    """Open the `members` of a batch with their evaluations and back them up, which takes their virtual losses off.

    `logits` [B, A] and `values` [B], for the side to move, are indexed by the leaves' rows; `images` [8, A] is the cell
    to which each symmetry carries a cell; `tactics` is that of `gather`. Return False if an evaluation is not finite;
    its leaf becomes new again, without its virtual losses.
    """
    whole = True
    cells, scratch = leaves.stones.shape[1], leaves.scratch
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
                scratch.turned[cell] = policy[images[symmetry, cell]]
            policy = scratch.turned
        if tactics is not None and tactics.has_urgent[leaf]:
            for cell in range(cells):
                less = _NOT_URGENT if tactics.urgent[leaf, cell] == 0 else np.float32(0.0)
                scratch.turned[cell] = policy[cell] - less
            policy = scratch.turned
        value = float(values[row])
        if open_node(forest, tree, node, leaves.stones[leaf], policy, value, scratch):
            back_up(forest, tree, node, value_into(value, params), params.decay)
        else:
            forest.nodes[tree, node]["state"] = NEW
            release(forest, tree, node)
            whole = False
        free_leaf(leaves, leaf)
    return whole


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
def free_leaf(leaves: Leaves, leaf: int) -> None:
    """Count a leaf as free."""
    index = leaf // leaves.free.shape[1]
    leaves.free[index, leaves.counts[index, _FREE]] = leaf
    leaves.counts[index, _FREE] += 1


@lean_kernel
def open_node(
    forest: Forest,
    tree: int,
    node: int,
    stones: NDArray[np.int8],
    logits: NDArray[np.float32],
    value: float,
    scratch: Scratch,
) -> bool:
    """Write the evaluation of a leaf: its priors, the softmax of `logits` [A] over the empty cells, and its value.

    Return False, with the node unchanged, if a number is not finite.
    """
    row = forest.child_priors[tree, node]
    total = write_priors(stones, logits, row, scratch)
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


# Back up, and undo virtual loss.


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


# Forced moves and wins at the root.


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
    return bool(board.counts[side, FIVE] == 0) and fives_of(board, 1 - side)[0] == 1


# Results at the root.


@lean_kernel
def write_root_visits(forest: Forest, tree: int, visits: NDArray[np.int32]) -> None:
    """Write the visit counts of the root's moves into `visits` [A]."""
    visits[:] = 0
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        visits[forest.nodes[tree, child]["move"]] = forest.nodes[tree, child]["visits"]
        child = forest.nodes[tree, child]["next_sibling"]


@lean_kernel
def write_root_proofs(forest: Forest, tree: int, proofs: NDArray[np.int16]) -> None:
    """Write the proofs of the root's moves into `proofs` [A], as in `NODE`."""
    proofs[:] = 0
    if forest.nodes[tree, 0]["state"] == OPEN:
        # A legal move without a prior: the root was opened for a single reply, and five answers any other move.
        for cell in range(proofs.shape[0]):
            if forest.root_stones[tree, cell] == EMPTY and forest.child_priors[tree, 0, cell] < 0:
                proofs[cell] = -2
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        proofs[forest.nodes[tree, child]["move"]] = forest.nodes[tree, child]["proof"]
        child = forest.nodes[tree, child]["next_sibling"]


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


# Reroot.


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
