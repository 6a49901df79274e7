"""The mentor's search in plain recursive Python: negamax without windows, tables or reductions."""

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import EMPTY
from core.threats import FIVE, FOUR, ThreatBoard, load, new_threat_board, side_of, strongest_pattern
from search.mentor_evaluation import CELL_WINS, TEMPO, cell_tables
from search.mentor_search import LIKELY, PROVEN, WIN


def evaluation(board: ThreatBoard, side: int) -> int:
    """What the cells are worth to `side`, to move, less what they are worth to the opponent."""
    tables = cell_tables()
    score = TEMPO
    for cell in np.flatnonzero(board.stones == EMPTY).tolist():
        score += int(tables.to_move[packed(board, side, cell)]) - int(tables.waiting[packed(board, 1 - side, cell)])
    return score


def packed(board: ThreatBoard, side: int, cell: int) -> int:
    """The four patterns of a cell as one number."""
    return sum(int(pattern) << 3 * direction for direction, pattern in enumerate(board.patterns[side, :, cell]))


def negamax(position: Position, depth: int, ply: int = 0) -> int:
    """The exact score for the side to move, all moves near stones tried to `depth`, without searches for fours."""
    rules, side = position.rules, side_of(position.side_to_move)
    board = new_threat_board(rules)
    load(board, position.stones)
    empty = [int(cell) for cell in np.flatnonzero(position.stones == EMPTY)]
    mine = {cell: strongest_pattern(board, side, cell) for cell in empty}
    theirs = {cell: strongest_pattern(board, 1 - side, cell) for cell in empty}
    order = cell_tables().order
    if FIVE in mine.values():
        return WIN - ply - 1
    if not empty:
        return 0
    fives = [cell for cell in empty if theirs[cell] == FIVE]
    if len(fives) > 1:
        return -(WIN - ply - 2)
    if fives:
        return _best(position, fives, depth, ply)
    if any(order[packed(board, side, cell)] >= CELL_WINS for cell in empty):
        return WIN - ply - 3
    if depth <= 0:
        return evaluation(board, side)
    if any(order[packed(board, 1 - side, cell)] >= CELL_WINS for cell in empty):
        return _best(position, [cell for cell in empty if max(mine[cell], theirs[cell]) >= FOUR], depth - 1, ply)
    near = [cell for cell in empty if is_near(position.stones, cell, rules.size)]
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
    """Whether a stone stands within two rows and columns."""
    row, column = divmod(cell, size)
    square = stones.reshape(size, size)[max(row - 2, 0) : row + 3, max(column - 2, 0) : column + 3]
    return bool(np.any(square != EMPTY))
