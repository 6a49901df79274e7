"""The mentor of paper A (IV-C): one ply, the paper's scores and rules; its repository fills the gaps of the paper.

It keeps nothing between calls and releases the GIL.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from core.compiled import near_stones, stones_of
from core.compiled.jit import kernel
from core.compiled.rules import is_legal
from core.compiled.threats import (
    FIVE,
    FOUR,
    NONE,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    THREE,
    TWO,
    ThreatBoard,
    load,
    new_threat_board,
    packed_patterns,
    place,
    remove,
    side_of,
    table_of,
)
from core.position import Position
from core.rules import EMPTY
from search.limit import Limit
from search.mentor.player import centre, drawn_decision
from search.players import Decision, Player, Stop, decide_each, never

_PAPER_SCORES = {NONE: 0.0, TWO: 2.0, OPEN_TWO: 2.5, THREE: 3.0, OPEN_THREE: 3.5, FOUR: 4.0, OPEN_FOUR: 4.5, FIVE: 5.0}
"""The paper's scores of a stone, by its strongest pattern alone."""
_SURELY_FIVE = 4.5
"""Larger values than this are of moves that make a five."""


@cache
def _paper_scores() -> NDArray[np.float64]:
    """Return the paper's scores of a stone, [PACKED], by its packed patterns.

    Combinations the paper does not list count as their strongest member; so do two fours along different lines.
    """

    def score(patterns: tuple[int, ...]) -> float:
        single = _PAPER_SCORES[max(patterns)]
        if single == 4.0 and OPEN_THREE in patterns:
            return 4.3
        if single == 3.5 and patterns.count(OPEN_THREE) > 1:
            return 3.8
        if single == 2.5 and patterns.count(OPEN_TWO) > 1:
            return 3.0
        return single

    return table_of(score, np.float64)


@kernel
def _paper_leaf(board: ThreatBoard, scores: NDArray[np.float64], side: int) -> float:
    """Return the paper's value, -5 to 5, of a board for `side`, which has just moved."""
    attack, defence = 0.0, 0.0
    for cell in range(len(board.stones)):
        if board.stones[cell] != EMPTY:
            owner = side_of(board.stones[cell])
            score = scores[packed_patterns(board, owner, cell)]
            if owner == side:
                attack = max(attack, score)
            else:
                defence = max(defence, score)
    if defence < 3.5:
        return attack - 0.1 * defence if attack > defence else -defence + 0.1 * attack
    if defence == 3.5:
        return attack - 0.35 if attack >= 4.0 else -4.0
    if attack == 5.0:
        return 5.0
    return -4.5 if defence < 4.5 else -5.0


@kernel
def _paper_values(
    board: ThreatBoard, scores: NDArray[np.float64], colour: int, near: NDArray[np.bool_], values: NDArray[np.float64]
) -> int:
    """Write the paper's values of `colour`'s candidates, the legal moves of `near` [A], to `values` [A], else -inf.

    Return their number.
    """
    side = side_of(colour)
    strengths = np.full(len(near), -np.inf)
    best = -np.inf
    for cell in range(len(near)):
        if near[cell] and is_legal(board.rules, board.stones, cell, colour):
            own, spoiled = packed_patterns(board, side, cell), packed_patterns(board, 1 - side, cell)
            strengths[cell] = max(scores[own], scores[spoiled])
            best = max(best, strengths[cell])
    lowest = 3.5 if best >= 4.0 else 0.0
    count = 0
    for cell in range(len(near)):
        values[cell] = -np.inf
        if strengths[cell] >= lowest:
            place(board, cell, colour)
            values[cell] = _paper_leaf(board, scores, side)
            remove(board, cell)
            count += 1
    return count


class PaperMentor(Player):
    """The mentor of paper A, as in its repository at the paper's model: one ply, its scores and leaf rules.

    It is correct for both colours: the original evaluated for Black whatever its colour. Our readings where the source
    leaves room: patterns are those of `core.compiled.threats`, so a gap inside counts (`oo_o` is a three); two fours on
    different lines score 4; the defence rule 3.5 < d < 4.5 includes 3.8, which also threatens an open four;
    a stone without any pattern scores 0; all moves of the best value are equally likely.
    """

    name = "mentor:paper"
    compiles = True

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. The value is the paper's, -5 to 5, divided by 5. `limit` and `stop` have no effect."""
        return decide_each(self._decide, positions, seeds)

    def _decide(self, position: Position, seed: int) -> Decision:
        rules = position.rules
        if not position.moves:
            return drawn_decision(position, [centre(rules)], seed, 0.0, 0)
        values = np.empty(rules.cells, dtype=np.float64)
        board = new_threat_board(rules)
        load(board, stones_of(position))
        near = near_stones(position, 1)
        nodes = _paper_values(board, _paper_scores(), position.side_to_move, near, values)
        # In renju all cells beside stones may be forbidden.
        best = np.flatnonzero(values == values.max()).tolist() if nodes else position.legal_moves()
        highest = float(values.max())
        return drawn_decision(position, best, seed, highest / 5.0, nodes, 1 if highest > _SURELY_FIVE else None)
