"""Threads of the mentor on one table: sound proofs, a prompt end, and no trace in searches that must be repeatable."""

import math
import time

import pytest

from core.rules import BLACK
from search.limit import Limit
from search.mentor.deepening import Task
from search.mentor.player import Mentor
from search.mentor.team import Team
from tests.support.mentor_positions import openings, position, takes_many_nodes

SECONDS = 0.02


def test_helpers_search_while_the_search_lasts_and_end_with_it() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    team = Team(board.rules, 1 << 12)
    started = time.perf_counter()
    told: list[int] = []
    task = Task(
        position=board,
        limit=Limit(seconds=math.inf),
        started=started,
        stop=lambda: time.perf_counter() - started > SECONDS,
        tell=lambda move, score: told.append(move),
    )
    team.search(task, helpers=2)
    team.wait()
    assert told
    assert all(board.is_legal(move) for move in told)


def test_an_error_in_the_search_ends_the_helpers_too() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    team = Team(board.rules, 1 << 12)

    def fail() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        team.search(Task(position=board, limit=Limit(seconds=math.inf), started=0.0, stop=fail), helpers=1)
    team.wait()


@takes_many_nodes
def test_limits_of_nodes_and_depth_have_one_thread_and_are_repeatable() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    limits = (Limit(nodes=3000), Limit(depth=4))
    fresh = [Mentor(threads=1).search(board, limit)[1] for limit in limits]
    mentor = Mentor(threads=3)
    for _ in range(3):
        mentor.search(board, Limit(seconds=SECONDS))[1]  # its helpers may still be ending
        for limit, expected in zip(limits, fresh, strict=True):
            analysis = mentor.search(board, limit)[1]
            assert (analysis.moves, analysis.nodes, analysis.depth) == (expected.moves, expected.nodes, expected.depth)


@takes_many_nodes
def test_pondering_spares_the_next_search_its_work() -> None:
    mentor, limit = Mentor(threads=1), Limit(depth=9, seconds=600.0)
    fresh = again = 0
    for board in openings()[:4]:
        fresh += Mentor(threads=1).search(board, limit)[1].nodes
        checks = iter(range(40))
        mentor.ponder(board, lambda: next(checks, None) is None)  # noqa: B023 - called at once
        again += mentor.search(board, limit)[1].nodes
    assert again < 0.75 * fresh
