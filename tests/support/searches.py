"""Tree searches on small boards: positions to search, searches run to their end, their decisions, and sound trees."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import Rules
from search.players import Decision
from search.tree.forest import OPEN
from search.tree.mcts import ForestSearch
from search.tree.settings import FirstPlay, SearchSettings
from tests.support.evaluators import ScriptedEvaluator, hashed_evaluation
from tests.support.naive_search import NaiveSearch

SMALL = Rules(5, 4)


def same(one: Decision, other: Decision) -> bool:
    """Return True for equal decisions that have a policy."""
    return (
        (one.move, one.value, one.simulations) == (other.move, other.value, other.simulations)
        and one.policy is not None
        and other.policy is not None
        and np.array_equal(one.policy, other.policy)
    )


def start_position(rules: Rules, stones: int, seed: int) -> Position:
    """A position of `stones` random stones that is not over."""
    random = np.random.default_rng(seed)
    while True:
        position = Position(rules)
        for cell in random.permutation(rules.cells)[:stones]:
            position.push(int(cell))
            if position.is_game_over():
                break
        else:
            return position


def flat(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
    """An evaluation that prefers nothing."""
    return np.zeros(len(stones), dtype=np.float32), 0.0


def finish(search: ForestSearch, trees: int = 1) -> ForestSearch:
    """Go on until so many trees have ended their searches."""
    while trees:
        trees -= len(search.advance())
    return search


def searched(
    position: Position,
    settings: SearchSettings,
    evaluator: Any = None,
    *,
    begin: dict[str, Any] | None = None,
    **options: Any,
) -> ForestSearch:
    """A finished search of one position. `begin` and `options`: arguments of `begin` and of the search."""
    rules = position.rules
    search = ForestSearch(rules, evaluator or ScriptedEvaluator(rules), settings, **{"trees": 1} | options)
    search.set_root(0, position)
    search.begin(0, settings.simulations, **begin or {})
    return finish(search)


def naive_twin(position: Position, settings: SearchSettings, **options: Any) -> NaiveSearch:
    """The naive search of the same position with the same settings, finished."""
    fpu = settings.fpu_reduction if settings.first_play is FirstPlay.REDUCED else None
    decay, proofs = settings.value_decay, settings.proven_nodes
    options |= {"c_puct": settings.c_puct, "growth": settings.c_puct_growth}
    twin = NaiveSearch(hashed_evaluation, decay=decay, fpu=fpu, proofs=proofs, **options)
    for _ in range(settings.simulations):
        twin.simulate(position)
    return twin


def visits_of(search: ForestSearch) -> dict[int, int]:
    """The visits of the root's moves, those without a visit left out."""
    return {move: count for move, count in enumerate(search.visits(0).tolist()) if count}


def nodes_of(search: ForestSearch, tree: int = 0) -> NDArray[Any]:
    """The nodes of a tree that are in use."""
    nodes: NDArray[Any] = search.forest.nodes[tree, : search.forest.trees["nodes"][tree]]
    return nodes


def statistics(search: ForestSearch, tree: int = 0) -> tuple[list[int], list[int], list[float]]:
    """Moves, visits and value sums of all nodes of a tree."""
    nodes = nodes_of(search, tree)
    return nodes["move"].tolist(), nodes["visits"].tolist(), nodes["value_sum"].tolist()


def assert_sound(search: ForestSearch, tree: int = 0) -> None:
    """Every visit is where it belongs with its value and its square, and no virtual loss is left anywhere."""
    nodes = nodes_of(search, tree)
    assert not nodes["in_flight"].any()
    below = np.bincount(nodes["parent"][1:], nodes["visits"][1:], len(nodes))
    is_open = nodes["state"] == OPEN
    assert (below[is_open] == nodes["visits"][is_open] - 1).all()
    assert not below[~is_open].any()
    assert (nodes["squares_sum"] * nodes["visits"] >= 0.999 * nodes["value_sum"] ** 2 - 1e-4).all()
