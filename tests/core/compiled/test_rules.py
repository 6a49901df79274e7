"""The rules of kernels are the rules of positions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.compiled import legal_moves_of, stones_of
from core.compiled.rules import compile_rules, has_moves, legal_masks
from core.position import Position
from tests.conftest import games, rules


@given(st.data())
def test_kernels_and_positions_have_the_same_legal_moves(data: st.DataObject) -> None:
    drawn = data.draw(rules(max_size=8))
    position = Position.from_moves(drawn, data.draw(games(drawn)))
    if position.is_game_over():
        assert not legal_moves_of(position).any()
        position.pop()
    legal, stones = position.legal_moves(), stones_of(position)
    assert legal == [cell for cell in range(drawn.cells) if position.is_legal(cell)]
    assert np.flatnonzero(legal_moves_of(position)).tolist() == legal
    batch = np.stack([stones, np.zeros_like(stones), -stones])
    masks = legal_masks(compile_rules(drawn), batch, np.array([position.side_to_move, 1, 1], dtype=np.int8))
    assert np.array_equal(masks[0], legal_moves_of(position))
    assert masks[1].all()
    assert has_moves(compile_rules(drawn), stones, position.side_to_move) == bool(legal)
    assert not has_moves(compile_rules(drawn), np.ones_like(stones), 1)
