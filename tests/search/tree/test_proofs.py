"""Proofs of the search: shortest wins, longest losses, and the moves that follow from them."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.position import Position
from core.rules import Rules
from core.streams import generator
from search.tree.forest import OPEN
from search.tree.mcts import ForestSearch
from search.tree.move_policy import choose_move, search_policy
from search.tree.settings import SearchSettings
from tests.support.evaluators import ScriptedEvaluator
from tests.support.searches import assert_sound, nodes_of, start_position
from tests.support.searches import searched as searched_with

TINY = Rules(3, 3)


SOLVED: dict[bytes, tuple[int, int]] = {}


def solve(position: Position) -> tuple[int, int]:
    """(result, plies) under perfect play for the side to move: 1 win, 0 draw, -1 loss; wins soon, losses late."""
    key = position.stones.tobytes()
    if key not in SOLVED:
        SOLVED[key] = _solve(position)
    return SOLVED[key]


def _solve(position: Position) -> tuple[int, int]:
    outcome = position.outcome()
    if outcome is not None:
        return (0 if outcome.winner is None else -1), 0
    best: tuple[int, int] | None = None
    for move in position.legal_moves():
        position.push(int(move))
        result, plies = solve(position)
        position.pop()
        found = (-result, plies + 1)
        if best is None or (found[0], -found[0] * found[1]) > (best[0], -best[0] * best[1]):
            best = found
    return best


def assert_proofs_are_true(search: ForestSearch, position: Position) -> None:
    """No proof of a move contradicts perfect play, and a win that was found is never shorter than the shortest."""
    for move, proof in enumerate(search.proofs(0).tolist()):
        if proof:
            position.push(move)
            below, rest = solve(position)
            position.pop()
            assert np.sign(proof) == -below
            assert abs(proof) >= rest + 1


def searched(position: Position, **settings: Any) -> ForestSearch:
    """A finished search with one leaf in flight, unless the settings say otherwise."""
    return searched_with(
        position, SearchSettings(**{"simulations": 4000, "leaves_in_flight": 1, "c_puct": 2.0} | settings)
    )


@settings(max_examples=30)
@given(
    stones=st.integers(0, 6),
    seed=st.integers(0, 500),
    flight=st.sampled_from([(1, 1), (8, 1), (24, 3)]),
    transpositions=st.booleans(),
)
def test_whatever_is_called_proven_is_true(
    stones: int, seed: int, flight: tuple[int, int], transpositions: bool
) -> None:
    position = start_position(TINY, stones, seed)
    leaves, batches = flight
    search = searched(position, leaves_in_flight=leaves, batches_in_flight=batches, transpositions=transpositions)
    result, _ = solve(position)
    assert_proofs_are_true(search, position)
    # With fewer stones, or many leaves in flight, a win with a small prior may stay unseen.
    if result and stones > 3 and leaves == 1:
        assert np.sign(search.value(0)) == result, "a search this long solves the board"
        assert search.proofs(0).any()
    assert_sound(search, 0)


def test_the_shortest_win_and_the_longest_loss_are_chosen() -> None:
    legal = np.ones(6, dtype=np.bool_)
    visits = np.array([9, 50, 3, 1, 0, 0], dtype=np.int32)
    priors = np.full(6, 1 / 6, dtype=np.float32)
    wins = search_policy(visits, np.array([0, 5, 3, -2, 0, 0], dtype=np.int16), priors, legal)
    assert wins.tolist() == [0, 0, 1, 0, 0, 0]
    none = search_policy(visits, np.zeros(6, dtype=np.int16), priors, legal)
    assert none == pytest.approx(visits / 63), "without a proof they are the visits"
    losses = search_policy(visits, np.array([-2, -4, -6, -6, -2, -4], dtype=np.int16), priors, legal)
    assert losses.tolist() == [0, 0, 1, 0, 0, 0], "of the two longest the one visited more"


def test_a_move_proven_to_lose_is_never_sampled() -> None:
    legal = np.array([1, 1, 1, 0], dtype=np.bool_)
    visits = np.array([90, 10, 0, 0], dtype=np.int32)
    lost = np.array([-2, 0, 0, 0], dtype=np.int16)
    priors = np.array([0.9, 0.05, 0.05, 0], dtype=np.float32)
    policy = search_policy(visits, lost, priors, legal, temperature=1.0)
    assert policy.tolist() == [0, 1, 0, 0]
    drawn = {choose_move(policy, sample=True, generator=partial(generator, seed)) for seed in range(50)}
    assert drawn == {1}
    only_lost_visited = search_policy(np.array([90, 0, 0, 0], dtype=np.int32), lost, priors, legal)
    assert only_lost_visited.tolist() == [0, 0.5, 0.5, 0], "the others by their priors"
    longest = np.array([-4, -2, 0, 0], dtype=np.int16)
    for counts, expected in (([9, 1, 0, 0], [1, 0, 0, 0]), ([9, 1, 1, 0], [0, 0, 1, 0])):
        resisting = search_policy(np.array(counts, dtype=np.int32), longest, priors, legal, resists=True)
        assert resisting.tolist() == expected
    no_priors = search_policy(np.array([90, 0, 0, 0], dtype=np.int32), lost, np.zeros(4, dtype=np.float32), legal)
    assert no_priors.tolist() == [0, 0.5, 0.5, 0]


def test_a_board_without_a_legal_move_has_no_policy() -> None:
    nothing = np.zeros(4, dtype=np.int32)
    with pytest.raises(ValueError, match="no legal move"):
        search_policy(nothing, nothing.astype(np.int16), nothing.astype(np.float32), np.zeros(4, dtype=np.bool_))


def two_in_a_row() -> Position:
    """Black to move can win at cell 2 (or 4 wins nothing); White threatens nothing."""
    return Position.from_moves(TINY, [0, 3, 1, 8])


def test_a_proven_root_ends_the_search_and_gives_a_one_hot_policy() -> None:
    search = searched(two_in_a_row())
    assert search.simulations < 100
    assert search.policy(0).tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert search.value(0) == 1.0
    without = searched(two_in_a_row(), simulations=400, proven_nodes=False)
    assert without.simulations == 400
    assert not without.proofs(0).any()


def test_a_search_from_a_kept_root_that_is_proven_ends_at_once() -> None:
    search = searched(Position.from_moves(TINY, [0, 3, 1]), simulations=400)
    assert (search.proofs(0) < 0).sum() >= 5, "White must play at 2: everything else loses at once"
    lost = int(np.flatnonzero((search.proofs(0) == -2) & (search.visits(0) > 1))[0])
    search.play(0, lost)
    before = search.simulations
    search.begin(0, 400)
    assert search.advance() == [0]
    assert search.simulations == before
    assert search.policy(0)[2] == 1.0
    assert search.value(0) == 1.0


@pytest.mark.parametrize("moves", [[1, 0, 3, 8, 5], [0, 4, 8, 2, 6]])
def test_a_decided_position_has_the_value_of_its_shortest_win_or_longest_loss(moves: list[int]) -> None:
    """White wins at 4; White to move against two threats of Black, at 3 and 7."""
    position = Position.from_moves(TINY, moves)
    result, plies = solve(position)
    assert result
    search = searched(position)
    assert search.value(0) == pytest.approx(result * SearchSettings().value_decay ** (plies - 1))
    position.push(int(search.policy(0).argmax()))
    assert solve(position) == (-result, plies - 1)


def test_leaves_in_flight_under_a_proven_node_are_backed_up_all_the_same() -> None:
    """Batches of 16 leaves from a position with a win: some are out when it is found."""
    rules = Rules(5, 4)
    position = Position.from_moves(rules, [6, 0, 7, 20, 8, 4])  # Black wins at 5 and at 9

    def shy(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        """Winning moves come last."""
        logits = np.zeros(len(stones), dtype=np.float32)
        logits[[5, 9]] = -0.5
        return logits, 0.3

    options = SearchSettings(simulations=300, leaves_in_flight=16, visits_per_leaf=1, virtual_loss_share=1.0)
    evaluator = ScriptedEvaluator(rules, shy)
    search = searched_with(position, options, evaluator)
    assert search.value(0) == 1.0
    assert search.simulations < 300
    assert_sound(search, 0)
    assert np.count_nonzero(nodes_of(search)["state"] == OPEN) == sum(evaluator.batches), (
        "every leaf in flight when the win was found came back"
    )
