"""The evaluation of the mentor: its updates move by move equal the evaluation of the whole board."""

import numpy as np
import pytest

from core.compiled.threats import colour_of, new_threat_board, place, remove
from core.rules import EMPTY, Rules
from search.mentor.evaluation import follow, new_evaluation, score, start
from tests.support.mentor_positions import KERNELS_ARE_PYTHON
from tests.support.naive_mentor import evaluation, wins_at_once


@pytest.mark.parametrize(("size", "connect"), [(3, 3), (6, 4), (9, 5), (15, 5), (25, 6)])
def test_the_evaluation_follows_stones_that_come_and_go(size: int, connect: int) -> None:
    rng = np.random.default_rng(size)
    rules = Rules(size, connect)
    board, followed = new_threat_board(rules), new_evaluation(rules)
    start(followed, board)
    for step in range(30 if KERNELS_ARE_PYTHON else 200):
        stones = np.flatnonzero(board.stones)
        if len(stones) and rng.random() < len(stones) / rules.cells:
            cell = int(rng.choice(stones))
            remove(board, cell)
        else:
            # Close together, so that lines come about.
            cell = int(
                min(rng.choice(np.flatnonzero(board.stones == EMPTY), 3), key=lambda at: abs(at - rules.cells // 2))
            )
            place(board, cell, colour_of(step % 2))
        follow(followed, board, cell)
        for side in (0, 1):
            assert score(followed, side) == pytest.approx(evaluation(board, side), abs=1)
            empty = np.flatnonzero(board.stones == EMPTY).tolist()
            assert followed.wins[side] == sum(wins_at_once(board, side, at) for at in empty)
