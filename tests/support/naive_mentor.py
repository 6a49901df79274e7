"""The mentor's search in plain recursive Python, without windows, tables or reductions; a solver of small boards."""

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import (
    FIVE,
    FOUR,
    OPEN_FOUR,
    PATTERNS,
    ThreatBoard,
    load,
    new_threat_board,
    side_of,
    strongest_pattern,
)
from core.position import Position
from core.rules import EMPTY, Rules
from search.mentor.evaluation import HIDDEN, MAX_SCORE, new_evaluation
from search.mentor.scores import LIKELY, PROVEN, WIN

PATTERN_SETS = list(combinations_with_replacement(range(PATTERNS), 4))


def evaluation(board: ThreatBoard, side: int) -> int:
    """Return the network's score for `side`, to move, from all cells at once, in double precision, rounded to 0."""
    network = new_evaluation(Rules(3, 3))
    empty = board.stones == EMPTY
    sums = network.first_bias.astype(np.int64)
    for half, who in enumerate((side, 1 - side)):
        for patterns in board.patterns[who][:, empty].T.tolist():
            place = PATTERN_SETS.index(tuple(sorted(patterns)))
            sums = sums + network.rows[place, half * HIDDEN : (half + 1) * HIDDEN]
    hidden = np.maximum(sums, 0).astype(np.float64)
    units = np.maximum(hidden @ network.second.astype(np.float64) + network.second_bias, 0)
    return int(np.clip(units @ network.third.astype(np.float64) + network.third_bias[0], -MAX_SCORE, MAX_SCORE))


def wins_at_once(board: ThreatBoard, side: int, cell: int) -> bool:
    """Return True if a stone of `side` on a cell makes an open four or two fours."""
    patterns = board.patterns[side, :, cell].tolist()
    return max(patterns) >= OPEN_FOUR or patterns.count(FOUR) > 1


def negamax(position: Position, depth: int, ply: int = 0) -> int:
    """Return the exact score for the side to move, all moves near stones tried to `depth`, without VCF searches."""
    rules, side = position.rules, side_of(position.side_to_move)
    board = new_threat_board(rules)
    load(board, stones_of(position))
    empty = [int(cell) for cell in np.flatnonzero(stones_of(position) == EMPTY)]
    mine = {cell: strongest_pattern(board, side, cell) for cell in empty}
    theirs = {cell: strongest_pattern(board, 1 - side, cell) for cell in empty}
    if FIVE in mine.values():
        return WIN - ply - 1
    if not empty:
        return 0
    fives = [cell for cell in empty if theirs[cell] == FIVE]
    if len(fives) > 1:
        return -(WIN - ply - 2)
    if fives:
        return _best(position, fives, depth, ply)
    if any(wins_at_once(board, side, cell) for cell in empty):
        return WIN - ply - 3
    if depth <= 0:
        return evaluation(board, side)
    if any(wins_at_once(board, 1 - side, cell) for cell in empty):
        return _best(position, [cell for cell in empty if max(mine[cell], theirs[cell]) >= FOUR], depth - 1, ply)
    near = [cell for cell in empty if is_near(stones_of(position), cell, rules.size)]
    best = _best(position, near, depth - 1, ply)
    # Lost against all that was tried, but a move far away may hold.
    return best + WIN - LIKELY if best <= -PROVEN and len(near) < len(empty) else best


def _best(position: Position, moves: list[int], depth: int, ply: int) -> int:
    scores = []
    for move in moves:
        position.push(move)
        scores.append(-negamax(position, depth, ply + 1))
        position.pop()
    return max(scores)


def is_near(stones: NDArray[np.int8], cell: int, size: int) -> bool:
    """Return True if a stone stands within two rows and columns."""
    row, column = divmod(cell, size)
    square = stones.reshape(size, size)[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
    return bool(np.any(square != EMPTY))


def solve(board: Position, known: dict[bytes, int]) -> int:
    """Return the result for the side to move with best play, by trying everything; `known`: results by stones."""
    outcome = board.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else -1
    key = board.stones.tobytes()
    if key not in known:
        best = -1
        for cell in board.legal_moves():
            board.push(int(cell))
            best = max(best, -solve(board, known))
            board.pop()
            if best == 1:
                break
        known[key] = best
    return known[key]
