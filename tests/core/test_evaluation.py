"""Positions as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from core.compiled import stones_of
from core.evaluation import PositionBatch
from core.position import Position
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Rules
from tests.conftest import games, rules


def assert_same(one: PositionBatch, other: PositionBatch) -> None:
    for name in ("stones", "to_move", "last_moves"):
        assert_array_equal(getattr(one, name), getattr(other, name))
        assert getattr(one, name).dtype == getattr(other, name).dtype


def some_batch() -> PositionBatch:
    """The positions after 0, 1 and 4 moves of one game on 4x4."""
    drawn = Rules(4, 4)
    return PositionBatch.from_positions([Position.from_moves(drawn, [5, 6, 9, 0][:ply]) for ply in (0, 1, 4)], drawn)


def test_an_empty_batch_holds_empty_boards_with_black_to_move() -> None:
    batch = PositionBatch.empty(3, 81)
    assert_same(batch, PositionBatch.from_positions([Position(Rules(9))] * 3, Rules(9)))
    assert (batch.stones == EMPTY).all()
    assert (batch.to_move == BLACK).all()
    assert (batch.last_moves == NO_CELL).all()


@pytest.mark.parametrize("size", range(3, 26))
def test_the_size_is_known_from_the_number_of_cells(size: int) -> None:
    assert PositionBatch.empty(1, size * size).size == size


@given(st.data())
def test_a_batch_equals_its_positions_batched_one_by_one(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=9))
    positions = [Position.from_moves(drawn, data.draw(games(drawn))) for _ in range(3)]
    together = PositionBatch.from_positions(positions, drawn)
    assert_same(together, PositionBatch.concatenate([PositionBatch.from_positions([one], drawn) for one in positions]))
    for row, position in enumerate(positions):
        assert_array_equal(together.stones[row], stones_of(position))
        assert together.to_move[row] == position.side_to_move
        assert tuple(together.last_moves[row]) == position.last_moves


def test_a_slice_of_rows_is_a_view_and_chosen_rows_are_a_copy() -> None:
    batch = some_batch()
    batch.rows(slice(1, 3)).stones[0, 15] = WHITE
    assert batch.stones[1, 15] == WHITE
    for which in (np.array([1]), np.array([False, True, False])):
        chosen = batch.rows(which)
        assert len(chosen) == 1
        assert_same(chosen, batch.rows(slice(1, 2)))
        chosen.stones[0, 15] = EMPTY
        assert batch.stones[1, 15] == WHITE


def test_a_transformed_batch_shares_nothing_with_its_origin() -> None:
    batch, untouched = some_batch(), some_batch()
    turned = batch.transformed(np.zeros(3, dtype=np.intp))
    assert_same(turned, batch)
    turned.stones[:] = WHITE
    turned.to_move[:] = WHITE
    turned.last_moves[:] = NO_CELL
    assert_same(batch, untouched)


def test_a_batch_of_no_rows_is_a_batch() -> None:
    none = some_batch().rows(slice(0, 0))
    assert len(none) == 0
    assert len(none.transformed(np.empty(0, dtype=np.intp))) == 0
