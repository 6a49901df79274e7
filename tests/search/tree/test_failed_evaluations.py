"""Failed evaluations: raised, without a leaf or a virtual loss left behind, and without an effect on later searches."""

import numpy as np
import pytest

from core.position import Position
from search.tree.forest import NEW
from search.tree.groups import EvaluationError
from search.tree.mcts import ForestSearch, search_all
from search.tree.settings import SearchSettings
from tests.support.evaluators import FailingEvaluator
from tests.support.searches import SMALL, assert_sound, finish, nodes_of, start_position

KINDS = {"raises": RuntimeError, "refuses": RuntimeError, "answers NaN": EvaluationError}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batches", [1, 3])
def test_a_failed_evaluation_is_raised_and_leaks_nothing(kind: str, batches: int) -> None:
    flight = {"leaves_in_flight": 12, "batches_in_flight": batches, "visits_per_leaf": 1 if batches > 1 else 12}
    search = ForestSearch(
        SMALL, FailingEvaluator(SMALL, kind, 3, 3), SearchSettings(simulations=100, **flight), trees=1
    )
    with pytest.raises(KINDS[kind]):
        search_all(search, [Position(SMALL)], 100)
    search.halt()
    assert not nodes_of(search)["in_flight"].any()
    search.begin(0, 20)
    finish(search)
    assert not nodes_of(search)["in_flight"].any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batches", [1, 3])
def test_after_failures_of_all_batches_the_next_search_is_whole(kind: str, batches: int) -> None:
    evaluator = FailingEvaluator(SMALL, kind, 1, np.inf)
    evaluator.lanes = 5  # two groups, with several batches too
    search = ForestSearch(SMALL, evaluator, SearchSettings(simulations=50, batches_in_flight=batches), trees=4)
    positions = [start_position(SMALL, tree, tree) for tree in range(4)]
    with pytest.raises(KINDS[kind]):
        search_all(search, positions, 50)
    if kind == "refuses":
        search.halt()  # nothing is out
    else:
        with pytest.raises(KINDS[kind]):
            search.halt()
    assert (search.forest.nodes["state"][:, 0] == NEW).all()
    assert not search.forest.nodes["in_flight"][:, 0].any()
    evaluator.last = 0
    search_all(search, positions[:2], 50)
    for tree in range(2):
        assert search.forest.nodes["visits"][tree, 0] == 50
        assert_sound(search, tree)
