"""The compiled prover against the slow solver, and what it has proven: the claims of both suites, and 6x6.

All in one file, because the prover compiles for 20 s in each process.
"""

import random

import pytest

from benchmarks.papers import solved
from benchmarks.suites.check_puzzles import RULES, flaws
from benchmarks.suites.prover import Prover
from core.position import Position
from core.rules import BLACK
from curriculum.arena.suite import Puzzle, load_suite, puzzle_line
from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.puzzles.referee import Referee
from search.players import FunctionPlayer, RandomPlayer
from tests.support.slow_solver import Solver

SIZE, CONNECT = 15, 5
HARD = load_suite("hard")
DEFENCES, PLACES = ("deep-defence", "quiet-defence"), ("centre", "edge", "corner")
BUDGET = 2_000_000
"""Fours that the prover may try on a question."""


@pytest.fixture(scope="module")
def prover() -> Prover:
    """One board for all tests, since a new one compiles nothing but fills its tables anew."""
    return Prover(SIZE, CONNECT, BUDGET)


def some_of(suite: list[Puzzle], kind: str, number: int) -> list[Puzzle]:
    """Return the puzzles of a kind with the fewest stones: the slow solver is quick with them."""
    return sorted((puzzle for puzzle in suite if puzzle.kind == kind), key=lambda puzzle: len(puzzle.moves))[:number]


@pytest.mark.parametrize("kind", ["fours-3", "fours-7+"])
def test_the_shortest_win_by_fours_is_that_of_the_slow_solver(prover: Prover, kind: str) -> None:
    (puzzle,) = some_of(load_suite("tactics"), kind, 1)
    side = len(puzzle.moves) % 2
    prover.show(puzzle.moves)
    expected = Solver.from_moves(puzzle.moves, SIZE, CONNECT, budget=1_000_000).shortest_fours(side)
    assert expected is not None
    assert len(prover.fours(side)) == len(expected)


@pytest.mark.parametrize("kind", ["three-three", "fours-4", "only-defence"])
def test_the_board_of_puzzles_agrees_with_the_prover_on_every_move(prover: Prover, kind: str) -> None:
    (puzzle,) = some_of(load_suite("tactics"), kind, 1)
    assert list(flaws(RatedPuzzle(puzzle, RULES), prover, Referee(RULES))) == []
    wrong = puzzle._replace(answers=(*puzzle.answers[1:], prover.free_cells()[0]))
    assert next(flaws(RatedPuzzle(wrong, RULES), prover, Referee(RULES)), None)


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


def test_no_hard_position_is_decided_by_fours(prover: Prover) -> None:
    for puzzle in [puzzle for puzzle in HARD if puzzle.kind in ("long-win", *DEFENCES)]:
        side = len(puzzle.moves) % 2
        prover.show(puzzle.moves)
        assert not (prover.five_cells(side) or prover.five_cells(1 - side) or prover.fours(side)), puzzle_line(puzzle)
        if puzzle.kind in DEFENCES:
            assert bool(prover.fours(1 - side)) == (puzzle.kind == "quiet-defence"), puzzle_line(puzzle)


def holds(prover: Prover, puzzle: Puzzle) -> bool:
    """Return True if the prover proves the puzzle's claims on every free cell."""
    side = len(puzzle.moves) % 2
    prover.show(puzzle.moves)
    free = prover.free_cells()
    if puzzle.kind != "long-win":
        depths = (1,) if puzzle.kind in PLACES else (1, 2, 3)
        losing = {move for move in free if any(prover.move_loses(move, side, level) for level in depths)}
        return losing == set(free) - set(puzzle.answers)
    plies, level = (int(part.split()[0]) for part in puzzle.note.partition(";")[0].split(", "))
    lengths = [
        prover.move_wins(move, side, level) or prover.move_wins(move, side, level + 1) for move in puzzle.answers
    ]
    others = set(free).difference(puzzle.answers)
    return min(lengths) == plies and not any(prover.move_wins(move, side, level) for move in others)


@pytest.mark.parametrize("kind", ["long-win", *DEFENCES, *PLACES])
def test_the_claims_of_the_hard_suite_hold_on_every_cell(prover: Prover, kind: str) -> None:
    # The file is frozen and its maker has proven all of them; these are quick.
    some = sorted((puzzle for puzzle in HARD if puzzle.kind == kind), key=lambda puzzle: len(puzzle.moves))
    for puzzle in some[16::16] or some[-1:]:
        assert holds(prover, puzzle), puzzle_line(puzzle)


def test_four_in_a_row_on_6x6_is_won_by_a_player_that_keeps_to_the_proof_and_not_by_a_random_one() -> None:
    prover, moves = Prover(6, 4, budget=1_000_000), (14, 15)
    assert solved.plies_after(prover, moves) == 11, "13 plies from the empty board, two of which are played"
    assert solved.plies_after(prover, (0, 14)) == 0, "a corner leaves white the centre"

    def keeps(position: Position) -> int:
        prover.show(position.moves)
        return min(
            (plies, move) for move in position.legal_moves() if (plies := prover.move_wins(move, 0, solved.MAX_LEVEL))
        )[1]

    start = Position.from_moves(solved.RULES, moves)
    outcome = solved.play_out(prover, FunctionPlayer("proof", keeps), start).outcome()
    assert outcome.winner == BLACK
    assert solved.play_out(prover, RandomPlayer(), start).outcome().winner != BLACK
