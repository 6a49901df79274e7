"""Claims about forced playouts: visited moves of the root get their visits, and the policy target is without them."""

import math

import numpy as np
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


def test_the_next_search_of_a_tree_forces_nothing() -> None:
    position = start_position(RULES, 4, 2)
    search = searched(position, FORCED, 2)
    search_all(search, [position], 50)
    assert np.array_equal(search.pruned_policy(0), search.policy(0))
