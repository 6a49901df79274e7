"""Local playouts: simulations that end at half the mean depth of the leaves (paper S, playout cap randomisation)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.position import Position
from core.rules import Rules
from core.streams import stream_key
from search.limit import Limit
from search.tree.forest import OPEN
from search.tree.mcts import ForestSearch
from search.tree.noise import random_share
from search.tree.player import MctsPlayer
from search.tree.settings import FirstPlay, Policy, SearchSettings
from tests.support.evaluators import ScriptedEvaluator
from tests.support.searches import SMALL, naive_twin, nodes_of, start_position, visits_of
from tests.support.searches import searched as searched_with


def searched(
    position: Position, options: SearchSettings, key: int = 0, evaluator: ScriptedEvaluator | None = None
) -> ForestSearch:
    return searched_with(position, options, evaluator, begin={"key": key}, capacity=4 * options.simulations + 1)


def ended_here(search: ForestSearch) -> dict[int, int]:
    """Return, for each open node, its visits that did not go on to a child."""
    nodes = nodes_of(search)
    assert not nodes["in_flight"].any(), "no virtual loss is left"
    gone_on = np.bincount(nodes["parent"][1:], nodes["visits"][1:], len(nodes))
    return {node: int(nodes["visits"][node] - gone_on[node]) for node in np.flatnonzero(nodes["state"] == OPEN)}


SEARCHES = st.builds(
    SearchSettings,
    simulations=st.integers(1, 100),
    c_puct=st.sampled_from([0.5, 2.0, 5.0]),
    first_play=st.sampled_from(FirstPlay),
    leaves_in_flight=st.just(1),
    proven_nodes=st.booleans(),
    local_playouts=st.sampled_from([0.25, 0.5, 1.0]),
)


@settings(max_examples=40)
@given(size=st.integers(3, 6), stones=st.integers(0, 8), seed=st.integers(0, 1000), options=SEARCHES)
def test_local_playouts_are_the_naive_twins(size: int, stones: int, seed: int, options: SearchSettings) -> None:
    rules = Rules(size, min(size, 4))
    position = start_position(rules, min(stones, rules.cells - 4), seed)
    search = searched(position, options, key=seed)
    drawn = iter(range(10_000))
    word = stream_key(seed) & 0xFFFFFFFF
    twin = naive_twin(position, options, is_local=lambda: random_share(word, next(drawn)) < options.local_playouts)
    assert visits_of(search) == twin.visits()
    root = search.forest.trees[0]
    assert (root["leaf_depths"], root["leaves"]) == (sum(twin.leaf_depths), len(twin.leaf_depths))


@pytest.mark.parametrize("leaves", [1, 8, 32])
@pytest.mark.parametrize("batches", [1, 3])
def test_local_playouts_revisit_nodes_instead_of_evaluating_more(leaves: int, batches: int) -> None:
    """Each counts as one simulation; the share of evaluations falls with their share."""
    evaluations = []
    for share in (0.0, 0.5, 1.0):
        evaluator = ScriptedEvaluator(SMALL)
        plain = SearchSettings(simulations=300, visits_per_leaf=2, proven_nodes=False, local_playouts=share)
        options = replace(plain, leaves_in_flight=leaves, batches_in_flight=batches)
        search = searched(Position(SMALL), options, evaluator=evaluator)
        ended = ended_here(search)
        assert ended[0] == 1, "none ends at the root"
        assert search.forest.nodes["visits"][0, 0] == search.simulations == 300
        assert (max(ended.values()) > 1) is (share > 0)
        evaluations.append(sum(evaluator.batches))
    assert evaluations[0] > 1.2 * evaluations[1] > 1.2 * evaluations[2]
    assert evaluations[2] <= 1 + SMALL.cells, "with local playouts alone no leaf is deeper than one ply"


def test_a_node_without_an_evaluation_ends_no_local_playout() -> None:
    """A node opened for a single reply has no value of its own to back up."""
    rules = Rules(9, 5)
    position = Position.from_moves(rules, [40, 0, 41, 8, 42, 72])
    options = SearchSettings(simulations=400, forced_moves=True, local_playouts=0.5)
    search = searched(position, options)
    ended = ended_here(search)
    has_value = search.forest.nodes["has_value"][0]
    single = [count for node, count in ended.items() if not has_value[node]]
    assert single
    assert not any(single)


def test_the_mean_depth_begins_anew_at_another_root() -> None:
    options = SearchSettings(simulations=100, local_playouts=0.5)
    search = searched(Position(SMALL), options)
    assert search.forest.trees["leaves"][0] > 10
    search.play(0, int(search.visits(0).argmax()))
    assert search.forest.trees["leaves"][0] == search.forest.trees["leaf_depths"][0] == 0


def test_a_player_decides_by_its_seed() -> None:
    options = SearchSettings(simulations=80, local_playouts=0.5)
    player = MctsPlayer(ScriptedEvaluator(SMALL), SMALL, options, policy=Policy.DETERMINISTIC)
    positions = [Position(SMALL)] * 3
    one, same, other = player.choose_batch(positions, seeds=[1, 1, 2])
    assert np.array_equal(one.policy, same.policy)
    assert not np.array_equal(one.policy, other.policy)


def test_local_playouts_alone_stop_in_time() -> None:
    """A turn without a leaf to evaluate ends after some playouts."""
    options = SearchSettings(simulations=10, local_playouts=1.0)
    player = MctsPlayer(ScriptedEvaluator(SMALL), SMALL, options)
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls > 60

    decision = player.choose_batch([Position(SMALL)], seeds=[0], limit=Limit(nodes=100_000), stop=stop)[0]
    assert decision.simulations < 20_000
