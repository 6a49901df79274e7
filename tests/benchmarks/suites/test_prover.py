"""The compiled prover against the slow solver and what it has proven."""

import random

import pytest

from benchmarks.suites.prover import Prover
from curriculum.arena.suite import Puzzle, load_suite
from tests.support.slow_solver import Solver

SIZE, CONNECT = 15, 5


@pytest.fixture(scope="module")
def prover() -> Prover:
    """One board for all tests, since a new one compiles nothing but fills its tables anew."""
    return Prover(SIZE, CONNECT)


def some_of(suite: list[Puzzle], kind: str, number: int) -> list[Puzzle]:
    """Return the puzzles of a kind with the fewest stones: the slow solver is quick with them."""
    return sorted((puzzle for puzzle in suite if puzzle.kind == kind), key=lambda puzzle: len(puzzle.moves))[:number]


@pytest.mark.parametrize("kind", ["four-four", "fours-3", "fours-5", "fours-7+"])
@pytest.mark.slow
def test_the_shortest_win_by_fours_is_that_of_the_slow_solver(prover: Prover, kind: str) -> None:
    for puzzle in some_of(load_suite("tactics"), kind, 3):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        expected = Solver.from_moves(puzzle.moves, SIZE, CONNECT, budget=1_000_000).shortest_fours(side)
        assert expected is not None
        assert len(prover.fours(side)) == len(expected)


@pytest.mark.slow
def test_the_winning_moves_of_double_threes_are_those_of_the_tactical_suite(prover: Prover) -> None:
    for puzzle in some_of(load_suite("tactics"), "three-three", 3):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert {move for move in prover.free_cells() if prover.move_wins(move, side, 1)} == set(puzzle.answers)


def test_the_only_defences_are_those_of_the_tactical_suite(prover: Prover) -> None:
    for puzzle in some_of(load_suite("tactics"), "only-defence", 1):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert {move for move in prover.free_cells() if not prover.move_loses(move, side, 1)} == set(puzzle.answers)


def test_a_proven_win_is_a_win_of_the_slow_solver() -> None:
    prover, draw, proven = Prover(9, CONNECT), random.Random(3), 0
    for _ in range(150):
        moves = draw.sample([row * 9 + column for row in range(2, 7) for column in range(2, 7)], draw.randrange(9, 15))
        board = Solver.from_moves(moves, 9, CONNECT, budget=1_000_000)
        side = len(moves) % 2
        if board.fives or board.fours[0] or board.fours[1]:
            continue
        prover.show(moves)
        if prover.win(side, 1):
            proven += 1
            assert board.wins(side, 1), moves
    assert proven >= 10
