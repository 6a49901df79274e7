"""Line patterns: each has a number of its own, to which a stone adds the weight of its digit."""

import numpy as np
import pytest

from core.compiled.line_nets.numbers import REACH
from core.compiled.line_nets.patterns import (
    DIRECTIONS,
    OFF_BOARD,
    PATTERNS,
    all_patterns,
    digit_weights,
    empty_numbers,
    neighbours,
    region_edges,
)


@pytest.mark.parametrize("size", [3, 5, 6, 11, 15, 22])
def test_a_number_holds_the_cells_of_its_pattern(size: int) -> None:
    digits = np.random.default_rng(size).integers(0, 3, size * size)
    around = neighbours(size)
    numbers = empty_numbers(size) + (np.append(digits, 0)[around] * digit_weights()).sum(2)
    assert np.array_equal(all_patterns()[numbers], np.append(digits, OFF_BOARD)[around])


def test_no_two_patterns_are_the_same() -> None:
    patterns = all_patterns()
    assert len(np.unique(patterns @ 4 ** np.arange(2 * REACH + 1))) == len(patterns) == PATTERNS == 397_488


def test_a_pattern_begins_at_the_middle_and_ends_at_the_edge() -> None:
    corner = neighbours(15)[0]
    assert corner[0].tolist() == [225] * 5 + [0, 1, 2, 3, 4, 5], "to the right"
    assert corner[2].tolist() == [225] * 5 + [0, 16, 32, 48, 64, 80], "down the diagonal"
    assert corner[3].tolist() == [225] * 5 + [0] + [225] * 5, "the other diagonal"
    assert len(DIRECTIONS) == 4


@pytest.mark.parametrize("size", range(3, 23))
def test_regions_cover_the_board_and_differ_by_one_row_at_most(size: int) -> None:
    lengths = np.diff(region_edges(size))
    assert lengths.sum() == size
    assert lengths.max() - lengths.min() <= 1
