"""The mentor's transposition table, and its evaluation, which follows stones that come and go."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiled.threats import colour_of, new_threat_board, place, remove
from core.rules import EMPTY, Rules
from search.mentor.evaluation import follow, new_evaluation, score, start
from search.mentor.scores import INFINITY, PROVEN
from search.mentor.table import (
    EXACT,
    GENERATIONS,
    LOWER,
    UPPER,
    Entries,
    decides,
    depth_of,
    keep,
    look_up,
    move_of,
    score_of,
)
from tests.support.cases import cases
from tests.support.mentor_positions import KERNELS_ARE_PYTHON
from tests.support.naive_mentor import evaluation, wins_at_once

SLOTS = 8


def table_of(*entries: tuple[int, int, int]) -> np.ndarray:
    """A table to which these were written in order: generation, key, depth; the move is 1, the score 0."""
    table = np.zeros((SLOTS, 2), dtype=np.int64)
    for generation, key, depth in entries:
        keep(Entries(table, SLOTS, generation, 0), key, 0, depth, 1, EXACT)
    return table


@given(
    generation=st.integers(1, GENERATIONS),
    key=st.integers(-(2**63), 2**63 - 1),
    score=st.integers(-INFINITY, INFINITY),
    depth=st.integers(0, 255),
    move=st.integers(-1, 624),
    bound=st.sampled_from((EXACT, LOWER, UPPER)),
)
def test_what_is_kept_is_found(generation: int, key: int, score: int, depth: int, move: int, bound: int) -> None:
    table = np.zeros((SLOTS, 2), dtype=np.int64)
    keep(Entries(table, SLOTS, generation, generation), key, score, depth, move, bound)
    entry = look_up(Entries(table, SLOTS, 0, generation), key)
    assert (score_of(entry), depth_of(entry), move_of(entry)) == (score, depth, move)
    assert decides(entry, score, score - 1, score) == (bound in (EXACT, LOWER))
    assert decides(entry, score, score, score + 1) == (bound in (EXACT, UPPER))
    assert look_up(Entries(table, SLOTS, 0, generation), key ^ 1 << 40) == 0
    assert look_up(Entries(table, SLOTS, 0, generation + 1), key) == 0, "it is older than that"
    assert look_up(Entries(table, SLOTS, 0, 1), key) == entry


@pytest.mark.parametrize(("why", "entries", "kept"), cases("table_entries"))
def test_what_is_worth_least_is_written_over(why: str, entries: list[list[int]], kept: list[int]) -> None:
    table = table_of(*entries)
    assert {key for _, key, _ in entries if look_up(Entries(table, SLOTS, 0, 1), key)} == {*kept}, why


def test_an_entry_of_two_writers_belongs_to_nobody() -> None:
    one, other = (table_of((1, 8, depth)) for depth in (5, 6))
    torn = one.copy()
    torn[:, 1] = other[:, 1]
    assert look_up(Entries(one, SLOTS, 0, 1), 8)
    assert look_up(Entries(other, SLOTS, 0, 1), 8)
    assert look_up(Entries(torn, SLOTS, 0, 1), 8) == 0


@pytest.mark.parametrize(
    ("depth", "bound", "score", "oldest", "found_depth"),
    [
        *((5, LOWER, 7, 0, 9), (6, UPPER, 7, 0, 9), (7, LOWER, 7, 0, 7)),  # shallow ones, and one nearly as deep
        *((5, EXACT, 7, 0, 5), (5, LOWER, PROVEN, 0, 5), (5, UPPER, -PROVEN, 0, 5)),  # exact or proven
        (5, LOWER, 7, 2, 5),  # the deep one is forgotten
    ],
)
def test_a_shallow_bound_leaves_the_deep_entry_of_its_position(
    depth: int, bound: int, score: int, oldest: int, found_depth: int
) -> None:
    table = table_of((1, 8, 9))
    keep(Entries(table, SLOTS, 2, oldest), 8, score, depth, 3, bound)
    entry = look_up(Entries(table, SLOTS, 0, 2), 8)
    assert depth_of(entry) == found_depth, "the entry that stays is of the new generation"
    assert move_of(entry) == (1 if found_depth == 9 else 3)


def test_an_entry_without_a_move_keeps_the_older_one() -> None:
    table = table_of((1, 8, 5))
    keep(Entries(table, SLOTS, 2, 1), 8, 0, 6, -1, UPPER)
    assert move_of(look_up(Entries(table, SLOTS, 0, 2), 8)) == 1
    keep(Entries(table, SLOTS, 3, 3), 8, 0, 6, -1, UPPER)
    assert move_of(look_up(Entries(table, SLOTS, 0, 3), 8)) == -1, "an entry that is too old has no move to keep"


# The evaluation


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
