"""The suite `hard`: its positions. `tests/benchmarks/suites/test_prover.py` proves its claims again."""

import hashlib
from collections import Counter
from importlib import resources

from core.position import Position
from curriculum.arena.suite import RULES, Puzzle, load_suite

SUITE = load_suite("hard")
FROZEN = "879a47f82957c8fe3330347af859885d663862a4ede1b26b984cd07da7f98277"
PLACES = ("centre", "edge", "corner")
KINDS = {"long-win", "deep-defence", "quiet-defence", *PLACES}


def some_of(kind: str) -> list[Puzzle]:
    return [puzzle for puzzle in SUITE if puzzle.kind == kind]


def test_the_suite_is_frozen() -> None:
    text = (resources.files("curriculum") / "suites" / "hard.txt").read_text(encoding="utf-8")
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN


def test_every_kind_is_there_in_numbers() -> None:
    counts = Counter(puzzle.kind for puzzle in SUITE)
    assert set(counts) == KINDS
    assert len({counts[place] for place in PLACES}) == 1
    assert min(counts.values()) >= 5


def test_the_same_positions_stand_in_all_places() -> None:
    rows = zip(*(some_of(place) for place in PLACES), strict=True)
    for centre, edge, corner in rows:
        assert centre.note == edge.note == corner.note
        shapes = []
        for puzzle in (centre, edge, corner):
            cells = [divmod(cell, RULES.size) for cell in puzzle.moves]
            top, left = (min(cell[axis] for cell in cells) for axis in (0, 1))
            assert (top == 0, left == 0) == (puzzle.kind != "centre", puzzle.kind == "corner")
            shapes.append([(row - top, column - left) for row, column in cells])
        assert shapes[0] == shapes[1] == shapes[2]


def test_no_game_is_over() -> None:
    assert not any(Position.from_moves(RULES, puzzle.moves).is_game_over() for puzzle in SUITE)
