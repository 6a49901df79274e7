"""Tactics at leaves: threats that decide a position, leave one reply, or make some moves urgent.

A net sees shapes, not rows of fours. With tactics it evaluates only positions in which no side can make five with the
next stone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.rules import CompiledRules, has_moves, is_legal
from core.compiled.threats import (
    FIVE,
    FOUR,
    OPEN_FOUR,
    ThreatBoard,
    colour_of,
    new_threat_board,
    packed_patterns,
    place,
    remove,
    side_of,
)
from core.rules import BLACK, EMPTY, NO_CELL, Rules
from search.solvers.fives import fives_of, forced_reply
from search.solvers.vcf import WINS_AT_ONCE, VcfWork, new_vcf_work, solve_vcf
from search.tree.settings import SearchSettings

# Findings about a position.
UNDECIDED = 0
DECIDED = 1
"""The position is won or lost."""
ONE_REPLY = 2
"""The opponent threatens to make five on one cell: every other move loses at once."""
URGENT = 3
"""The opponent threatens an open four or two fours: few moves prevent it."""
FILLED = 4
"""The last stone filled the board."""

_LEAF_TABLE_BITS = 8
"""The table of a leaf's search is small, since it is emptied before each search."""
_ROOT_TABLE_BITS = 14


class LeafTactics(NamedTuple):
    """The boards and scratch with which a thread examines the threats on its leaves, and the limits of that."""

    boards: ThreatBoard
    """[G, …] a board a tree (`new_boards`) with the position examined last: the next is a few stones away."""
    work: VcfWork
    has_urgent: NDArray[np.bool_]
    """[L] True if some moves of the leaf in flight come before all others."""
    urgent: NDArray[np.int8]
    """[L, A] 1 for these moves, 0 for the others."""
    replies: NDArray[np.int16]
    """[L, A] the single replies that lead on from the leaf (`follow_replies`)."""
    forced_moves: bool
    """True to find fives of the next move or two."""
    vcf_nodes: int
    """Nodes of a search for a victory by continuous fours; 0 for none."""
    shortest: bool
    """True for the shortest of such victories, False for the first one that is found, with half the nodes."""
    shuns_open_fours: bool
    """True to leave out moves that let the opponent make an open four, or put them last (`others_lose`)."""


def new_boards(rules: Rules, trees: int) -> ThreatBoard:
    """Return the arrays of `trees` empty boards, which share their constant arrays."""
    board = new_threat_board(rules)
    return board._replace(
        stones=np.stack([board.stones] * trees),
        codes=np.stack([board.codes] * trees),
        patterns=np.stack([board.patterns] * trees),
        counts=np.stack([board.counts] * trees),
    )


def new_leaf_work(rules: Rules) -> VcfWork:
    """Return scratch for the searches of a thread at its leaves."""
    return new_vcf_work(rules, _LEAF_TABLE_BITS)


def make_leaf_tactics(rules: Rules, boards: ThreatBoard, leaves: int, settings: SearchSettings) -> LeafTactics:
    """Return the tactics of a thread with up to `leaves` leaves in flight."""
    return LeafTactics(
        boards=boards,
        work=new_leaf_work(rules),
        has_urgent=np.zeros(leaves, dtype=np.bool_),
        urgent=np.zeros((leaves, rules.cells), dtype=np.int8),
        replies=np.zeros((leaves, rules.cells), dtype=np.int16),
        forced_moves=settings.forced_moves,
        vcf_nodes=settings.vcf_leaf_nodes,
        shortest=False,
        shuns_open_fours=settings.shun_open_fours,
    )


def make_root_tactics(rules: Rules, boards: ThreatBoard, *, vcf_nodes: int) -> LeafTactics:
    """Return the tactics of roots: fives, and wins by continuous fours."""
    settings = SearchSettings(forced_moves=True, vcf_leaf_nodes=vcf_nodes)
    tactics = make_leaf_tactics(rules, boards, 0, settings)
    return tactics._replace(work=new_vcf_work(rules, _ROOT_TABLE_BITS), shortest=True)


@lean_inlined_kernel
def load_board(boards: ThreatBoard, tree: int, stones: NDArray[np.int8]) -> ThreatBoard:
    """Return the board of a tree after changing the cells that differ from `stones` [A].

    Its arrays are views without references, for lean kernels alone.
    """
    board = ThreatBoard(
        boards.rules,
        boards.table,
        boards.reach,
        boards.stones[tree],
        boards.room,
        boards.codes[tree],
        boards.patterns[tree],
        boards.counts[tree],
    )
    known = board.stones
    for cell in range(len(stones)):
        if known[cell] != stones[cell]:
            if known[cell] != EMPTY:
                remove(board, cell)
            if stones[cell] != EMPTY:
                place(board, cell, int(stones[cell]))
    return board


@lean_inlined_kernel
def winning_move(board: ThreatBoard, tactics: LeafTactics, side: int) -> tuple[int, int]:
    """Return the first move and the plies of a proven win of `side`, which is to move; (`NO_CELL`, 0) without one.

    The result depends on the position alone, which must be without a five.
    """
    work = tactics.work
    if board.counts[side, FIVE] > 0:
        return (fives_of(board, side)[1], 1) if tactics.forced_moves or tactics.vcf_nodes > 0 else (NO_CELL, 0)
    if tactics.vcf_nodes == 0 or board.counts[side, FOUR] + board.counts[side, OPEN_FOUR] == 0:
        return NO_CELL, 0
    # Old entries would shorten the search, and the result would depend on earlier positions.
    work.table[:] = 0
    plies = solve_vcf(board, work, side, tactics.vcf_nodes, tactics.shortest)
    return (int(work.line[0]), plies) if plies > 0 else (NO_CELL, 0)


@lean_kernel
def examine(
    tactics: LeafTactics, tree: int, stones: NDArray[np.int8], to_move: int, urgent: NDArray[np.int8]
) -> tuple[int, int]:
    """Return the finding about the threats of a position in a tree, and its detail.

    The detail of `DECIDED` is the proof of the edge into the position (`forest.NODE`), that of `ONE_REPLY` the reply.
    With `URGENT` the moves that answer the threat are 1 in `urgent` [A], all others 0.
    """
    board, side = load_board(tactics.boards, tree, stones), side_of(to_move)
    _, plies = winning_move(board, tactics, side)
    if plies > 0:
        return DECIDED, -(plies + 1)
    if tactics.forced_moves:
        fives, reply = forced_reply(board, side)
        if fives > 1:
            return DECIDED, 3
        if fives == 1:
            return ONE_REPLY, reply
    if tactics.shuns_open_fours and mark_urgent(board, tactics.work, side, urgent):
        return URGENT, NO_CELL
    return UNDECIDED, NO_CELL


@lean_kernel
def follow_replies(
    tactics: LeafTactics, tree: int, stones: NDArray[np.int8], to_move: int, leaf: int, is_root: bool
) -> tuple[int, int, int, int]:
    """Play on from a leaf while the threats leave a single reply; `stones` [A] follow.

    Return the finding about the position at the end, its detail as in `examine`, the number of replies, which are in
    `tactics.replies` of `leaf`, and the side to move. The finding is `UNDECIDED`, `DECIDED` or `FILLED`; urgent moves
    are in `tactics.urgent`. A root needs a move, so threats do not decide it.
    """
    replies = tactics.replies[leaf]
    tactics.has_urgent[leaf] = False
    count = 0
    while True:
        finding, detail = examine(tactics, tree, stones, to_move, tactics.urgent[leaf])
        if finding == DECIDED and (count > 0 or not is_root):
            return DECIDED, detail, count, to_move
        if finding != ONE_REPLY:
            tactics.has_urgent[leaf] = finding == URGENT
            return UNDECIDED, 0, count, to_move
        replies[count] = detail
        count += 1
        stones[detail] = to_move
        to_move = -to_move
        if not has_moves(tactics.boards.rules, stones, to_move):
            return FILLED, 0, count, to_move


@lean_inlined_kernel
def mark_urgent(board: ThreatBoard, work: VcfWork, side: int, urgent: NDArray[np.int8]) -> bool:
    """Return True if the opponent of `side` threatens to make an open four or two fours at once.

    Then the cells where either side can make a four or five are 1 in `urgent` [A]: every stone that parries such a
    threat lies on one where the opponent could make a four, and a four of one's own wins time.
    """
    counts = board.counts[1 - side]
    if counts[OPEN_FOUR] == 0 and counts[FOUR] < 2:
        return False
    # Passing a board to another kernel costs more than reading a cell.
    # `is_legal` would keep this loop from vector instructions; priors are given to legal moves alone.
    stones, own, other = board.stones, board.patterns[side], board.patterns[1 - side]
    threatened = False
    for cell in range(len(stones)):
        mine = max(own[0, cell], own[1, cell], own[2, cell], own[3, cell])
        theirs = max(other[0, cell], other[1, cell], other[2, cell], other[3, cell])
        urgent[cell] = stones[cell] == EMPTY and max(mine, theirs) >= FOUR
        if stones[cell] == EMPTY and theirs >= FOUR and not threatened:
            wins = work.ranks[packed_patterns(board, 1 - side, cell)] == WINS_AT_ONCE
            threatened = wins and is_legal(board.rules, stones, cell, colour_of(1 - side))
    return threatened


@lean_inlined_kernel
def others_lose(rules: CompiledRules, to_move: int) -> bool:
    """Return True if every move that `mark_urgent` leaves out loses, by an open four or two fours and five.

    In caro a stone at a distance closes a line, and in renju one may forbid the move with which Black would win.
    """
    return rules.needs_open_end is None and (rules.has_fouls is None or to_move == BLACK)
