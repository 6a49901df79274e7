"""The prover of the suite `hard` against the slow solver, and the claims of the suite."""

import hashlib
import random
from collections import Counter
from importlib import resources

import pytest

from benchmarks.suites.make_hard import LONG, LONGER, LONGEST, NUM_PUZZLES, PLACES
from benchmarks.suites.prover import Prover
from core.symmetry import targets
from curriculum.arena.suite import Puzzle, load_suite
from tests.support.slow_solver import Solver

SIZE, CONNECT = 15, 5
HARD = load_suite("hard")
FROZEN = ""


@pytest.fixture(scope="module")
def prover() -> Prover:
    """One board for all tests, since a new one compiles nothing but fills its tables anew."""
    return Prover(SIZE, CONNECT)


def some_of(suite: list[Puzzle], kind: str, number: int) -> list[Puzzle]:
    """Return the puzzles of a kind with the fewest stones: the slow solver is quick with them."""
    return sorted((puzzle for puzzle in suite if puzzle.kind == kind), key=lambda puzzle: len(puzzle.moves))[:number]


@pytest.mark.parametrize("kind", ["four-four", "fours-3", "fours-5", "fours-7+"])
def test_the_shortest_win_by_fours_is_that_of_the_slow_solver(prover: Prover, kind: str) -> None:
    for puzzle in some_of(load_suite(), kind, 5):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        expected = Solver.from_moves(puzzle.moves, SIZE, CONNECT, budget=1_000_000).shortest_fours(side)
        assert expected is not None
        assert len(prover.fours(side)) == len(expected)


def test_the_winning_moves_of_double_threes_are_those_of_the_tactical_suite(prover: Prover) -> None:
    for puzzle in some_of(load_suite(), "three-three", 5):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert {move for move in prover.free_cells() if prover.move_wins(move, side, 1)} == set(puzzle.answers)


def test_the_only_defences_are_those_of_the_tactical_suite(prover: Prover) -> None:
    for puzzle in some_of(load_suite(), "only-defence", 5):
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


def test_a_win_has_the_same_length_under_every_symmetry(prover: Prover) -> None:
    for puzzle in some_of(HARD, "long-win", 2):
        side = len(puzzle.moves) % 2
        winning = []
        for way in targets(SIZE):
            prover.show(int(way[move]) for move in puzzle.moves)
            winning.append(all(prover.move_wins(int(way[move]), side, 3) for move in puzzle.answers))
        assert all(winning)


def test_the_suite_is_frozen() -> None:
    text = (resources.files("curriculum") / "suites" / "hard.txt").read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN


def test_every_kind_is_there_in_numbers() -> None:
    assert Counter(puzzle.kind for puzzle in HARD) == NUM_PUZZLES


@pytest.mark.parametrize("kind", ["long-win", "longer-win"])
def test_long_wins_are_long_and_no_wins_by_fours(prover: Prover, kind: str) -> None:
    low, high = (LONG, LONGER - 1) if kind == "long-win" else (LONGER, LONGEST)
    for puzzle in some_of(HARD, kind, 4):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert not prover.fours(side)
        lengths = [next(p for level in range(1, 5) if (p := prover.move_wins(a, side, level))) for a in puzzle.answers]
        assert low <= min(lengths) <= high


def test_a_deep_defence_averts_no_win_by_fours(prover: Prover) -> None:
    for puzzle in some_of(HARD, "deep-defence", 4):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert not prover.fours(1 - side)
        assert prover.win(1 - side, 2)
        assert not any(prover.move_loses(move, side, 2) for move in puzzle.answers)


def test_a_quiet_defence_makes_no_four(prover: Prover) -> None:
    for puzzle in some_of(HARD, "quiet-defence", 10):
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert prover.fours(1 - side)
        assert not prover.four_moves(side).intersection(puzzle.answers)
        wrong = [move for move in prover.free_cells() if move not in puzzle.answers]
        assert all(prover.move_loses(move, side, 3) for move in random.Random(1).sample(wrong, 5))


def test_a_position_is_at_its_place() -> None:
    shapes = {kind: [] for kind in PLACES}
    for puzzle in HARD:
        if puzzle.kind in PLACES:
            rows, columns = [move // SIZE for move in puzzle.moves], [move % SIZE for move in puzzle.moves]
            assert (min(rows) == 0) == (puzzle.kind != "centre")
            assert (min(columns) == 0) == (puzzle.kind == "corner")
            shapes[puzzle.kind].append([(r - min(rows), c - min(columns)) for r, c in zip(rows, columns, strict=True)])
    assert shapes["centre"] == shapes["edge"] == shapes["corner"]
