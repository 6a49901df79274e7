"""The tactical suite: its claims, proven by a solver that shares no code with what it measures, and its scores."""

import hashlib
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.notation import parse_cell
from core.position import Position
from core.rules import Cell
from curriculum.arena.suite import Puzzle, SuiteError, load_suite, parse_suite, puzzle_line, score_player
from curriculum.reporting import Context, Interrupted
from search.mentor.paper import PaperMentor
from search.players import Decision, RandomPlayer
from tests.support.cases import cases
from tests.support.players import OneByOne
from tests.support.slow_solver import Solver

SIZE, CONNECT = 15, 5
SUITE = load_suite("tactics")
FROZEN = {
    "tactics": "3aa7335dff5612beea4b5eb7c0c91ca31477b24c1d362d597a6dd7bb17f2cd94",
    "hard": "879a47f82957c8fe3330347af859885d663862a4ede1b26b984cd07da7f98277",
}
"""Hashes of the files: their claims and their kinds were checked when they were made."""
WIN_KINDS = ("win-in-1", "four-four", "four-three", "three-three", *(f"fours-{n}" for n in (2, 3, 4, 5, 6, "7+")))
DEFENCE_KINDS = ("block", "only-defence")


def solver_of(puzzle: Puzzle) -> tuple[Solver, int]:
    """The board of a puzzle and the side to move, 0 for black."""
    return Solver.from_moves(puzzle.moves, SIZE, CONNECT, budget=10_000_000), len(puzzle.moves) % 2


def wrong_moves(puzzle: Puzzle, board: Solver) -> list[Cell]:
    return [cell for cell in board.free_cells() if cell not in puzzle.answers]


def check_moves(puzzle: Puzzle) -> None:
    """Check every legal move against the suite, including distant ones."""
    board, side = solver_of(puzzle)
    for move in puzzle.answers:
        if puzzle.kind in WIN_KINDS:
            assert board.move_wins(move, side, level=1), puzzle_line(puzzle)
        else:
            assert not board.move_loses(move, side, level=1), puzzle_line(puzzle)
    for move in wrong_moves(puzzle, board):
        assert board.move_loses(move, side, level=1), f"{move} does not lose: {puzzle_line(puzzle)}"


def check_kind(puzzle: Puzzle) -> None:
    """The position is of its kind."""
    board, side = solver_of(puzzle)
    kind, first = puzzle.kind, puzzle.answers[0]
    mine, theirs = board.five_cells(side), board.five_cells(1 - side)
    assert mine == (set(puzzle.answers) if kind == "win-in-1" else set())
    if kind == "block":
        assert theirs == set(puzzle.answers)
    elif kind != "win-in-1":
        assert not theirs
        assert board.fours_win(1 - side) is not None, "the other side threatens to win"
    shortest = board.shortest_fours(side)
    if kind in ("four-four", "four-three") or kind.startswith("fours-"):
        assert shortest is not None and first == shortest[0]
        fours = (len(shortest) + 1) // 2
        if kind == "four-four":
            assert fours == 1 and len(board.lines_of_fours(first, side)) > 1
        elif kind == "four-three":
            assert fours == 2 and board.lines_of_fours(first, side) and board.lines_of_open_threes(first, side)
        else:
            assert fours >= 7 if kind == "fours-7+" else fours == int(kind[-1])
    elif kind == "three-three":
        assert shortest is None and len(board.lines_of_open_threes(first, side)) > 1


def check_note(puzzle: Puzzle) -> None:
    """The line in the note is a win by continuous fours: each answer forced, two fives to come at the end."""
    board, side = solver_of(puzzle)
    if puzzle.kind == "only-defence":
        side = 1 - side
    words = puzzle.note.partition(";")[0].removeprefix("wards off ").split()
    line = [parse_cell(word, SIZE) for word in words]
    assert len(line) % 2 == 1
    for ply, cell in enumerate(line):
        mover = side if ply % 2 == 0 else 1 - side
        if mover == side:
            assert board.five_cells(1 - side) <= {cell}, "a five of the other side is stopped"
        else:
            assert board.five_cells(side) == {cell}, "every answer is forced"
        board.put(cell, mover)
    assert len(board.five_cells(side)) > 1


def has_line(puzzle: Puzzle) -> bool:
    return puzzle.kind not in ("win-in-1", "block", "three-three")


def some_of_each_kind(number: int) -> list[Puzzle]:
    """Return the puzzles with the smallest numbers of stones: they are quick to prove."""
    some = []
    for kind in (*WIN_KINDS, *DEFENCE_KINDS):
        some += sorted((p for p in SUITE if p.kind == kind), key=lambda p: len(p.moves))[:number]
    return some


@pytest.mark.parametrize("name", FROZEN)
def test_a_suite_is_frozen(name: str) -> None:
    text = (resources.files("curriculum") / "suites" / f"{name}.txt").read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN[name]


def test_every_line_reads_back_as_it_is_written() -> None:
    assert parse_suite("\n".join(puzzle_line(puzzle) for puzzle in SUITE)) == SUITE


@pytest.mark.parametrize("puzzle", some_of_each_kind(2), ids=lambda puzzle: puzzle.kind)
def test_the_claims_of_some_positions_hold(puzzle: Puzzle) -> None:
    check_kind(puzzle)
    check_moves(puzzle)


def test_lines_in_notes_win() -> None:
    """Every fifth position: the frozen file was checked in the same way when it was made."""
    for puzzle in SUITE[::5]:
        if has_line(puzzle):
            check_note(puzzle)


@pytest.mark.slow
def test_the_claims_of_positions_of_every_kind_hold() -> None:
    """Every twentieth position: all claims of the frozen file were checked in the same way when it was made."""
    for puzzle in SUITE[::20]:
        check_kind(puzzle)
        check_moves(puzzle)


# The solver itself, on boards so small that every game can be played to its end.


def outcome_for_mover(owner: tuple[int, ...], side: int, size: int, connect: int) -> int:
    """1, 0 or -1 for the side to move under perfect play, by trying everything."""
    lines = [
        [(row + i * up) * size + column + i * right for i in range(connect)]
        for row in range(size)
        for column in range(size)
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        if 0 <= row + (connect - 1) * up < size and 0 <= column + (connect - 1) * right < size
    ]

    @cache
    def value(owner: tuple[int, ...], side: int) -> int:
        best = None
        for cell, stone in enumerate(owner):
            if stone >= 0:
                continue
            after = (*owner[:cell], side, *owner[cell + 1 :])
            won = any(cell in line and all(after[c] == side for c in line) for line in lines)
            best = max(-1 if best is None else best, 1 if won else -value(after, 1 - side))
            if best == 1:
                return 1
        return 0 if best is None else best

    return value(owner, side)


@given(st.integers(0, 2**32), st.sampled_from(((3, 3, 2), (4, 3, 7), (4, 4, 7), (5, 4, 16))), st.booleans())
def test_proofs_of_the_solver_hold_under_perfect_play(seed: int, board: tuple[int, int, int], white: bool) -> None:
    size, connect, least = board
    draw = random.Random(seed)
    solver = Solver(size, connect)
    cells = draw.sample(range(size * size), draw.randint(least, size * size - 1))
    for ply, cell in enumerate(cells):
        solver.put(cell, ply % 2)
        if solver.fives:
            solver.take(cell)
    side = int(white)
    truth = outcome_for_mover(tuple(solver.owner), side, size, connect)
    before = list(solver.owner)
    for level in (0, 1, 2):
        if solver.wins(side, level):
            assert truth == 1
        if solver.loses(side, level):
            assert truth == -1
    if solver.fours_win(side) is not None:
        assert truth == 1
    assert solver.owner == before, "the board is as it was"


@given(st.integers(0, 2**32), st.sampled_from(((4, 3), (5, 4), (6, 5))))
def test_no_win_by_fours_is_overlooked(seed: int, board: tuple[int, int]) -> None:
    size, connect = board
    draw = random.Random(seed)
    solver = Solver(size, connect)
    for ply, cell in enumerate(draw.sample(range(size * size), draw.randint(size, size * size // 2))):
        solver.put(cell, ply % 2)
        if solver.fives:
            solver.take(cell)

    def fives(side: int) -> set[Cell]:
        found = set()
        for cell in solver.free_cells():
            solver.put(cell, side)
            if solver.fives:
                found.add(cell)
            solver.take(cell)
        return found

    def fours(side: int) -> int:
        """Fours of the shortest win, 0 with a five at hand, 99 where there is none: each cell is tried."""
        if fives(side):
            return 0
        best = 99
        for move in solver.free_cells():
            solver.put(move, side)
            if not fives(1 - side) and (threats := fives(side)):
                answer = min(threats)
                solver.put(answer, 1 - side)
                best = min(best, 1 + fours(side))
                solver.take(answer)
            solver.take(move)
        return best

    line = solver.shortest_fours(0)
    found = 99 if line is None else 0 if fives(0) else (len(line) + 1) // 2
    assert found == fours(0)


class Oracle(OneByOne):
    """Plays the cell that a function of the puzzle returns."""

    name = "oracle"

    def __init__(self, answer: Callable[[Puzzle], Cell]) -> None:
        self.moves = {puzzle.moves: answer(puzzle) for puzzle in SUITE}

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        return Decision(self.moves[tuple(position.moves)])


def test_a_player_who_knows_every_answer_solves_all() -> None:
    result = score_player(Oracle(lambda puzzle: puzzle.answers[-1]), SUITE, context=Context())
    assert result.total.solved == result.total.positions == len(SUITE)
    assert result.missed == []
    assert {kind: tally.positions for kind, tally in result.kinds.items()} == Counter(p.kind for p in SUITE)


def test_missed_positions_are_reported_and_counted_by_kind() -> None:
    def errs_in_blocks(puzzle: Puzzle) -> Cell:
        return wrong_moves(puzzle, solver_of(puzzle)[0])[0] if puzzle.kind == "block" else puzzle.answers[0]

    result = score_player(Oracle(errs_in_blocks), SUITE, context=Context()).to_json()
    blocks = sum(puzzle.kind == "block" for puzzle in SUITE)
    assert result["player"] == "oracle"
    assert (result["positions"], result["solved"]) == (len(SUITE), len(SUITE) - blocks)
    assert result["kinds"]["block"] == {"solved": 0, "positions": blocks}
    assert result["kinds"]["fours-2"]["solved"] == result["kinds"]["fours-2"]["positions"]
    assert result["share"] == pytest.approx(1 - blocks / len(SUITE))


def test_equal_seeds_give_equal_scores_and_random_moves_solve_little() -> None:
    scores = [score_player(RandomPlayer(), SUITE, seed=3, context=Context()) for _ in range(2)]
    assert scores[0].missed == scores[1].missed
    assert scores[0].total.share < 0.1


def test_the_mentor_of_paper_a_makes_fives_and_stops_them() -> None:
    easy = [puzzle for puzzle in SUITE if puzzle.kind in ("win-in-1", "block")]
    assert score_player(PaperMentor(), easy, context=Context()).total.share == 1.0


def test_a_stopped_measurement_says_so() -> None:
    with pytest.raises(Interrupted):
        score_player(RandomPlayer(), SUITE, context=Context(stop=lambda: True))


@pytest.mark.parametrize(("line", "why"), cases("suite_lines_refused"))
def test_a_broken_line_is_named(line: str, why: str) -> None:
    with pytest.raises(SuiteError, match=f"mine, line 2: .*{why}"):
        parse_suite(f"# mine\n{line}", "mine")


def test_a_file_without_a_puzzle_is_no_suite_and_an_unknown_one_is_refused() -> None:
    with pytest.raises(SuiteError, match="mine holds no puzzle"):
        parse_suite("# a comment\n", "mine")
    with pytest.raises(SuiteError, match="no suite 'chess'; there are tactics and hard"):
        load_suite("chess")
