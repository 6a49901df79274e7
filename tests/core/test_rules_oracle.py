"""Whole games against another program that knows the rules: open_spiel's `gomoku`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.position import Outcome, Position, Termination
from core.rules import BLACK, WHITE, Rules
from tests.conftest import games, rules

pyspiel: Any = pytest.importorskip("pyspiel")


def oracle(rules: Rules) -> Any:
    return pyspiel.load_game(f"gomoku(size={rules.size},connect={rules.connect})").new_initial_state()


def played(rules: Rules, moves: list[int]) -> Position:
    """Return the position after a game on which both agree at every ply."""
    position, state = Position(rules), oracle(rules)
    for move in moves:
        assert_agree(position, state)
        position.push(move)
        state.apply_action(move)
    assert_agree(position, state)
    return position


def assert_agree(position: Position, state: Any) -> None:
    assert position.is_game_over() == state.is_terminal()
    assert position.legal_moves() == sorted(state.legal_actions())
    outcome = position.outcome()
    if outcome is None:
        assert state.current_player() == (0 if position.side_to_move == BLACK else 1)
    else:
        winner = outcome.winner or 0
        assert state.returns() == [float(winner), float(-winner)]


@given(st.data())
def test_open_spiel_sees_every_ply_of_a_game_as_we_do(data: st.DataObject) -> None:
    drawn = data.draw(rules())
    played(drawn, data.draw(games(drawn)))


@pytest.mark.parametrize(("connect", "colour"), [(3, BLACK), (5, BLACK), (5, WHITE), (6, WHITE)])
def test_open_spiel_lets_an_overline_win_too(connect: int, colour: int) -> None:
    drawn = Rules(15, connect)
    overline = list(range(2 * connect - 1))
    last = overline.pop(connect - 1)
    quiet = [15 * (2 + i % 3) + 2 * i % 15 + i // 3 for i in range(2 * connect)]
    moves = [cell for pair in zip(overline, quiet, strict=False) for cell in pair]
    position = played(drawn, [*([quiet[-1]] if colour == WHITE else []), *moves, last])
    assert position.outcome() == Outcome(Termination.LINE, colour)
    assert position.winning_line() == list(range(2 * connect - 1))
