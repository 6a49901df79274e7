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
from core.rules import BLACK, EMPTY, NO_CELL
from core.symmetry import IDENTITY
from core.threats import FIVE, side_of
from core.zobrist import STONE_KEYS, WHITE_TO_MOVE
from search.solvers.vcf import fives_of
from search.tree.forest import DRAWN, NEW, NO_NODE, OPEN, PENDING, PROVEN, WON, Forest
from search.tree.leaf_tactics import DECIDED, ONE_REPLY, URGENT, LeafTactics, board_at, look, winning_move
from search.tree.softmax import prior_of, scan_best, word_of, write_priors


class SearchParams(NamedTuple):
    """The numbers of a search as kernels take them (`search.tree.settings`)."""

    c_puct: float
    decay: float
    repository: bool
    """Whether the decay starts one edge above the leaf, as in the code of paper A."""
    fpu_reduction: float
    """Of first-play urgency; negative for the papers' `Q = 0`."""
    virtual_loss: int
    virtual_loss_share: float
    proofs: bool
    """Whether won and lost nodes are proven, and what is proven is not searched further."""


class Leaves(NamedTuple):
    """Leaves in flight, in the order they were found: where they are, and the positions there."""

    stones: NDArray[np.int8]
    """[L, A]"""
    to_move: NDArray[np.int8]
    """[L]"""
    last_moves: NDArray[np.int16]
    """[L, 2]"""
    key: NDArray[np.int64]
    """[L] Zobrist key of the stones and the side to move."""
    tree: NDArray[np.int32]
    """[L]"""
    node: NDArray[np.int32]
    """[L]"""
    row: NDArray[np.int32]
    """[L] the row of the slot that holds the leaf's judgement; several leaves may share one."""
    symmetry: NDArray[np.int8]
    """[L] the symmetry it is judged under."""


def make_leaves(capacity: int, cells: int) -> Leaves:
    """Room for `capacity` leaves on boards of `cells` cells."""
    return Leaves(
        stones=np.zeros((capacity, cells), dtype=np.int8),
        to_move=np.zeros(capacity, dtype=np.int8),
        last_moves=np.zeros((capacity, 2), dtype=np.int16),
        key=np.zeros(capacity, dtype=np.int64),
        tree=np.zeros(capacity, dtype=np.int32),
        node=np.zeros(capacity, dtype=np.int32),
        row=np.zeros(capacity, dtype=np.int32),
        symmetry=np.zeros(capacity, dtype=np.int8),
    )


_NOT_URGENT = np.float32(4.0)
"""Taken from the logits of moves that are not urgent where others are: such a move comes 55 times as late."""


# What a descent ended in.
LEAF = 0
"""A leaf to be judged, now pending."""
END = 1
"""An end of game, or a node whose threats prove what it is worth."""
COLLISION = 2
"""A leaf that is already pending."""
FULL = 3
"""The tree has no room for another node."""


@kernel
def select(
    forest: Forest,
    tree: int,
    node: int,
    params: SearchParams,
) -> tuple[int, int]:
    """The edge with the largest Q + U (A eq. 7, 8) at an open node, of those not proven to lose: (child, move).

    The child is `NO_NODE` where the move has never been taken. The current descent has been counted at `node` already.
    """
    here = forest.nodes[tree, node]
    # Every visit of a node but its first went on to a child, and so did every descent in flight but the current one.
    total = here["visits"] - 1 + params.virtual_loss * (here["in_flight"] - 1)
    exploration = params.c_puct * math.sqrt(max(1.0, float(total)))
    best = -math.inf
    best_child = NO_NODE
    visited_priors = 0.0
    child = here["first_child"]
    while child != NO_NODE:
        edge = forest.nodes[tree, child]
        visited_priors += edge["prior"]
        if edge["proof"] >= 0:
            count = float(edge["visits"])
            q = edge["value_sum"] / count if count > 0.0 else 0.0
            if edge["in_flight"] > 0:
                # Each descent in flight counts as a visit that came back a share of the way from the mean to a loss.
                lost = float(params.virtual_loss * edge["in_flight"])
                if count > 0.0:
                    q -= params.virtual_loss_share * (q + 1.0) * lost / (count + lost)
                elif params.virtual_loss_share > 0.0:
                    q = -1.0
                count += lost
            score = q + exploration * edge["prior"] / (1.0 + count)
            if score > best:
                best = score
                best_child = child
        child = edge["next_sibling"]
    unvisited = here["next_unvisited"]
    if unvisited != NO_CELL:
        urgency = 0.0
        if params.fpu_reduction >= 0.0:
            # The node's own value and its children's, undone from the edge's sum: one number an edge is enough.
            below = -here["value_sum"] / params.decay
            if params.repository:
                below += here["value"] * (1.0 - 1.0 / params.decay)
            urgency = below / here["visits"] - params.fpu_reduction * math.sqrt(visited_priors)
        if urgency + exploration * prior_of(forest.child_priors[tree, node, unvisited]) > best:
            return NO_NODE, unvisited
    return best_child, forest.nodes[tree, best_child]["move"]


@kernel
def add_child(forest: Forest, tree: int, node: int, move: int) -> int:
    """Makes the node of an edge taken for the first time and returns it; the tree must have room."""
    child: int = forest.trees[tree]["nodes"]
    forest.trees[tree]["nodes"] = child + 1
    priors = forest.child_priors[tree, node]
    parent = forest.nodes[tree, node]
    edge = forest.nodes[tree, child]
    edge["value_sum"] = 0.0
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
    parent["first_child"] = child
    priors[move] = -1
    parent["next_unvisited"] = scan_best(priors)
    return child


@kernel
def descend(
    forest: Forest,
    tree: int,
    stones: NDArray[np.int8],
    connect: int,
    params: SearchParams,
) -> tuple[int, int, int, int, int, int]:
    """One descent from the root: (what it ended in, node, side to move there, last move, the move before, key).

    `stones` [A] is overwritten with the position at the node. Every node of the path, the root among them, has one more
    descent in flight afterwards.
    """
    size = int(math.sqrt(stones.shape[0]))
    stones[:] = forest.root_stones[tree]
    to_move = forest.trees[tree]["to_move"]
    last, before = forest.trees[tree]["last_move"], forest.trees[tree]["move_before"]
    key = forest.trees[tree]["key"]
    node = 0
    forest.nodes[tree, 0]["in_flight"] += 1
    while True:
        state = forest.nodes[tree, node]["state"]
        if state == PENDING:
            return COLLISION, node, to_move, last, before, key
        if state == NEW:
            forest.nodes[tree, node]["state"] = PENDING
            return LEAF, node, to_move, last, before, key
        if state != OPEN:
            return END, node, to_move, last, before, key
        child, move = select(forest, tree, node, params)
        if child == NO_NODE:
            if forest.trees[tree]["nodes"] == forest.nodes.shape[1]:
                return FULL, node, to_move, last, before, key
            child = add_child(forest, tree, node, move)
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
        forest.nodes[tree, node]["in_flight"] += 1
        to_move = -to_move
        last, before = move, last


@kernel
def prove_parents(forest: Forest, tree: int, node: int) -> None:
    """Carries the proof of `node` upwards as far as it proves anything.

    One child that wins makes its parent won for the side to move there, by the shortest such win; where every move is
    tried and loses, it is lost, by the longest.
    """
    parent = forest.nodes[tree, node]["parent"]
    while parent != NO_NODE:
        plies = forest.nodes[tree, node]["proof"]
        if plies < 0:
            if forest.nodes[tree, parent]["next_unvisited"] != NO_CELL:
                return
            child = forest.nodes[tree, parent]["first_child"]
            while child != NO_NODE:
                if forest.nodes[tree, child]["proof"] >= 0:
                    return
                plies = min(plies, forest.nodes[tree, child]["proof"])
                child = forest.nodes[tree, child]["next_sibling"]
        proof = -plies - 1 if plies > 0 else -plies + 1
        known = forest.nodes[tree, parent]["proof"]
        if known != 0 and (known > 0 or known >= proof):
            return
        forest.nodes[tree, parent]["proof"] = proof
        node = parent
        parent = forest.nodes[tree, node]["parent"]


@kernel
def proven_value(proof: int, decay: float) -> float:
    """The value of an edge with a proof, for the side that moved: 1 for a win at once, less for a later one."""
    return decay ** (proof - 1) if proof > 0 else -(decay ** (-proof - 1))


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
    """Ends a descent: `edge_value` for the edge into `node`, `-decay` times it for the edge above, up to the root.

    An edge with a proof gets its proven value instead.
    """
    while node != NO_NODE:
        edge = forest.nodes[tree, node]
        if edge["proof"] != 0:
            edge_value = proven_value(edge["proof"], decay)
        edge["visits"] += 1
        edge["value_sum"] += edge_value
        edge["in_flight"] -= 1
        edge_value = -decay * edge_value
        node = edge["parent"]


@kernel
def release(forest: Forest, tree: int, node: int) -> None:
    """Takes a descent back that came to nothing: its virtual losses are undone and nothing else remains of it."""
    while node != NO_NODE:
        forest.nodes[tree, node]["in_flight"] -= 1
        node = forest.nodes[tree, node]["parent"]


@kernel
def gather(
    forest: Forest,
    trees: NDArray[np.int64],
    leaves_per_tree: int,
    visits_per_leaf: int,
    connect: int,
    params: SearchParams,
    leaves: Leaves,
    tactics: LeafTactics | None,
) -> int:
    """Descends each of `trees` for up to `leaves_per_tree` leaves and writes them into `leaves`; returns how many.

    A tree has at most one leaf in flight for every `visits_per_leaf` visits of its root (the dilution of A II-E).
    Ends of games are backed up at once. A collision's virtual loss stays until its tree is done, so that the next
    descent goes elsewhere. A tree whose root is proven is done. `leaves` needs room for one more than it may get.

    With a `tactics` each leaf's threats are looked at first (`look_ahead`): what they decide is backed up like an end.
    """
    count = 0
    collided = np.empty(leaves_per_tree, dtype=np.int32)
    for tree in trees:
        taken = 0
        collisions = 0
        most = min(leaves_per_tree, max(1, forest.nodes[tree, 0]["visits"] // visits_per_leaf))
        while forest.trees[tree]["simulations_left"] > 0 and taken < most and collisions < most:
            if forest.nodes[tree, 0]["proof"] != 0:
                forest.trees[tree]["simulations_left"] = 0
                break
            ended, node, side, last, before, key = descend(forest, tree, leaves.stones[count], connect, params)
            if ended == COLLISION:
                collided[collisions] = node
                collisions += 1
            elif ended == FULL:
                release(forest, tree, node)
                forest.trees[tree]["simulations_left"] = 0
            else:
                forest.trees[tree]["simulations_left"] -= 1
                forest.trees[tree]["simulations"] += 1
                if tactics is not None and ended == LEAF:
                    ended, node, side, last, before, key, tactics.some_urgent[count] = look_ahead(
                        forest,
                        tree,
                        node,
                        leaves.stones[count],
                        side,
                        last,
                        before,
                        key,
                        tactics,
                        tactics.urgent[count],
                    )
                if ended == END:
                    back_up(forest, tree, node, 1.0 if forest.nodes[tree, node]["state"] == WON else 0.0, params.decay)
                else:
                    leaves.to_move[count] = side
                    leaves.last_moves[count, 0] = last
                    leaves.last_moves[count, 1] = before
                    leaves.key[count] = key
                    leaves.tree[count] = tree
                    leaves.node[count] = node
                    count += 1
                    taken += 1
        for index in range(collisions):
            release(forest, tree, collided[index])
    return count


@kernel
def look_ahead(
    forest: Forest,
    tree: int,
    node: int,
    stones: NDArray[np.int8],
    to_move: int,
    last: int,
    before: int,
    key: int,
    tactics: LeafTactics,
    urgent: NDArray[np.int8],
) -> tuple[int, int, int, int, int, int, bool]:
    """Goes on from a leaf that a descent ended in, as far as the threats there leave no choice.

    Returns what `descend` does, and whether `urgent` [A] says which moves come first; `stones` [A] becomes the position
    there. A leaf with one reply is opened with that move alone, which is then the leaf, as long as the simulations to
    come have a node each all the same. What the threats decide is proven; but not the root, which needs a move.
    """
    while True:
        finding, what = look(tactics, tree, stones, to_move, urgent)
        if finding == DECIDED and node != 0:
            forest.nodes[tree, node]["proof"] = what
            forest.nodes[tree, node]["state"] = PROVEN
            prove_parents(forest, tree, node)
            return END, node, to_move, last, before, key, False
        room = forest.nodes.shape[1] - forest.trees[tree]["nodes"] - forest.trees[tree]["simulations_left"]
        if finding != ONE_REPLY or room <= 0:
            return LEAF, node, to_move, last, before, key, finding in (ONE_REPLY, URGENT)
        open_for_one(forest, tree, node, what)
        node = add_child(forest, tree, node, what)
        forest.nodes[tree, node]["in_flight"] += 1
        stones[what] = to_move
        key ^= STONE_KEYS[0 if to_move == BLACK else 1, what] ^ WHITE_TO_MOVE
        to_move = -to_move
        last, before = what, last
        if count_empty(stones) == 0:
            forest.nodes[tree, node]["state"] = DRAWN
            return END, node, to_move, last, before, key, False
        forest.nodes[tree, node]["state"] = PENDING


@kernel
def open_for_one(forest: Forest, tree: int, node: int, move: int) -> None:
    """Opens a node that was never judged with a single move; the others have no prior, as if they were occupied."""
    row = forest.child_priors[tree, node]
    row[:] = -1
    row[move] = word_of(1.0)
    forest.nodes[tree, node]["next_unvisited"] = move
    forest.nodes[tree, node]["state"] = OPEN
    if node == 0:
        forest.trees[tree]["noise_share"] = 0.0


@kernel
def prove_root(forest: Forest, tree: int, tactics: LeafTactics) -> None:
    """Looks for a win of the side to move at the root, and proves the move that begins it.

    Nothing may be in flight. A full tree is left as it is.
    """
    if forest.nodes[tree, 0]["proof"] != 0:
        return
    board = board_at(tactics.boards, tree, forest.root_stones[tree])
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
        child = add_child(forest, tree, 0, move)
        forest.nodes[tree, child]["state"] = WON if plies == 1 else PROVEN
    forest.nodes[tree, child]["proof"] = plies
    prove_parents(forest, tree, child)


@kernel
def has_one_reply(forest: Forest, tree: int, tactics: LeafTactics) -> bool:
    """Whether the opponent threatens five on one cell at the root, and the side to move on none."""
    side = side_of(forest.trees[tree]["to_move"])
    board = board_at(tactics.boards, tree, forest.root_stones[tree])
    return bool(board.counts[side, FIVE] == 0) and fives_of(board, 1 - side)[0] == 1


@kernel
def open_node(
    forest: Forest,
    tree: int,
    node: int,
    stones: NDArray[np.int8],
    logits: NDArray[np.float32],
    value: float,
    weights: NDArray[np.float32],
    exponents: NDArray[np.int32],
) -> bool:
    """Writes the priors (softmax of `logits` [A] over the empty cells of `stones` [A]) and the value of a leaf.

    Returns False, with the node as it was, where a number is not finite. `weights` [A] and `exponents` [A] are scratch.
    """
    row = forest.child_priors[tree, node]
    total = write_priors(stones, logits, row, weights, exponents)
    if not (math.isfinite(total) and math.isfinite(value)):
        return False
    forest.nodes[tree, node]["value"] = value
    forest.nodes[tree, node]["state"] = OPEN
    forest.nodes[tree, node]["next_unvisited"] = scan_best(row)
    if node == 0:
        mix_root_noise(forest, tree)
    return True


@kernel
def mix_root_noise(forest: Forest, tree: int) -> None:
    """P' = (1 - share) P + share * noise over the root's moves, visited ones too; done once, then the share is 0."""
    share = forest.trees[tree]["noise_share"]
    if share <= 0.0:
        return
    forest.trees[tree]["noise_share"] = 0.0
    row = forest.child_priors[tree, 0]
    for cell in range(row.shape[0]):
        if row[cell] >= 0:
            row[cell] = word_of((1.0 - share) * prior_of(row[cell]) + share * forest.root_noise[tree, cell])
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        noise = forest.root_noise[tree, forest.nodes[tree, child]["move"]]
        forest.nodes[tree, child]["prior"] = (1.0 - share) * forest.nodes[tree, child]["prior"] + share * noise
        child = forest.nodes[tree, child]["next_sibling"]
    forest.nodes[tree, 0]["next_unvisited"] = scan_best(row)


@kernel
def expand(
    forest: Forest,
    leaves: Leaves,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    count: int,
    images: NDArray[np.int64],
    params: SearchParams,
    tactics: LeafTactics | None,
) -> int:
    """Opens the first `count` of `leaves` with what the evaluator said and backs them up.

    Returns the first leaf whose evaluation is not finite, -1 if all are. Such a leaf is put back as never judged, its
    virtual losses undone. `logits` [B, A], `values` [B] for the side to move, by `leaves.row`; `images` [8, A] is where
    each symmetry carries a cell; `tactics` is that of `gather`.
    """
    broken = -1
    cells = leaves.stones.shape[1]
    weights = np.empty(cells, dtype=np.float32)
    exponents = np.empty(cells, dtype=np.int32)
    turned = np.empty(cells, dtype=np.float32)
    for index in range(count):
        tree, node, row = leaves.tree[index], leaves.node[index], leaves.row[index]
        judged = logits[row]
        if leaves.symmetry[index] != IDENTITY:
            for cell in range(cells):
                turned[cell] = judged[images[leaves.symmetry[index], cell]]
            judged = turned
        if tactics is not None and tactics.some_urgent[index]:
            for cell in range(cells):
                turned[cell] = judged[cell] - (_NOT_URGENT if tactics.urgent[index, cell] == 0 else np.float32(0.0))
            judged = turned
        value = float(values[row])
        if open_node(forest, tree, node, leaves.stones[index], judged, value, weights, exponents):
            back_up(forest, tree, node, -value if params.repository else -params.decay * value, params.decay)
        else:
            forest.nodes[tree, node]["state"] = NEW
            release(forest, tree, node)
            if broken < 0:
                broken = index
    return broken


@kernel
def abandon(forest: Forest, leaves: Leaves, count: int) -> None:
    """Puts the first `count` of `leaves` back as never judged: their evaluation failed."""
    for index in range(count):
        forest.nodes[leaves.tree[index], leaves.node[index]]["state"] = NEW
        release(forest, leaves.tree[index], leaves.node[index])


@kernel
def root_visits(forest: Forest, tree: int, visits: NDArray[np.int32]) -> None:
    """Writes the visit count of every move at the root into `visits` [A]."""
    visits[:] = 0
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        visits[forest.nodes[tree, child]["move"]] = forest.nodes[tree, child]["visits"]
        child = forest.nodes[tree, child]["next_sibling"]


@kernel
def root_proofs(forest: Forest, tree: int, proofs: NDArray[np.int16]) -> None:
    """Writes what is proven of every move at the root into `proofs` [A], as `NODE` has it."""
    proofs[:] = 0
    if forest.nodes[tree, 0]["state"] == OPEN:
        # A legal move without a prior was left out when the root was opened for one reply: five answers it.
        for cell in range(proofs.shape[0]):
            if forest.root_stones[tree, cell] == EMPTY and forest.child_priors[tree, 0, cell] < 0:
                proofs[cell] = -2
    child = forest.nodes[tree, 0]["first_child"]
    while child != NO_NODE:
        proofs[forest.nodes[tree, child]["move"]] = forest.nodes[tree, child]["proof"]
        child = forest.nodes[tree, child]["next_sibling"]


@kernel
def root_value(forest: Forest, tree: int, decay: float) -> float:
    """The root's value for its side to move: what is proven of it, else the mean over its visited edges.

    Its own evaluation where it has none.
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


@kernel
def reroot(forest: Forest, tree: int, move: int, remap: NDArray[np.int32]) -> bool:
    """Makes the child that `move` leads to the root, keeps its subtree and frees the rest (A IV-D).

    Returns False, the nodes untouched, where the move was never visited or its node is no open one. Nothing may be in
    flight. `remap` [C] is scratch. Children are always newer than their parents, so one forward pass compacts in place.
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
            forest.child_priors[tree, kept] = forest.child_priors[tree, node]
        moved = forest.nodes[tree, kept]
        moved["parent"] = parent
        moved["first_child"] = NO_NODE
        moved["next_sibling"] = NO_NODE
        if parent != NO_NODE:
            moved["next_sibling"] = forest.nodes[tree, parent]["first_child"]
            forest.nodes[tree, parent]["first_child"] = kept
        kept += 1
    forest.trees[tree]["nodes"] = kept
    return True
