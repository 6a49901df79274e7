"""What the mentor makes of a board: the worth of every cell to both sides, from the patterns a stone there would make.

A cell counts for whoever may play there, so a position is worth the sum of its cells to the side to move less their
sum to the opponent.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.rules import EMPTY
from core.threats import (
    FIVE,
    FOUR,
    NONE,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    PACKED,
    THREE,
    TWO,
    ThreatBoard,
    unpack_patterns,
)

CELL_WINS = 2_000
"""A cell of this worth makes an open four or two fours: a win unless the opponent makes five first."""
_CELL_FIVE = 10_000


class Weights(NamedTuple):
    """What the patterns of a cell are worth to a side.

    Fitted by `benchmarks.tune_mentor` to 14,410 positions of 1,000 games of 800 nodes a move. With them the mentor won
    70.5 % of 100 games of 3,000 nodes a move against itself with the weights of its predecessor.
    """

    two: int
    open_two: int
    three: int
    open_three: int
    four: int
    open_four: int
    """Never seen by the side to move, which wins there."""
    two_twos: int
    """More, where two directions make an open two or better."""
    three_and_two: int
    """More, where one direction makes an open three or a four and another an open two or a three."""
    two_threes: int
    """More, where two directions make an open three."""
    four_and_three: int
    """More, where one direction makes a four and another an open three."""


TO_MOVE = Weights(0, 2, 1, 20, 36, 0, 6, 16, 6, 281)
"""Of the side to move."""
WAITING = Weights(0, 2, 1, 18, 39, 83, 4, 12, 14, 88)
"""Of its opponent."""
TEMPO = 64
"""What it is worth to be the one to move."""
ORDER = Weights(1, 4, 5, 22, 45, 0, 0, 0, 40, 60)
"""Of either side, for the order in which moves are tried."""


class CellTables(NamedTuple):
    """The worth of a cell by its `packed_patterns`; each [PACKED] int32."""

    to_move: NDArray[np.int32]
    waiting: NDArray[np.int32]
    order: NDArray[np.int32]
    """At least `CELL_WINS` where a stone wins unless the opponent makes five first."""


def cell_worths(weights: Weights) -> NDArray[np.int32]:
    """[PACKED] the worth of a cell; linear in the weights."""
    singles = {
        NONE: 0,
        TWO: weights.two,
        OPEN_TWO: weights.open_two,
        THREE: weights.three,
        OPEN_THREE: weights.open_three,
        FOUR: weights.four,
        OPEN_FOUR: weights.open_four,
        FIVE: weights.open_four,
    }
    worths = np.zeros(PACKED, dtype=np.int32)
    for packed in range(PACKED):
        patterns = sorted(unpack_patterns(packed), reverse=True)
        first, second = patterns[:2]
        worth = sum(singles[pattern] for pattern in patterns)
        if first >= OPEN_FOUR or (first == FOUR and second == FOUR):
            worth = weights.open_four
        elif first == FOUR and second == OPEN_THREE:
            worth += weights.four_and_three
        elif first == second == OPEN_THREE:
            worth += weights.two_threes
        elif first >= OPEN_THREE and second >= OPEN_TWO:
            worth += weights.three_and_two
        elif second >= OPEN_TWO:
            worth += weights.two_twos
        worths[packed] = worth
    return worths


@cache
def cell_tables(to_move: Weights = TO_MOVE, waiting: Weights = WAITING) -> CellTables:
    """The tables of an evaluation."""
    order = cell_worths(ORDER)
    for packed in range(PACKED):
        patterns = unpack_patterns(packed)
        if FIVE in patterns:
            order[packed] = _CELL_FIVE
        elif OPEN_FOUR in patterns or patterns.count(FOUR) > 1:
            order[packed] = CELL_WINS
    tables = CellTables(cell_worths(to_move), cell_worths(waiting), order)
    for table in tables:
        table.setflags(write=False)
    return tables


@kernel
def survey(
    board: ThreatBoard,
    to_move: NDArray[np.int32],
    waiting: NDArray[np.int32],
    order: NDArray[np.int32],
    side: int,
    worths: NDArray[np.int32],
) -> tuple[int, int, int]:
    """The evaluation for `side`, to move, and the `order` of the best cell for it and for the opponent.

    Writes to `worths` [A] how much a stone of `side` is wanted on each empty cell, below 0 for the others.
    """
    mine, theirs = board.patterns[side], board.patterns[1 - side]
    first, second, third, fourth = mine[0], mine[1], mine[2], mine[3]
    fifth, sixth, seventh, eighth = theirs[0], theirs[1], theirs[2], theirs[3]
    score, my_best, their_best = np.int32(TEMPO), np.int32(0), np.int32(0)
    # 32 bits throughout, unsigned where they are indices, and no branch: so the loop compiles to vector instructions.
    for cell in range(len(worths)):
        own = np.uint32(
            np.uint32(first[cell])
            | np.uint32(np.uint32(second[cell]) << np.uint32(3))
            | np.uint32(np.uint32(third[cell]) << np.uint32(6))
            | np.uint32(np.uint32(fourth[cell]) << np.uint32(9))
        )
        other = np.uint32(
            np.uint32(fifth[cell])
            | np.uint32(np.uint32(sixth[cell]) << np.uint32(3))
            | np.uint32(np.uint32(seventh[cell]) << np.uint32(6))
            | np.uint32(np.uint32(eighth[cell]) << np.uint32(9))
        )
        empty = np.int32(board.stones[cell] == EMPTY)
        score = np.int32(score + empty * np.int32(to_move[own] - waiting[other]))
        value, threat = np.int32(empty * order[own]), np.int32(empty * order[other])
        my_best, their_best = max(my_best, value), max(their_best, threat)
        # An own win is worth more than to spoil the opponent's like.
        worths[cell] = np.int32(5) * value + np.int32(4) * threat + empty - np.int32(1)
    return int(score), int(my_best), int(their_best)
