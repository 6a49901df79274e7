"""The compiled steps of the search: select, expand, back up, reroot (A II-C, II-E).

Values change sides at every edge. An edge into a won end gets +1; an edge into a judged leaf `-decay * v` (or `-v` in
the repository's form); every edge above gets `-decay` times what the edge below got (A III-C).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.lines import makes_line
from core.rules import EMPTY, NO_CELL
from search.forest import DRAWN, NEW, NO_NODE, OPEN, PENDING, WON, Forest


class Terms(NamedTuple):
    """The numbers of a search as kernels take them (`search.settings`)."""

    c_puct: float
    decay: float
    repository: bool
    """Whether the decay starts one edge above the leaf, as in the code of paper A."""
    fpu_reduction: float
    """Of first-play urgency; negative for the papers' `Q = 0`."""
    virtual_loss: int
    virtual_loss_share: float


class Leaves(NamedTuple):
    """A batch of leaves in flight: where they are, and the positions there."""

    stones: NDArray[np.int8]
    """[B, A]"""
    to_move: NDArray[np.int8]
    """[B]"""
    last_moves: NDArray[np.int16]
    """[B, 2]"""
    tree: NDArray[np.int32]
    """[B]"""
    node: NDArray[np.int32]
    """[B]"""


# What a descent ended in.
LEAF = 0
"""A leaf to be judged, now pending."""
END = 1
"""An end of game."""
COLLISION = 2
"""A leaf that is already pending."""
FULL = 3
"""The tree has no room for another node."""


@kernel
def scan_best(priors: NDArray[np.float32]) -> int:
    """The cell with the largest prior that is not negative, the lowest such cell of equals; `NO_CELL` if none. [A]"""
    best = NO_CELL
    best_prior = np.float32(-0.5)
    for cell in range(priors.shape[0]):
        if priors[cell] > best_prior:
            best_prior = priors[cell]
            best = cell
    return best


@kernel
def select(
    forest: Forest,
    tree: int,
    node: int,
    terms: Terms,
) -> tuple[int, int]:
    """The edge with the largest Q + U (A eq. 7, 8) at an open node: (child, move).

    The child is `NO_NODE` where the move has never been taken. The current descent has been counted at `node` already.
    """
    # Every visit of a node but its first went on to a child, and so did every descent in flight but the current one.
    total = forest.visits[tree, node] - 1 + terms.virtual_loss * (forest.in_flight[tree, node] - 1)
    exploration = terms.c_puct * math.sqrt(max(1.0, float(total)))
    best = -math.inf
    best_child = NO_NODE
    visited_priors = 0.0
    child = forest.first_child[tree, node]
    while child != NO_NODE:
        visits = forest.visits[tree, child]
        lost = terms.virtual_loss * forest.in_flight[tree, child]
        count = visits + lost
        prior = forest.prior[tree, child]
        q = 0.0
        if visits > 0:
            q = forest.value_sum[tree, child] / visits
            # Each descent in flight counts as a visit that came back a share of the way from the mean to a loss.
            q -= terms.virtual_loss_share * (q + 1.0) * lost / count
        elif terms.virtual_loss_share > 0.0:
            q = -1.0
        score = q + exploration * prior / (1 + count)
        if score > best:
            best = score
            best_child = child
        visited_priors += prior
        child = forest.next_sibling[tree, child]
    unvisited = forest.next_unvisited[tree, node]
    if unvisited != NO_CELL:
        urgency = 0.0
        if terms.fpu_reduction >= 0.0:
            # The node's own value and its children's, undone from the edge's sum: one number an edge is enough.
            value = forest.value[tree, node]
            below = -forest.value_sum[tree, node] / terms.decay
            if terms.repository:
                below += value * (1.0 - 1.0 / terms.decay)
            urgency = below / forest.visits[tree, node] - terms.fpu_reduction * math.sqrt(visited_priors)
        if urgency + exploration * forest.child_priors[tree, node, unvisited] > best:
            return NO_NODE, unvisited
    return best_child, forest.move[tree, best_child]


@kernel
def grow(forest: Forest, tree: int, node: int, move: int) -> int:
    """Makes the node of an edge taken for the first time and returns it; the tree must have room."""
    child: int = forest.nodes[tree]
    forest.nodes[tree] = child + 1
    forest.parent[tree, child] = node
    forest.move[tree, child] = move
    forest.first_child[tree, child] = NO_NODE
    forest.next_sibling[tree, child] = forest.first_child[tree, node]
    forest.next_unvisited[tree, child] = NO_CELL
    forest.state[tree, child] = NEW
    forest.visits[tree, child] = 0
    forest.in_flight[tree, child] = 0
    forest.value_sum[tree, child] = 0.0
    forest.prior[tree, child] = forest.child_priors[tree, node, move]
    forest.value[tree, child] = 0.0
    forest.first_child[tree, node] = child
    forest.child_priors[tree, node, move] = -1.0
    forest.next_unvisited[tree, node] = scan_best(forest.child_priors[tree, node])
    return child


@kernel
def descend(
    forest: Forest,
    tree: int,
    stones: NDArray[np.int8],
    connect: int,
    terms: Terms,
) -> tuple[int, int, int, int, int]:
    """One descent from the root: (what it ended in, node, side to move there, last move, the move before).

    `stones` [A] is overwritten with the position at the node. Every node of the path, the root among them, has one more
    descent in flight afterwards.
    """
    size = int(math.sqrt(stones.shape[0]))
    stones[:] = forest.root_stones[tree]
    to_move = forest.root_to_move[tree]
    last, before = forest.root_last_moves[tree, 0], forest.root_last_moves[tree, 1]
    node = 0
    forest.in_flight[tree, 0] += 1
    while True:
        state = forest.state[tree, node]
        if state == PENDING:
            return COLLISION, node, to_move, last, before
        if state == NEW:
            forest.state[tree, node] = PENDING
            return LEAF, node, to_move, last, before
        if state != OPEN:
            return END, node, to_move, last, before
        child, move = select(forest, tree, node, terms)
        if child == NO_NODE:
            if forest.nodes[tree] == forest.parent.shape[1]:
                return FULL, node, to_move, last, before
            child = grow(forest, tree, node, move)
            stones[move] = to_move
            if makes_line(stones, move, size, connect):
                forest.state[tree, child] = WON
            elif forest.next_unvisited[tree, node] == NO_CELL and count_empty(stones) == 0:
                forest.state[tree, child] = DRAWN
        else:
            stones[move] = to_move
        node = child
        forest.in_flight[tree, node] += 1
        to_move = -to_move
        last, before = move, last


@kernel
def count_empty(stones: NDArray[np.int8]) -> int:
    """Empty cells of a board [A]."""
    empty = 0
    for cell in range(stones.shape[0]):
        if stones[cell] == EMPTY:
            empty += 1
    return empty


@kernel
def back_up(forest: Forest, tree: int, node: int, edge_value: float, decay: float) -> None:
    """Ends a descent: `edge_value` for the edge into `node`, `-decay` times it for the edge above, up to the root."""
    while node != NO_NODE:
        forest.visits[tree, node] += 1
        forest.value_sum[tree, node] += edge_value
        forest.in_flight[tree, node] -= 1
        edge_value = -decay * edge_value
        node = forest.parent[tree, node]


@kernel
def release(forest: Forest, tree: int, node: int) -> None:
    """Takes a descent back that came to nothing: its virtual losses are undone and nothing else remains of it."""
    while node != NO_NODE:
        forest.in_flight[tree, node] -= 1
        node = forest.parent[tree, node]


@kernel
def gather(
    forest: Forest,
    trees: NDArray[np.int64],
    leaves_per_tree: int,
    visits_per_leaf: int,
    connect: int,
    terms: Terms,
    leaves: Leaves,
) -> int:
    """Descends each of `trees` for up to `leaves_per_tree` leaves and writes them into a batch; returns how many.

    A tree has at most one leaf in flight for every `visits_per_leaf` visits of its root (the dilution of A II-E).
    Ends of games are backed up at once and cost no place in the batch. A collision's virtual loss stays until its tree
    is done, so that the next descent goes elsewhere. The batch needs room for one leaf more than it may get.
    """
    count = 0
    collided = np.empty(leaves_per_tree, dtype=np.int32)
    for tree in trees:
        taken = 0
        collisions = 0
        most = min(leaves_per_tree, max(1, forest.visits[tree, 0] // visits_per_leaf))
        while forest.simulations_left[tree] > 0 and taken < most and collisions < most:
            ended, node, side, last, before = descend(forest, tree, leaves.stones[count], connect, terms)
            if ended == COLLISION:
                collided[collisions] = node
                collisions += 1
            elif ended == FULL:
                release(forest, tree, node)
                forest.simulations_left[tree] = 0
            else:
                forest.simulations_left[tree] -= 1
                if ended == END:
                    back_up(forest, tree, node, 1.0 if forest.state[tree, node] == WON else 0.0, terms.decay)
                else:
                    leaves.to_move[count] = side
                    leaves.last_moves[count, 0] = last
                    leaves.last_moves[count, 1] = before
                    leaves.tree[count] = tree
                    leaves.node[count] = node
                    count += 1
                    taken += 1
        for index in range(collisions):
            release(forest, tree, collided[index])
    return count


@kernel
def open_node(
    forest: Forest, tree: int, node: int, stones: NDArray[np.int8], logits: NDArray[np.float32], value: float
) -> bool:
    """Writes the priors (softmax of `logits` [A] over the empty cells of `stones` [A]) and the value of a leaf.

    Returns False, with nothing written, where a number is not finite.
    """
    highest = -np.inf
    for cell in range(stones.shape[0]):
        if stones[cell] == EMPTY and logits[cell] > highest:
            highest = logits[cell]
    row = forest.child_priors[tree, node]
    total = 0.0
    for cell in range(stones.shape[0]):
        if stones[cell] == EMPTY:
            weight = math.exp(logits[cell] - highest)
            row[cell] = weight
            total += weight
        else:
            row[cell] = -1.0
    if not (math.isfinite(total) and total > 0.0 and math.isfinite(value)):
        return False
    scale = np.float32(1.0 / total)
    for cell in range(stones.shape[0]):
        if row[cell] >= 0.0:
            row[cell] *= scale
    forest.value[tree, node] = value
    forest.state[tree, node] = OPEN
    if node == 0:
        mix_root_noise(forest, tree)
    forest.next_unvisited[tree, node] = scan_best(row)
    return True


@kernel
def mix_root_noise(forest: Forest, tree: int) -> None:
    """P' = (1 - share) P + share * noise over the root's moves, visited ones too; done once, then the share is 0."""
    share = forest.root_noise_share[tree]
    if share <= 0.0:
        return
    forest.root_noise_share[tree] = 0.0
    row = forest.child_priors[tree, 0]
    for cell in range(row.shape[0]):
        if row[cell] >= 0.0:
            row[cell] = (1.0 - share) * row[cell] + share * forest.root_noise[tree, cell]
    child = forest.first_child[tree, 0]
    while child != NO_NODE:
        noise = forest.root_noise[tree, forest.move[tree, child]]
        forest.prior[tree, child] = (1.0 - share) * forest.prior[tree, child] + share * noise
        child = forest.next_sibling[tree, child]
    forest.next_unvisited[tree, 0] = scan_best(row)


@kernel
def expand(
    forest: Forest,
    leaves: Leaves,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    count: int,
    terms: Terms,
) -> int:
    """Opens the first `count` leaves of a batch with what the evaluator said and backs them up.

    Returns the row of the first evaluation that is not finite, -1 if all are. Such a leaf is put back as never judged,
    its virtual losses undone. `logits` [B, A], `values` [B] for the side to move.
    """
    broken = -1
    for index in range(count):
        tree, node = leaves.tree[index], leaves.node[index]
        value = float(values[index])
        if open_node(forest, tree, node, leaves.stones[index], logits[index], value):
            back_up(forest, tree, node, -value if terms.repository else -terms.decay * value, terms.decay)
        else:
            forest.state[tree, node] = NEW
            release(forest, tree, node)
            if broken < 0:
                broken = index
    return broken


@kernel
def abandon(forest: Forest, leaves: Leaves, count: int) -> None:
    """Puts the first `count` leaves of a batch back as never judged: their evaluation failed."""
    for index in range(count):
        forest.state[leaves.tree[index], leaves.node[index]] = NEW
        release(forest, leaves.tree[index], leaves.node[index])


@kernel
def root_visits(forest: Forest, tree: int, visits: NDArray[np.int32]) -> None:
    """Writes the visit count of every move at the root into `visits` [A]."""
    visits[:] = 0
    child = forest.first_child[tree, 0]
    while child != NO_NODE:
        visits[forest.move[tree, child]] = forest.visits[tree, child]
        child = forest.next_sibling[tree, child]


@kernel
def root_value(forest: Forest, tree: int) -> float:
    """The root's value for its side to move: the mean over its visited edges, its own evaluation where it has none."""
    visits = 0
    total = 0.0
    child = forest.first_child[tree, 0]
    while child != NO_NODE:
        visits += forest.visits[tree, child]
        total += forest.value_sum[tree, child]
        child = forest.next_sibling[tree, child]
    return total / visits if visits > 0 else float(forest.value[tree, 0])


@kernel
def reroot(forest: Forest, tree: int, move: int, remap: NDArray[np.int32]) -> bool:
    """Makes the child that `move` leads to the root, keeps its subtree and frees the rest (A IV-D).

    Returns False, the nodes untouched, where the move was never visited or its node is no open one. Nothing may be in
    flight. `remap` [C] is scratch. Children are always newer than their parents, so one forward pass compacts in place.
    """
    root = forest.first_child[tree, 0]
    while root != NO_NODE and forest.move[tree, root] != move:
        root = forest.next_sibling[tree, root]
    if root == NO_NODE or forest.state[tree, root] != OPEN:
        return False
    for node in range(root):
        remap[node] = NO_NODE
    kept = 0
    for node in range(root, forest.nodes[tree]):
        parent = forest.parent[tree, node]
        if node != root and remap[parent] == NO_NODE:
            remap[node] = NO_NODE
            continue
        new_parent = NO_NODE if node == root else remap[parent]
        remap[node] = kept
        forest.parent[tree, kept] = new_parent
        forest.first_child[tree, kept] = NO_NODE
        forest.next_sibling[tree, kept] = NO_NODE
        if new_parent != NO_NODE:
            forest.next_sibling[tree, kept] = forest.first_child[tree, new_parent]
            forest.first_child[tree, new_parent] = kept
        if kept != node:
            forest.move[tree, kept] = forest.move[tree, node]
            forest.next_unvisited[tree, kept] = forest.next_unvisited[tree, node]
            forest.state[tree, kept] = forest.state[tree, node]
            forest.visits[tree, kept] = forest.visits[tree, node]
            forest.in_flight[tree, kept] = forest.in_flight[tree, node]
            forest.value_sum[tree, kept] = forest.value_sum[tree, node]
            forest.prior[tree, kept] = forest.prior[tree, node]
            forest.value[tree, kept] = forest.value[tree, node]
            forest.child_priors[tree, kept] = forest.child_priors[tree, node]
        kept += 1
    forest.nodes[tree] = kept
    return True
