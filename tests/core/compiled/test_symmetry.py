"""The eight symmetries of the board form a group, and the game does not notice them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from core.compiled.symmetry import IDENTITY, SYMMETRIES, sources, targets
from core.evaluation import PositionBatch, transform_policies
from core.notation import cell_name
from core.position import Position
from core.rules import MAX_SIZE, MIN_SIZE, Cell
from tests.conftest import games, rules

sizes = pytest.mark.parametrize("size", [MIN_SIZE, 4, 15, MAX_SIZE])


def carried(moves: list[Cell], symmetry: int, size: int) -> list[Cell]:
    return [int(targets(size)[symmetry, move]) for move in moves]


@sizes
def test_there_are_eight_distinct_symmetries_and_each_moves_every_cell_once(size: int) -> None:
    maps = targets(size)
    assert maps.shape == (SYMMETRIES, size * size)
    assert len({tuple(row) for row in maps.tolist()}) == SYMMETRIES
    for row in maps:
        assert_array_equal(np.sort(row), np.arange(size * size))
    assert_array_equal(maps[IDENTITY], np.arange(size * size))


def test_the_symmetries_keep_their_numbers() -> None:
    """Golden: where a1 and b1 go on 3x3. A run repeated from its seed draws symmetries by number."""
    names = [" ".join(cell_name(int(cell), 3) for cell in row[:2]) for row in targets(3)]
    assert names == ["a1 b1", "c1 b1", "a3 a2", "c3 c2", "c3 b3", "a3 b3", "c1 c2", "a1 a2"]


@sizes
def test_sources_undo_targets(size: int) -> None:
    for there, back in zip(targets(size), sources(size), strict=True):
        assert_array_equal(there[back], np.arange(size * size))
        assert_array_equal(back[there], np.arange(size * size))


def test_the_maps_cannot_be_spoiled_by_a_caller() -> None:
    for maps in (targets(9), sources(9)):
        with pytest.raises(ValueError, match="read-only"):
            maps[0, 0] = 1


@given(st.data())
def test_a_transformed_game_has_the_same_outcome_at_every_ply(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=12))
    moves = data.draw(games(drawn))
    for symmetry in range(SYMMETRIES):
        here, there = Position(drawn), Position(drawn)
        for move, image in zip(moves, carried(moves, symmetry, drawn.size), strict=True):
            here.push(move)
            there.push(image)
            assert there.outcome() == here.outcome()
        assert there.winning_line() == sorted(carried(here.winning_line(), symmetry, drawn.size))
        assert sorted(there.legal_moves()) == sorted(carried(here.legal_moves(), symmetry, drawn.size))


@given(st.data())
def test_a_transformed_batch_is_the_batch_of_games_transformed_move_by_move(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=12))
    played = data.draw(st.lists(games(drawn), min_size=1, max_size=4))
    chosen = data.draw(st.lists(st.integers(0, 7), min_size=len(played), max_size=len(played)))
    batch = PositionBatch.from_positions([Position.from_moves(drawn, moves) for moves in played], drawn)
    got = batch.transformed(np.array(chosen))
    images = [carried(moves, symmetry, drawn.size) for moves, symmetry in zip(played, chosen, strict=True)]
    want = PositionBatch.from_positions([Position.from_moves(drawn, moves) for moves in images], drawn)
    assert_array_equal(got.stones, want.stones)
    assert_array_equal(got.to_move, want.to_move)
    assert_array_equal(got.last_moves, want.last_moves)
    assert got.stones.dtype == want.stones.dtype
    assert got.last_moves.dtype == want.last_moves.dtype


@given(st.data())
def test_a_policy_goes_where_its_moves_go(data: st.DataObject) -> None:
    size = data.draw(st.integers(MIN_SIZE, MAX_SIZE))
    policies = np.arange(3 * size * size, dtype=np.float32).reshape(3, -1)
    chosen = np.array(data.draw(st.lists(st.integers(0, 7), min_size=3, max_size=3)))
    got = transform_policies(policies, chosen)
    assert got.dtype == np.float32
    for row, symmetry in enumerate(chosen):
        for cell in range(size * size):
            assert got[row, targets(size)[symmetry, cell]] == policies[row, cell]
