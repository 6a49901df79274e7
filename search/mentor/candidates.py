"""Candidate moves of the mentor's search: their lists, their ranks, and the best of the rest."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.rules import is_forbidden, is_legal
from core.compiled.threats import BLACK_SIDE, FIVE, ThreatBoard, colour_of, strongest_pattern
from core.rules import EMPTY, NO_CELL
from search.mentor.evaluation import MAKES_FOUR, MAYBE_FOUL
from search.mentor.state import NO_MOVE, SearchState
from search.solvers.fives import open_end

_OWN, _OTHER = 5, 4
"""Weights of a pattern of one's own and of an opponent's pattern spoilt, relative to each other."""
_SCALE = 16
_CELL_BITS = 10
_CELL_MASK = (1 << _CELL_BITS) - 1
_FIRST = (1 << 31 - _CELL_BITS) - 1
"""Rank of the transposition table's move."""
_KILLER = 1_600
"""Bonus of a killer move: that of a pattern of one's own with weight 20."""
_COUNTERMOVE = 1_000
"""Bonus of a countermove."""


@lean_kernel
def touch(near: NDArray[np.int16], cell: int, size: int, change: int) -> None:
    """Add `change` to the stones counted near each cell around `cell`."""
    row, column = cell // size, cell % size
    for r in range(max(row - 2, 0), min(row + 3, size)):
        for c in range(max(column - 2, 0), min(column + 3, size)):
            near[r * size + c] += change


@lean_kernel
def list_legal(board: ThreatBoard, moves: NDArray[np.int16], colour: int, side: int, least: int) -> int:
    """Write the legal moves of `colour` where `side` would make `least` or more to `moves`; return their number."""
    count = 0
    for cell in range(len(board.stones)):
        if is_legal(board.rules, board.stones, cell, colour) and strongest_pattern(board, side, cell) >= least:
            moves[count] = cell
            count += 1
    return count


@lean_kernel
def list_stops(board: ThreatBoard, ranked: NDArray[np.int32], side: int) -> int:
    """List the cells on which a stone prevents a five of `side` in caro, and return their number."""
    count = 0
    for cell in range(len(board.stones)):
        for direction in range(4):
            if board.stones[cell] == EMPTY and board.patterns[side, direction, cell] == FIVE:
                for stop in (cell, open_end(board, side, direction, cell)):
                    known = stop == NO_CELL
                    for index in range(count):
                        known = known or ranked[index] == stop
                    if not known:
                        ranked[count] = stop
                        count += 1
    return count


@lean_inlined_kernel
def list_threats(board: ThreatBoard, state: SearchState, side: int, ply: int, table_move: int) -> int:
    """List the cells where either side makes a four, with their ranks, and return their number.

    Only a four of one's own, or an opponent's four spoilt, answers the threat of an open four or of two fours.
    """
    ranked, rules, stones, evaluation = state.ranked[ply], board.rules, board.stones, state.evaluation
    mine, theirs = evaluation.packed[side], evaluation.packed[1 - side]
    order, good_for = evaluation.order, evaluation.good_for
    count, colour = 0, colour_of(side)
    for cell in range(len(stones)):
        makes_four = (good_for[mine[cell]] | good_for[theirs[cell]]) & MAKES_FOUR
        if makes_four and is_legal(rules, stones, cell, colour):
            worth = _OWN * order[mine[cell]] + _OTHER * order[theirs[cell]]
            ranked[count] = (_FIRST if cell == table_move else worth) << _CELL_BITS | cell
            count += 1
    return count


@lean_inlined_kernel
def list_near(board: ThreatBoard, state: SearchState, side: int, ply: int, table_move: int) -> int:
    """List the legal moves near stones, with their ranks, and return their number."""
    ranked, rules, stones = state.ranked[ply], board.rules, board.stones
    near, history, colour = state.near, state.history[side], colour_of(side)
    mine, theirs, order = state.evaluation.packed[side], state.evaluation.packed[1 - side], state.evaluation.order
    first, second = state.frames[ply]["first_killer"], state.frames[ply]["second_killer"]
    counter = state.countermoves[side, state.frames[ply - 1]["move"]] if ply > 0 else NO_MOVE
    good_for, has_fouls = state.evaluation.good_for, rules.has_fouls is not None and side == BLACK_SIDE
    count = 0
    for cell in range(len(stones)):
        if stones[cell] == EMPTY and near[cell] > 0:
            if has_fouls and good_for[mine[cell]] & MAYBE_FOUL and is_forbidden(rules, stones, cell, colour):
                continue
            worth = _SCALE * (_OWN * order[mine[cell]] + _OTHER * order[theirs[cell]]) + history[cell]
            if cell == table_move:
                worth = _FIRST
            elif cell in (first, second):
                worth += _KILLER
            elif cell == counter:
                worth += _COUNTERMOVE
            ranked[count] = worth << _CELL_BITS | cell
            count += 1
    return count


@lean_kernel
def next_best(ranked: NDArray[np.int32], index: int, count: int) -> int:
    """Move the best of the candidates from `index` on to `index`, and return its cell."""
    # Two short loops, the first of them in vector instructions: most of the time would go here otherwise.
    best = ranked[index]
    for other in range(index + 1, count):
        best = max(best, ranked[other])
    at = index
    while ranked[at] != best:
        at += 1
    ranked[at] = ranked[index]
    ranked[index] = best
    return int(best & _CELL_MASK)
