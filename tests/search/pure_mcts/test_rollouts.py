"""Pure MCTS: fair rollouts, playouts that find good moves, and decisions that depend on the seed alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiled import stones_of
from core.compiled.rules import compile_rules
from core.notation import parse_cell
from core.position import Position
from core.rules import Rules
from search.limit import Limit
from search.players import How, Player
from search.pure_mcts.player import PureMcts
from search.pure_mcts.rollouts import next_random, roll_out
from tests.conftest import games, rules

NOUGHTS = Rules(3, 3)
BOARD = Rules(15, 5)


def outcome_of(position: Position, state: int) -> tuple[int, list[int], int]:
    """Return the outcome of `roll_out`: result for the side to move, final stones, the random state behind it."""
    stones, random = stones_of(position).copy(), np.array([state], dtype=np.int64)
    rules = position.rules
    scratch = np.empty(rules.cells, dtype=np.int64)
    result = roll_out(compile_rules(rules), stones, position.side_to_move, scratch, random)
    return int(result), stones.tolist(), int(random[0])


def plain_outcome(position: Position, state: int) -> tuple[int, list[int], int]:
    """The same in plain Python on a `Position`, with a xorshift of its own."""
    board, mover = position.copy(), position.side_to_move
    empties = board.legal_moves()
    while not board.is_game_over():
        state ^= (state << 13) % 2**32
        state ^= state >> 17
        state ^= (state << 5) % 2**32
        index = state * len(empties) // 2**32
        board.push(empties[index])
        empties[index] = empties[-1]
        empties.pop()
    outcome = board.outcome()
    return 0 if outcome.winner is None else outcome.winner * mover, board.stones.tolist(), state


@given(st.data())
def test_a_rollout_is_a_random_game(data: st.DataObject) -> None:
    board = data.draw(rules(max_size=8))
    position = Position.from_moves(board, data.draw(games(board)))
    if position.is_game_over():
        position.pop()
    state = data.draw(st.integers(1, 2**32 - 1))
    assert outcome_of(position, state) == plain_outcome(position, state)


def test_the_random_numbers_are_marsaglias() -> None:
    state = np.array([2463534242], dtype=np.int64)
    assert next_random(state) == 723471715
    assert [next_random(state) for _ in range(2)] == [2497366906, 2064144800]


@pytest.mark.parametrize(
    ("names", "right"),
    [
        ("f8 a1 g8 a3 h8 a5 i8 a7", "e8 j8"),  # Black wins
        ("a1 f8 a3 g8 a5 h8 a7 i8 o15", "e8 j8"),  # White wins, and the losing side has a stone more
    ],
)
def test_enough_playouts_find_the_move(names: str, right: str) -> None:
    decision = PureMcts(3000).choose_batch([Position.from_moves(BOARD, names)], seeds=[1])[0]
    assert decision.move in [parse_cell(name, 15) for name in right.split()]
    assert decision.policy.sum() == pytest.approx(1.0, abs=1e-5)
    assert decision.policy.argmax() == decision.move
    assert decision.simulations == 3000


def test_noughts_and_crosses_is_a_draw_between_good_players() -> None:
    player = PureMcts(2000)
    position = Position(NOUGHTS)
    while not position.is_game_over():
        position.push(player.choose_batch([position], seeds=[position.ply])[0].move)
    outcome = position.outcome()
    assert outcome.winner is None


def test_its_value_is_the_side_to_moves() -> None:
    winning = Position.from_moves(BOARD, "f8 a1 g8 a3 h8 a5 i8 a7")
    lost = Position.from_moves(BOARD, "f8 a1 g8 a3 h8 a5 i8 a7 o15 a9")
    lost.pop()  # White to move against an open four
    for position, lowest, highest in ((winning, 0.5, 1.0), (lost, -1.0, -0.3)):
        value = PureMcts(2000).choose_batch([position], seeds=[4])[0].value
        assert lowest <= value <= highest


def test_the_same_seed_decides_the_same_in_any_company() -> None:
    positions = [Position.from_moves(BOARD, names) for names in ("h8", "h8 i9", "h8 i9 g7", "a1 o15")]
    player: Player = PureMcts(120)
    together = player.choose_batch(positions, seeds=[1, 2, 3, 4])
    alone = [
        player.choose_batch([position], seeds=[seed])[0] for position, seed in zip(positions, (1, 2, 3, 4), strict=True)
    ]
    for a, b in zip(together, alone, strict=True):
        assert (a.move, a.value) == (b.move, b.value)
        assert np.array_equal(a.policy, b.policy)
    other = player.choose_batch(positions, seeds=[5, 6, 7, 8])
    assert any(not np.array_equal(a.policy, b.policy) for a, b in zip(together, other, strict=True))


def test_it_stops_when_asked_and_plays_what_it_found() -> None:
    decision = PureMcts(100_000).choose_batch([Position.from_moves(BOARD, "h8")], seeds=[1], stop=lambda: True)[0]
    assert 2 <= decision.simulations <= 500
    assert decision.move != parse_cell("h8", 15)


def test_the_last_empty_cell_is_played() -> None:
    position = Position.from_moves(NOUGHTS, "a1 b1 c1 b2 a2 a3 b3 c2")
    assert PureMcts(2).choose_batch([position], seeds=[0])[0].move == parse_cell("c3", 3)


def test_a_limit_replaces_the_players_own_playouts() -> None:
    position, player = Position.from_moves(BOARD, "h8"), PureMcts(10)
    assert player.choose(position, Limit(nodes=700)).simulations == 700
    assert player.choose(position, Limit(seconds=0.05)).simulations > 10
    assert player.choose(position, Limit(nodes=600, seconds=1e-9)).simulations == 500, "the clock is read between calls"
    assert player.choose(position).simulations == 10


@pytest.mark.parametrize(
    ("limit", "message"), [(Limit(depth=3), "no depth"), (Limit(nodes=1), "2 to 10,000,000 playouts a move, not 1")]
)
def test_a_limit_that_it_cannot_keep_is_refused(limit: Limit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PureMcts(10).choose(Position(BOARD), limit)
    with pytest.raises(ValueError, match="2 to 10,000,000 playouts a move, not 1"):
        PureMcts(1)


def test_its_analysis_has_the_numbers_of_its_decision() -> None:
    position, player = Position.from_moves(BOARD, "f8 a1 g8 a3 h8 a5 i8 a7"), PureMcts(1000)
    analysis, decision = player.search(position, how=How(3))[1], player.choose(position, seed=3)
    assert analysis.best_move == decision.move == analysis.variation[0]
    assert analysis.value == decision.value
    assert analysis.nodes == decision.simulations
    assert {root.move for root in analysis.moves} == set(position.legal_moves())
    assert sum(root.visits or 0 for root in analysis.moves) == 999, "the first playout opens the root"
    assert {root.prior for root in analysis.moves} == {None}
