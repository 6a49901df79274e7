"""Positions that several nodes of a tree have: evaluated once, proven together, and told apart from all others."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.zobrist import position_key
from core.position import Position
from core.rules import Rules
from search.tree.forest import NO_NODE, OPEN, PROVEN, WON
from search.tree.mcts import ForestSearch
from search.tree.root import children_of
from search.tree.settings import SearchSettings
from search.tree.softmax import priors_of
from tests.support.evaluators import ScriptedEvaluator, hashed_answer
from tests.support.searches import assert_sound, finish, nodes_of
from tests.support.searches import searched as searched_with

RULES = Rules(5, 4)
PLAIN = SearchSettings(simulations=1500, leaves_in_flight=1, c_puct=2.0, value_decay=0.97)
SHARED = replace(PLAIN, transpositions=True)
STARTS = [[], [12, 0, 7], [12, 0, 6, 18, 4, 20, 2, 24]]


def narrow(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
    """Return an answer that prefers the same cells everywhere, so that the same stones come in many orders."""
    logits, value = hashed_answer(stones, to_move)
    return logits * np.float32(0.2) - np.arange(len(stones), dtype=np.float32) / 3, value / 10


def searched(settings: SearchSettings, moves: list[int]) -> ForestSearch:
    root, capacity = Position.from_moves(RULES, moves), 2 * settings.simulations + 1
    return searched_with(root, settings, ScriptedEvaluator(RULES, narrow), capacity=capacity)


def positions(search: ForestSearch, root: Position) -> list[bytes]:
    """Return the stones at each node."""
    nodes = nodes_of(search)
    stones, sides = [stones_of(root).copy()], [root.side_to_move]
    for node in nodes[1:]:
        board = stones[node["parent"]].copy()
        board[node["move"]] = sides[node["parent"]]
        stones.append(board)
        sides.append(-sides[node["parent"]])
    for node, board, side in zip(nodes, stones, sides, strict=True):
        assert node["key"] == position_key(board, side)
    return [board.tobytes() for board in stones]


def families(search: ForestSearch, root: Position) -> list[list[int]]:
    """Return the nodes of each position that has several."""
    same: dict[bytes, list[int]] = defaultdict(list)
    for node, stones in enumerate(positions(search, root)):
        same[stones].append(node)
    return [nodes for nodes in same.values() if len(nodes) > 1]


def linked(search: ForestSearch, node: int) -> list[int]:
    """Return the nodes that the table names for a node's position."""
    nodes, places = search.forest.nodes[0], search.forest.twins[0]
    found = int(places[nodes["key"][node] & (len(places) - 1)])
    names = []
    while found != NO_NODE:
        names.append(found)
        found = int(nodes["next_twin"][found])
    return names


def all_priors(search: ForestSearch, node: int) -> NDArray[np.float32]:
    """Return the priors [A] of an open node's moves, visited or not."""
    priors = priors_of(search.forest.child_priors[0, node])
    children = search.forest.nodes[0][children_of(search.forest, 0, node)]
    priors[children["move"]] = children["prior"]
    return priors


@pytest.mark.parametrize("moves", STARTS)
def test_a_position_is_evaluated_once(moves: list[int]) -> None:
    root = Position.from_moves(RULES, moves)
    apart, shared = searched(PLAIN, moves), searched(SHARED, moves)
    for search in (apart, shared):
        assert_sound(search, 0)
    assert sum(len(nodes) - 1 for nodes in families(apart, root)) > 50
    # Only positions that lost their place in the table to another are evaluated again.
    assert shared.evaluations < 1.05 * len(set(positions(shared, root)))
    assert shared.evaluations < 0.9 * apart.evaluations


@pytest.mark.parametrize("moves", STARTS)
def test_nodes_with_one_position_have_its_priors_value_and_proof(moves: list[int]) -> None:
    search, root = searched(SHARED, moves), Position.from_moves(RULES, moves)
    nodes = search.forest.nodes[0]
    pairs = [pair for family in families(search, root) for pair in combinations(family, 2)]
    is_open = [pair for pair in pairs if all(nodes["state"][node] == OPEN for node in pair)]
    assert len(is_open) > 50
    for first, second in is_open:
        assert nodes["value"][first] == nodes["value"][second] != 0
        assert np.array_equal(all_priors(search, first), all_priors(search, second))
    proven = [pair for pair in pairs if any(nodes["state"][node] in (OPEN, PROVEN) for node in pair)]
    agreeing = [pair for pair in proven if np.sign(nodes["proof"][pair[0]]) == np.sign(nodes["proof"][pair[1]])]
    assert len(agreeing) > 0.97 * len(proven)
    assert all(nodes["proof"][first] * nodes["proof"][second] >= 0 for first, second in pairs)


def test_a_new_node_begins_with_the_mean_of_the_most_visited_one() -> None:
    root = Position.from_moves(RULES, STARTS[1])
    search = ForestSearch(RULES, ScriptedEvaluator(RULES, narrow), SHARED, trees=1, capacity=3001)
    search.set_root(0, root)
    nodes, checked = search.forest.nodes[0], 0
    for _ in range(400):
        made = int(search.forest.trees["nodes"][0])
        before = nodes[:made].copy()
        search.begin(0, 1)
        finish(search)
        if search.forest.trees["nodes"][0] == made or nodes["state"][made] != OPEN:
            continue
        twins = [node for node in linked(search, made) if node != made and before["state"][node] == OPEN]
        twins = [node for node in twins if before["visits"][node]]
        if twins and not before["proof"][twins].any():
            best = max(twins, key=lambda node: before["visits"][node])
            assert nodes["value_sum"][made] == before["value_sum"][best] / before["visits"][best]
            checked += 1
    assert checked > 5


@pytest.mark.parametrize("tactics", [False, True])
def test_the_table_is_whole_after_a_move(tactics: bool) -> None:
    settings = SHARED.with_tactics() if tactics else SHARED
    search, root = searched(settings, STARTS[0]), Position.from_moves(RULES, STARTS[0])
    for _ in range(3):
        move = search.best_move(0)
        root.push(move)
        search.play(0, move)
        count = int(search.forest.trees["nodes"][0])
        entered = search.forest.twins[0][search.forest.twins[0] != NO_NODE]
        assert len(set(entered.tolist())) == len(entered) and entered.max(initial=0) < count
        for family in families(search, root):
            assert {node for node in family if node in linked(search, node)} <= set(linked(search, family[0]))
        # Every node but a root that nothing was entered for is found, unless another position took its place.
        found = sum(node in linked(search, node) for node in range(1, count))
        assert found > 0.8 * (count - 1)
        search.begin(0, 500)
        finish(search)
        if not tactics:
            assert_sound(search, 0)


def test_another_root_begins_with_an_empty_table() -> None:
    search = searched(SHARED, STARTS[1])
    assert (search.forest.twins != NO_NODE).any()
    search.set_root(0, Position.from_moves(RULES, STARTS[2]))
    assert not (search.forest.twins != NO_NODE).any()


def test_nets_that_see_last_moves_have_no_transpositions() -> None:
    class SeesLastMoves(ScriptedEvaluator):
        last_moves = 1

    root = Position.from_moves(RULES, STARTS[1])
    one, other = (searched_with(root, each, SeesLastMoves(RULES), capacity=1501) for each in (PLAIN, SHARED))
    assert np.array_equal(one.visits(0), other.visits(0))
    assert one.evaluations == other.evaluations


def test_won_positions_are_ends_whichever_way_they_are_reached() -> None:
    search, root = searched(SHARED, STARTS[2]), Position.from_moves(RULES, STARTS[2])
    nodes = search.forest.nodes[0]
    for family in families(search, root):
        if any(nodes["state"][node] == WON for node in family):
            assert {int(nodes["state"][node]) for node in family} == {WON}
