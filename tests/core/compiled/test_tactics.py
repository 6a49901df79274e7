"""The brute-force tactics of simple positions agree with a twin that only looks at windows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled.rules import compile_rules
from core.compiled.tactics import (
    DOUBLE_THREAT,
    QUIET,
    STOP_WIN,
    WIN,
    deciding_tactic,
    immediate_wins,
    is_right,
    threatens_two,
)
from core.rules import BLACK, EMPTY, WHITE, Rules
from tests.conftest import windows


def naive_wins(stones: NDArray[np.int8], colour: int, lines: list[list[int]]) -> set[int]:
    """Cells that fill the only gap of a window of `colour`."""
    return {
        cell
        for line in lines
        for cell in line
        if stones[cell] == EMPTY and sum(int(stones[other] == colour) for other in line) == len(line) - 1
    }


def naive_threatens_two(stones: NDArray[np.int8], colour: int, cell: int, lines: list[list[int]]) -> bool:
    after = stones.copy()
    after[cell] = colour
    return len(naive_wins(after, colour, lines)) >= 2


def naive_keeps_safe(stones: NDArray[np.int8], colour: int, cell: int, lines: list[list[int]]) -> bool:
    after = stones.copy()
    after[cell] = colour
    replies = np.flatnonzero(after == EMPTY)
    return not any(naive_threatens_two(after, -colour, int(reply), lines) for reply in replies)


@st.composite
def boards(draw: st.DrawFn, sizes: tuple[int, int], density: float) -> tuple[NDArray[np.int8], Rules]:
    """Stones strewn over a small board, and rules of it; lines may stand already."""
    size = draw(st.integers(*sizes))
    connect = draw(st.integers(3, min(4, size)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    stones = random.choice([BLACK, WHITE, EMPTY], p=[density, density, 1 - 2 * density], size=size * size)
    return stones.astype(np.int8), Rules(size, connect)


@given(boards((3, 8), 0.25), st.sampled_from((BLACK, WHITE)))
def test_immediate_wins_are_the_gaps_of_windows(board: tuple[NDArray[np.int8], Rules], colour: int) -> None:
    stones, rules = board
    before = stones.copy()
    marks = np.empty(rules.cells, dtype=np.bool_)
    count = immediate_wins(compile_rules(rules), stones, colour, marks)
    assert set(np.flatnonzero(marks).tolist()) == naive_wins(stones, colour, windows(rules.size, rules.connect))
    assert count == marks.sum()
    assert np.array_equal(stones, before), "the board is as it was"


@given(boards((3, 5), 0.2), st.sampled_from((BLACK, WHITE)))
def test_the_deciding_tactic_and_which_moves_are_right(board: tuple[NDArray[np.int8], Rules], colour: int) -> None:
    stones, rules = board
    compiled = compile_rules(rules)
    before, lines = stones.copy(), windows(rules.size, rules.connect)
    empty = [int(cell) for cell in np.flatnonzero(stones == EMPTY)]
    mine, theirs = naive_wins(stones, colour, lines), naive_wins(stones, -colour, lines)
    doubles = {cell for cell in empty if naive_threatens_two(stones, colour, cell, lines)}
    decides = deciding_tactic(compiled, stones, colour)
    if mine:
        expected, right = WIN, mine
    elif theirs:
        expected, right = STOP_WIN, theirs
    elif doubles:
        expected, right = DOUBLE_THREAT, doubles
    else:
        expected = QUIET
        right = {cell for cell in empty if naive_keeps_safe(stones, colour, cell, lines)}
    assert decides == expected
    assert {cell for cell in empty if is_right(compiled, stones, colour, cell, decides)} == right
    assert {cell for cell in empty if threatens_two(compiled, stones, colour, cell)} == doubles
    assert np.array_equal(stones, before)
