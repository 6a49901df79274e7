"""Claims about forced playouts: visited moves of the root get their visits, and the policy target is without them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.position import Position
from core.rules import Rules
from search.tree.mcts import ForestSearch, NodeNoise, RootNoise, search_all
from search.tree.root import children_of
from search.tree.settings import SearchSettings
from tests.support.searches import searched as searched_with
from tests.support.searches import start_position

RULES = Rules(6, 4)
FORCED = 2.0
OPTIONS = SearchSettings(simulations=300, c_puct=1.5, leaves_in_flight=1)


def searched(position: Position, forced: float, seed: int, noise: RootNoise | NodeNoise | None = None) -> ForestSearch:
    """A finished search with random evaluations and, unless given, noise at the root."""
    values = np.random.default_rng(seed).dirichlet(np.full(position.rules.cells, 0.2)).astype(np.float32)
    begin = {"noise": noise or RootNoise(values, 0.25), "forced_playouts": forced}
    return searched_with(position, OPTIONS, begin=begin)


def lacking(search: ForestSearch) -> list[float]:
    """The visits that each visited and unproven move of the root lacks to its forced ones."""
    nodes = search.forest.nodes[0][children_of(search.forest, 0, 0)]
    nodes = nodes[(nodes["visits"] > 0) & (nodes["proof"] == 0)]
    total = search.forest.nodes["visits"][0, 0] - 1
    return [math.sqrt(FORCED * node["prior"] * total) - node["visits"] for node in nodes]


@settings(max_examples=10)
@given(stones=st.integers(0, 10), seed=st.integers(0, 1000))
def test_each_visited_move_of_the_root_has_its_forced_visits(stones: int, seed: int) -> None:
    search = searched(start_position(RULES, stones, seed), FORCED, seed)
    # A move that was found in the last descents may not have had its turn.
    assert sum(missing > 1.0 for missing in lacking(search)) <= 1


def test_without_them_some_moves_have_fewer() -> None:
    counts = [
        sum(missing > 1.0 for missing in lacking(searched(start_position(RULES, 4, seed), 0.0, seed)))
        for seed in range(10)
    ]
    assert sum(counts) > 20


@settings(max_examples=10)
@given(stones=st.integers(0, 10), seed=st.integers(0, 1000))
def test_the_target_loses_the_visits_that_the_search_would_not_have_made(stones: int, seed: int) -> None:
    search = searched(start_position(RULES, stones, seed), FORCED, seed)
    target, policy = search.pruned_policy(0), search.policy(0)
    assert target.sum() == pytest.approx(1.0, abs=1e-5)
    if search.proofs(0).any():
        return
    nodes = search.forest.nodes[0][children_of(search.forest, 0, 0)]
    best = nodes[nodes["visits"].argmax()]
    total = int(nodes["visits"].sum())

    def score(node: np.void, visits: int) -> float:
        mean = float(node["value_sum"] / node["visits"])
        return mean + OPTIONS.c_puct * math.sqrt(total) * float(node["prior"]) / (1 + visits)

    kept = {}
    for node in nodes:
        visits = int(node["visits"])
        least = visits - math.sqrt(FORCED * float(node["prior"]) * total)
        while node is not best and visits - 1 >= max(least, 0):
            if score(node, visits - 1) > score(best, int(best["visits"])):
                break
            visits -= 1
        kept[int(node["move"])] = visits
    # One by one here, in fractions there.
    scale = float(best["visits"] / target[best["move"]])
    for move, visits in kept.items():
        assert target[move] * scale == pytest.approx(visits, abs=1.01) or (visits <= 2 and target[move] == 0)
    assert target[best["move"]] >= policy[best["move"]] - 1e-6


def test_a_search_without_forced_playouts_has_its_visits_as_target() -> None:
    search = searched(start_position(RULES, 4, 1), 0.0, 1)
    assert np.array_equal(search.pruned_policy(0), search.policy(0))


def test_the_next_search_of_a_tree_forces_nothing() -> None:
    position = start_position(RULES, 4, 2)
    search = searched(position, FORCED, 2)
    search_all(search, [position], 50)
    assert np.array_equal(search.pruned_policy(0), search.policy(0))


def test_a_proven_win_is_the_whole_target() -> None:
    position = Position.from_moves(RULES, [0, 6, 1, 7, 2, 13])
    search = searched(position, FORCED, 3)
    assert search.pruned_policy(0)[3] == 1.0
