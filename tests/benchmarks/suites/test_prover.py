"""The compiled prover against perfect play, and what it has proven: the claims of both suites, and 6x6.

All in one file, because the prover compiles for 20 s in each process.
"""

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers import solved
from benchmarks.suites.check_puzzles import RULES, flaws
from benchmarks.suites.prover import Prover
from benchmarks.suites.windows import put, take
from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK
from curriculum.arena.suite import Puzzle, load_suite, puzzle_line
from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.puzzles.referee import Referee
from search.players import FunctionPlayer, RandomPlayer

SIZE, CONNECT = 15, 5
TACTICS, HARD = load_suite("tactics"), load_suite("hard")
DEFENCES, PLACES = ("deep-defence", "quiet-defence"), ("centre", "edge", "corner")
BUDGET = 2_000_000
"""Fours that the prover may try on a question."""


@pytest.fixture(scope="module")
def prover() -> Prover:
    """One board for all tests, since a new one compiles nothing but fills its tables anew."""
    return Prover(SIZE, CONNECT, BUDGET)


# The prover itself, on boards so small that every game can be played to its end.


@cache
def lines_of(size: int, connect: int) -> list[list[int]]:
    return [
        [(row + i * up) * size + column + i * right for i in range(connect)]
        for row in range(size)
        for column in range(size)
        for up, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        if 0 <= row + (connect - 1) * up < size and 0 <= column + (connect - 1) * right < size
    ]


small_prover = cache(Prover)


def strewn(size: int, connect: int, draw: random.Random, least: int, most: int) -> Prover:
    """Return a board with stones of both sides in turn at random, none of which completes a line."""
    prover = small_prover(size, connect)
    prover.show(())
    board = prover._board
    for ply, cell in enumerate(draw.sample(range(size * size), draw.randint(least, most))):
        put(board, cell, ply % 2)
        if any(all(board.owner[each] == ply % 2 for each in line) for line in lines_of(size, connect)):
            take(board, cell)
    return prover


def outcome_for_mover(owner: tuple[int, ...], side: int, lines: list[list[int]]) -> int:
    """1, 0 or -1 for the side to move under perfect play, by trying everything."""

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
def test_proofs_hold_under_perfect_play(seed: int, kind: tuple[int, int, int], white: bool) -> None:
    size, connect, least = kind
    prover, side = strewn(size, connect, random.Random(seed), least, size * size - 1), int(white)
    before = tuple(prover._board.owner.tolist())
    if any(prover.win(side, level) for level in (0, 1, 2)):
        assert outcome_for_mover(before, side, lines_of(size, connect)) == 1
    for move in prover.free_cells():
        if any(prover.move_loses(move, side, level) for level in (0, 1, 2)):
            after = (*before[:move], side, *before[move + 1 :])
            assert outcome_for_mover(after, 1 - side, lines_of(size, connect)) == 1
    assert tuple(prover._board.owner.tolist()) == before, "the board is as it was"


@given(st.integers(0, 2**32), st.sampled_from(((4, 3), (5, 4), (6, 5))))
def test_the_shortest_win_by_fours_is_found(seed: int, kind: tuple[int, int]) -> None:
    size, connect = kind
    prover = strewn(size, connect, random.Random(seed), size, size * size // 2)
    owner, lines = prover._board.owner.tolist(), lines_of(size, connect)

    def fives(side: int) -> set[int]:
        lacking = ([cell for cell in line if owner[cell] != side] for line in lines)
        return {cells[0] for cells in lacking if len(cells) == 1 and owner[cells[0]] < 0}

    def fours(side: int) -> int:
        """Fours of the shortest win, 0 with a five at hand, 99 where there is none: each cell is tried."""
        if fives(side):
            return 0
        best = 99
        for move in [cell for cell, stone in enumerate(owner) if stone < 0]:
            owner[move] = side
            if not fives(1 - side) and (threats := fives(side)):
                answer = min(threats)
                owner[answer] = 1 - side
                best = min(best, 1 + fours(side))
                owner[answer] = -1
            owner[move] = -1
        return best

    line = prover.fours(0)
    assert (99 if not line else 0 if fives(0) else (len(line) + 1) // 2) == fours(0)


# The tactical suite. Its file is frozen, and all of its claims were proven when it was made.


def directions(prover: Prover, move: int, side: int, lacking: tuple[int, ...]) -> int:
    """Return the number of directions in which a stone makes a window of one side that lacks so many stones."""
    board, stone = prover._board, 1 if side == 0 else 8
    put(board, move, side)
    found = {
        int(window[1] - window[0])
        for window, code in zip(board.windows, board.codes, strict=True)
        if move in window and code in [(CONNECT - each) * stone for each in lacking]
    }
    take(board, move)
    return len(found)


def check_kind(prover: Prover, puzzle: Puzzle) -> None:
    """The position is of its kind."""
    side, kind, first = len(puzzle.moves) % 2, puzzle.kind, puzzle.answers[0]
    prover.show(puzzle.moves)
    mine, theirs = prover.five_cells(side), prover.five_cells(1 - side)
    if kind in ("win-in-1", "block"):
        assert (mine, theirs if not mine else set()) in ((set(puzzle.answers), set()), (set(), set(puzzle.answers)))
        assert bool(mine) == (kind == "win-in-1")
        return
    assert not mine and not theirs
    assert prover.fours(1 - side), "the other side threatens to win"
    shortest = prover.fours(side)
    fours = (len(shortest) + 1) // 2
    if kind == "four-four":
        assert fours == 1 and directions(prover, first, side, (1,)) > 1
    elif kind == "four-three":
        assert fours == 2 and directions(prover, first, side, (1,)) and directions(prover, first, side, (1, 2)) > 1
    elif kind.startswith("fours-"):
        assert fours >= 7 if kind == "fours-7+" else fours == int(kind[-1])
    elif kind == "three-three":
        assert not shortest and directions(prover, first, side, (2,)) > 1


def check_note(prover: Prover, puzzle: Puzzle) -> None:
    """The line in the note is a win by continuous fours: each answer forced, two fives to come at the end."""
    side = len(puzzle.moves) % 2
    if puzzle.kind == "only-defence":
        side = 1 - side
    words = puzzle.note.partition(";")[0].removeprefix("wards off ").split()
    prover.show(puzzle.moves)
    for ply, cell in enumerate(parse_cell(word, SIZE) for word in words):
        if ply % 2 == 0:
            assert prover.five_cells(1 - side) <= {cell}, "a five of the other side is stopped"
        else:
            assert prover.five_cells(side) == {cell}, "every answer is forced"
        put(prover._board, cell, side if ply % 2 == 0 else 1 - side)
    assert len(words) % 2 == 1 and len(prover.five_cells(side)) > 1


@pytest.mark.parametrize("kind", dict.fromkeys(puzzle.kind for puzzle in TACTICS))
def test_prover_and_board_of_puzzles_agree_with_the_suite_on_every_move(prover: Prover, kind: str) -> None:
    of_kind = [puzzle for puzzle in TACTICS if puzzle.kind == kind]
    for puzzle in of_kind[::40]:
        check_kind(prover, puzzle)
        assert list(flaws(RatedPuzzle(puzzle, RULES), prover, Referee(RULES))) == [], puzzle_line(puzzle)
    wrong = puzzle._replace(answers=(*puzzle.answers[1:], prover.free_cells()[0]))
    assert next(flaws(RatedPuzzle(wrong, RULES), prover, Referee(RULES)), None)
    if kind not in ("win-in-1", "block", "three-three"):
        for puzzle in of_kind[::5]:
            check_note(prover, puzzle)


# The suite of quiet moves


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
