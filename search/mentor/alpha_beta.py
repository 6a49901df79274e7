"""The mentor's search: principal-variation search over the likely cells, as one compiled machine that can be paused.

Negamax with an explicit stack of frames, since numba cannot load a recursive function from its cache. So a search stops
after any number of nodes, returns to Python and goes on from the same node. Scores are for the side to move.
"""

import numpy as np
from numpy.typing import NDArray

from core.compiled.intrinsics import prefetch
from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.rules import has_moves, is_legal
from core.compiled.threats import (
    BLACK_SIDE,
    FIVE,
    FOUR,
    NONE,
    OPEN_FOUR,
    ThreatBoard,
    colour_of,
    load,
    place,
    remove,
    side_of,
    strongest_pattern,
)
from core.rules import EMPTY
from search.mentor.candidates import list_legal, list_near, list_stops, list_threats, next_best, touch
from search.mentor.evaluation import MAKES_THREE, follow, score, start
from search.mentor.scores import INFINITY, LIKELY, MATE, PROVEN, WIN
from search.mentor.state import BEST, LINE, MAX_DEPTH, MAX_PLY, NO_MOVE, SCORE, SearchState
from search.mentor.table import EXACT, LOWER, UPPER, Entries, decides, depth_of, keep, look_up, move_of, score_of
from search.solvers.fives import forced_reply
from search.solvers.vcf import VcfWork, solve_vcf

VCF_NODES = 32
"""Limit of a search for a win by fours at the horizon: a longer one costs more than it finds."""
_LEAF_FOURS = 2
"""Minimum of cells for a four at the horizon, below which that search is left out."""
_TOO_GOOD, _HOPELESS, _POOR = range(3)
"""Rows of `SearchState.margins`."""
_MARGIN_DEPTH = 4
"""The greatest depth of a node that has margins."""
_MIN_WIDTH = 4
"""Candidates that are tried however poor a position is."""

_EVALUATED, _FORCED, _LEAF, _DEFENCE, _QUIET = range(5)
"""Kinds of nodes: its score is known at once; one reply; the horizon; a threat to answer; any move may be played."""
_FULL, _SCOUT, _REDUCED = range(3)
"""Searches of a child: with the full window; with an empty window; with an empty window and less depth."""


@lean_kernel
def _wins_soon(board: ThreatBoard, state: SearchState, side: int) -> bool:
    """Return True if `side`, to move, wins by an open four or two fours at once, unless the opponent makes five first.

    In renju two fours are forbidden to Black, and an open four may be.
    """
    if state.evaluation.wins[side] == 0:
        return False
    if board.rules.has_fouls is None or side != BLACK_SIDE:
        return True
    for cell in range(len(board.stones)):
        is_open_four = strongest_pattern(board, side, cell) == OPEN_FOUR
        if is_open_four and is_legal(board.rules, board.stones, cell, colour_of(side)):
            return True
    return False


@lean_inlined_kernel
def _lists_all_answers(board: ThreatBoard, other: int) -> bool:
    """Return True if cells where either side makes a four are the only answers to a win of `other` by fours.

    In caro a stone farther away may spoil one, in renju one that makes Black's move forbidden.
    """
    rules = board.rules
    return not (rules.needs_open_end is not None or (rules.has_fouls is not None and other == BLACK_SIDE))


@lean_kernel
def set_up(board: ThreatBoard, state: SearchState, stones: NDArray[np.int8], colour: int) -> int:
    """Begin a search of `stones` [A] with `colour` to move: list the root's candidates and return their number.

    The fields of `PROGRESS` that limit the search are set already.
    """
    load(board, stones)
    start(state.evaluation, board)
    side, empties, key = side_of(colour), 0, 0
    progress = state.progress[0]
    state.near[:] = 0
    state.history[:] = 0
    state.countermoves[:] = NO_MOVE
    for cell in range(len(stones)):
        if stones[cell] == EMPTY:
            empties += 1
        else:
            touch(state.near, cell, board.rules.size, 1)
            key ^= int(state.keys[side_of(stones[cell]), cell])
    progress["side"], progress["empties"], progress["nodes"] = side, empties, 0
    for ply in range(len(state.frames)):
        state.frames[ply]["first_killer"] = state.frames[ply]["second_killer"] = NO_MOVE
    frame = state.frames[0]
    frame["complete"], frame["kind"], frame["key"] = True, _DEFENCE, key
    if board.counts[side, FIVE] > 0:
        frame["count"] = list_legal(board, state.root_moves, colour, side, FIVE)
    elif board.counts[1 - side, FIVE] > 0:
        if board.rules.needs_open_end is not None:
            frame["count"] = list_stops(board, state.ranked[0], 1 - side)
            for index in range(frame["count"]):
                state.root_moves[index] = state.ranked[0, index]
        else:
            frame["count"] = list_legal(board, state.root_moves, colour, 1 - side, FIVE)
    else:
        if _wins_soon(board, state, side) or _wins_soon(board, state, 1 - side):
            frame["count"] = list_threats(board, state, side, 0, NO_MOVE)
            frame["complete"] = _lists_all_answers(board, 1 - side)
        else:
            frame["kind"] = _QUIET
            frame["count"] = list_near(board, state, side, 0, NO_MOVE)
            frame["complete"] = frame["count"] == empties
        for index in range(frame["count"]):
            state.root_moves[index] = next_best(state.ranked[0], index, frame["count"])
    if frame["count"] == 0:
        # All likely moves are forbidden.
        frame["count"] = list_legal(board, state.root_moves, colour, side, NONE)
    return int(frame["count"])


@lean_inlined_kernel
def _open(board: ThreatBoard, state: SearchState, entries: Entries, vcf: VcfWork, side: int, ply: int) -> None:
    """Begin the node on `ply` with `side` to move: evaluate it or list its candidates, in its frame.

    An evaluated node has no candidates and its score as the best one.
    """
    frame, progress = state.frames[ply], state.progress[0]
    frame["count"], frame["next"], frame["complete"], frame["kind"] = 0, 0, True, _EVALUATED
    frame["best_move"], frame["floor"] = NO_MOVE, frame["alpha"]
    state.variations[ply, 0] = 0
    other, empties = 1 - side, progress["empties"] - ply
    last = ply + 1 >= MAX_PLY
    if board.counts[side, FIVE] > 0:
        frame["best"] = WIN - ply - 1
        return
    has_fouls = board.rules.has_fouls is not None and side == BLACK_SIDE
    if empties == 0 or (has_fouls and not has_moves(board.rules, board.stones, colour_of(side))):
        frame["best"] = 0
        return
    if board.counts[other, FIVE] > 0:
        count, reply = forced_reply(board, side)
        if count > 1:
            frame["best"] = -(WIN - ply - 2)
        elif last:
            frame["best"] = 0
        elif count == 0:
            frame["kind"], frame["best"], frame["child_depth"] = _DEFENCE, -INFINITY, frame["depth"]
            frame["count"] = frame["listed"] = list_stops(board, state.ranked[ply], other)
        else:
            state.ranked[ply, 0] = reply
            # A forced reply costs no depth, so that the search follows a row of fours to its end.
            frame["kind"], frame["count"], frame["best"], frame["child_depth"] = _FORCED, 1, -INFINITY, frame["depth"]
        return
    if board.counts[side, OPEN_FOUR] > 0 and (not has_fouls or _wins_soon(board, state, side)):
        frame["best"] = WIN - ply - 3
        return

    depth, table_move = int(frame["depth"]), NO_MOVE
    entry = look_up(entries, frame["key"])
    if entry != 0:
        table_move, known = move_of(entry), score_of(entry)
        deep = depth_of(entry) >= depth or abs(known) >= PROVEN
        if deep and frame["beta"] - frame["alpha"] == 1:
            if known >= MATE:
                known -= ply
            elif known <= -MATE:
                known += ply
            if decides(entry, known, frame["alpha"], frame["beta"]):
                frame["best"] = known
                return

    if state.evaluation.wins[side] > 0 and not has_fouls:
        frame["best"] = WIN - ply - 3
        return
    if table_move == NO_MOVE:
        depth -= state.reductions[min(depth, MAX_DEPTH), 0]
        frame["depth"] = depth
    alpha, beta, poor = int(frame["alpha"]), int(frame["beta"]), False
    if (
        0 < depth <= _MARGIN_DEPTH
        and beta - alpha == 1
        and -MATE < alpha < MATE
        and state.evaluation.wins[other] == 0
        and not last
    ):
        value = score(state.evaluation, side)
        if value - beta >= state.margins[_TOO_GOOD, depth]:
            frame["best"] = value
            return
        if alpha - value >= state.margins[_HOPELESS, depth]:
            depth = 0
        poor = alpha - value > state.margins[_POOR, depth]
    if depth <= 0 or last:
        frame["kind"], frame["best"] = _LEAF, score(state.evaluation, side)
        if frame["best"] < frame["beta"] and board.counts[side, FOUR] >= _LEAF_FOURS:
            plies = solve_vcf(board, vcf, side, int(progress["vcf_nodes"]), True)
            progress["nodes"] += vcf.tally[0]
            if plies > 0:
                frame["kind"], frame["best"] = _EVALUATED, WIN - ply - plies
    else:
        frame["best"], frame["child_depth"] = -INFINITY, depth - 1
        # Passing a board to another kernel costs more than this look.
        if state.evaluation.wins[other] > 0 and (board.rules.has_fouls is None or _wins_soon(board, state, other)):
            frame["kind"] = _DEFENCE
            frame["complete"] = _lists_all_answers(board, other)
            frame["count"] = list_threats(board, state, side, ply, table_move)
        else:
            frame["kind"] = _QUIET
            frame["count"] = list_near(board, state, side, ply, table_move)
        frame["listed"] = frame["count"]
        if frame["kind"] == _QUIET:
            width = state.widths[min(depth, MAX_DEPTH)]
            frame["count"] = min(frame["listed"], max(_MIN_WIDTH, width // 2) if poor else width)
            frame["complete"] = frame["count"] == empties
        if has_fouls and frame["count"] == 0:
            # Each likely move is forbidden to Black, and against a threat no other helps.
            lost = frame["kind"] == _DEFENCE and frame["complete"]
            frame["best"] = -(WIN - ply - 4) if lost else score(state.evaluation, side)
            frame["kind"] = _EVALUATED


@lean_kernel
def begin_iteration(state: SearchState, depth: int, alpha: int, beta: int) -> None:
    """Set the root for a search to `depth` between `alpha` and `beta`, its candidates in the order of `root_moves`."""
    frame, progress = state.frames[0], state.progress[0]
    frame["alpha"], frame["beta"], frame["floor"] = alpha, beta, alpha
    frame["depth"], frame["child_depth"] = depth, depth - 1
    frame["next"], frame["best"], frame["best_move"] = 0, -INFINITY, NO_MOVE
    state.root[:, BEST] = -INFINITY
    progress["ply"], progress["entering"], progress["reached"] = 0, False, 0


@lean_kernel
def run(board: ThreatBoard, state: SearchState, vcf: VcfWork, nodes: int) -> bool:
    """Search for up to `nodes` nodes more, or until the search is over; return True if the iteration is finished."""
    progress = state.progress[0]
    ply, entering = int(progress["ply"]), bool(progress["entering"])
    side = int(progress["side"]) ^ (ply & 1)
    limit = progress["nodes"] + nodes
    slots = int(progress["slots"])
    entries = Entries(state.table, slots, int(progress["generation"]), int(progress["oldest"]))
    finished = False
    while True:
        if entering:
            if progress["nodes"] >= limit or state.over[0] >= progress["generation"]:
                break
            progress["nodes"] += 1
            _open(board, state, entries, vcf, side, ply)
            entering = False
        frame = state.frames[ply]
        index = int(frame["next"])
        if index < frame["count"] and frame["alpha"] < frame["beta"]:
            if ply == 0:
                cell = int(state.root_moves[index])
            elif frame["kind"] == _FORCED:
                cell = int(state.ranked[ply, 0])
            else:
                cell = next_best(state.ranked[ply], index, int(frame["listed"]))
            stage, left = _FULL, int(frame["child_depth"])
            if index > 0:
                stage = _SCOUT
                if frame["kind"] == _QUIET:
                    less = int(state.reductions[min(frame["depth"], MAX_DEPTH), min(index, 31)])
                    packed = state.evaluation.packed[side, cell]
                    if less > 0 and not state.evaluation.good_for[packed] & MAKES_THREE:
                        stage, left = _REDUCED, left - less
            key = int(frame["key"] ^ state.keys[side, cell])
            state.frames[ply + 1]["key"] = key
            # Half a million places are far from the processor's cache; placing the stone takes as long as the fetch.
            prefetch(state.table, 2 * (key & (slots - 1)))
            place(board, cell, colour_of(side))
            follow(state.evaluation, board, cell)
            touch(state.near, cell, board.rules.size, 1)
            frame["move"] = cell
        else:
            # The node is finished.
            best = int(frame["best"])
            if best <= -PROVEN and not frame["complete"]:
                best += WIN - LIKELY
            if ply == 0:
                finished = True
                break
            if frame["kind"] > _FORCED:
                bound = LOWER if best >= frame["beta"] else EXACT if best > frame["floor"] else UPPER
                counted = best + ply if best >= MATE else best - ply if best <= -MATE else best
                keep(entries, int(frame["key"]), counted, int(frame["depth"]), int(frame["best_move"]), bound)
            ply, side = ply - 1, 1 - side
            frame = state.frames[ply]
            cell, value, stage, left = int(frame["move"]), -best, int(frame["stage"]), int(frame["child_depth"])
            again = True
            if stage == _REDUCED and value > frame["alpha"]:
                stage = _SCOUT
            elif stage == _SCOUT and frame["alpha"] < value < frame["beta"]:
                stage = _FULL
            else:
                again = False
            if not again:
                touch(state.near, cell, board.rules.size, -1)
                remove(board, cell)
                follow(state.evaluation, board, cell)
                if ply == 0:
                    _record_root(state, cell, value)
                else:
                    _record(state, frame, side, ply, cell, value)
                continue
        frame["stage"] = stage
        child = state.frames[ply + 1]
        child["depth"], child["alpha"] = max(left, 0), -frame["alpha"] - 1
        child["beta"] = -frame["alpha"]
        if stage == _FULL:
            child["alpha"] = -frame["beta"]
        ply, side, entering = ply + 1, 1 - side, True
    progress["ply"], progress["entering"] = ply, entering
    return finished


@lean_kernel
def _record_root(state: SearchState, cell: int, value: int) -> None:
    """Record the score and the line of the root's move that was tried last; the window keeps what must be exact."""
    # Apart from `_record`, since it is rare: within it, every node paid for it with a tenth of the speed.
    frame, progress, best_scores = state.frames[0], state.progress[0], state.root[:, BEST]
    index = int(frame["next"])
    frame["next"] = index + 1
    if value <= -PROVEN and not frame["complete"]:
        # Some move not searched may hold; the longest resistance still comes first.
        value += WIN - LIKELY
    state.root[index, SCORE] = value
    progress["reached"] = index + 1
    line, rest = state.root[index, LINE:], state.variations[1]
    line[0] = 0
    if value > frame["best"] or value > frame["alpha"]:
        line[0], line[1] = rest[0] + 1, cell
        for at in range(1, int(rest[0]) + 1):
            line[at + 1] = rest[at]
    last = int(progress["lines"]) - 1
    if value > best_scores[last]:
        best_scores[last] = value
        for at in range(last, 0, -1):
            if best_scores[at] > best_scores[at - 1]:
                best_scores[at], best_scores[at - 1] = best_scores[at - 1], best_scores[at]
    frame["alpha"] = max(frame["alpha"], min(best_scores[0] - progress["margin"] - 1, best_scores[last]))
    if value > frame["best"]:
        frame["best"], frame["best_move"] = value, cell
        if value >= frame["beta"]:
            frame["alpha"] = frame["beta"]  # nothing more is tried


@lean_inlined_kernel
def _record(state: SearchState, frame: NDArray[np.void], side: int, ply: int, cell: int, value: int) -> None:
    """Record the score of the move that was tried last in its node, which is not the root."""
    frame["next"] += 1
    if value > frame["best"]:
        frame["best"], frame["best_move"] = value, cell
        if value > frame["alpha"]:
            length = int(state.variations[ply + 1, 0])
            state.variations[ply, 0], state.variations[ply, 1] = length + 1, cell
            for at in range(1, length + 1):
                state.variations[ply, at + 1] = state.variations[ply + 1, at]
            frame["alpha"] = value
        if value >= frame["beta"]:
            frame["alpha"] = frame["beta"]  # nothing more is tried
            if frame["kind"] == _QUIET:
                if cell != frame["first_killer"]:
                    frame["second_killer"], frame["first_killer"] = frame["first_killer"], cell
                bonus = min(int(frame["depth"]) ** 2, 100)
                state.history[side, cell] += bonus - state.history[side, cell] * bonus // 1024
                state.countermoves[side, state.frames[ply - 1]["move"]] = cell
