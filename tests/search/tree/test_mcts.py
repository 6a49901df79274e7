"""Claims about the tree search: its results, whatever else is searched beside it and by any number of threads."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.evaluation import Slot, Ticket
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from search.tree.cache import EvaluationCache
from search.tree.forest import DRAWN, WON
from search.tree.mcts import ForestSearch, RootNoise, search_all
from search.tree.settings import DecayForm, FirstPlay, SearchSettings
from tests.support.evaluators import ScriptedEvaluator
from tests.support.searches import (
    SMALL,
    assert_sound,
    finish,
    naive_twin,
    searched,
    start_position,
    statistics,
    visits_of,
)

SEARCHES = st.builds(
    SearchSettings,
    simulations=st.integers(1, 120),
    c_puct=st.sampled_from([0.5, 2.0, 5.0]),
    c_puct_growth=st.sampled_from([0.0, 20.0]),
    value_decay=st.sampled_from([1.0, 0.9, 0.97]),
    decay_form=st.sampled_from(DecayForm),
    first_play=st.sampled_from(FirstPlay),
    leaves_in_flight=st.just(1),
    proven_nodes=st.booleans(),
    bound_errors=st.sampled_from([0.0, 1.5]),
)
UNREDUCED = SearchSettings(
    simulations=120, leaves_in_flight=1, fpu_reduction=0.0, decay_form=DecayForm.REPOSITORY, proven_nodes=False
)


@given(
    size=st.integers(3, 7),
    connect=st.integers(3, 5),
    stones=st.integers(0, 8),
    seed=st.integers(0, 1000),
    options=SEARCHES,
)
@example(size=5, connect=4, stones=4, seed=1, options=UNREDUCED)
def test_one_leaf_in_flight_searches_like_the_naive_twin(
    size: int, connect: int, stones: int, seed: int, options: SearchSettings
) -> None:
    rules = Rules(size, min(size, connect))
    position = start_position(rules, min(stones, rules.cells - 4), seed)
    search = searched(position, options)
    twin = naive_twin(position, options, repository=options.decay_form is DecayForm.REPOSITORY)
    assert {move: plies for move, plies in enumerate(search.proofs(0).tolist()) if plies} == twin.root.ended
    assert visits_of(search) == twin.visits()
    decay, simulations, errors = options.value_decay, options.simulations, options.bound_errors
    if plies := twin.root.proof():
        assert search.value(0) == pytest.approx(np.sign(plies) * decay ** (abs(plies) - 1))
    elif simulations > 1:
        assert search.value(0) == pytest.approx(sum(twin.root.totals.values()) / (simulations - 1), abs=1e-6)
    bounds = twin.bounds(errors)
    if twin.root.proof() or errors == 0.0 or not bounds:
        assert search.best_move(0) == search.policy(0).argmax()
    else:
        assert bounds[search.best_move(0)] == pytest.approx(max(bounds.values()), abs=1e-6)
    assert search.analysis(0, 0.0).best_move == search.best_move(0)
    assert_sound(search)


def test_the_last_cell_may_win_and_a_full_board_draws() -> None:
    rules = Rules(3, 3)
    # Rows from the top, black to move on the last cell:  x o x   and  . x o
    #                                                     x o o        o x o   (there b3 to b1 is one short)
    #                                                     . x o        x o x
    for moves, state in (("c3 b2 a3 c2 a2 b3 b1 c1", WON), ("b1 a1 b2 b3 c3 c2 a2 c1", DRAWN)):
        position = Position.from_moves(rules, moves)
        evaluator = ScriptedEvaluator(rules)
        search = searched(position, SearchSettings(simulations=5), evaluator)
        assert search.forest.nodes["state"][0, 1] == state
        assert search.value(0) == (0.0 if state == DRAWN else 1.0)
        assert sum(evaluator.batches) == 1, "only the root is evaluated"


def test_root_noise_is_mixed_once_and_into_visited_moves_too() -> None:
    noise = RootNoise((np.arange(SMALL.cells) ** 4 / 1_763_020).astype(np.float32), 0.25)
    search = searched(Position(SMALL), SearchSettings(simulations=40), capacity=500)
    raw = search.priors(0)
    mixed = pytest.approx(0.75 * raw + 0.25 * noise[0], rel=2**-7)
    search.begin(0, 1, noise=noise)
    assert search.priors(0) == mixed
    is_visited = search.visits(0) > 0
    assert (search.forest.child_priors[0, 0] < 0).tolist() == is_visited.tolist()
    assert search.forest.nodes["next_unvisited"][0, 0] == np.where(is_visited, 0, search.priors(0)).argmax()
    finish(search)
    assert search.priors(0) == mixed
    assert searched(Position(SMALL), SearchSettings(simulations=1), begin={"noise": noise}).priors(0) == mixed


def test_a_finished_game_cannot_be_searched() -> None:
    position = Position.from_moves(Rules(3, 3), [0, 3, 1, 4, 2])
    search = ForestSearch(Rules(3, 3), ScriptedEvaluator(Rules(3, 3)), SearchSettings(), trees=1)
    with pytest.raises(ValueError, match="finished"):
        search.set_root(0, position)


def test_each_of_several_batches_is_of_one_side_to_move() -> None:
    sides: list[set[int]] = []

    class Recording(ScriptedEvaluator):
        def submit(self, slot: Slot) -> Ticket:
            sides.append(set(slot.positions.to_move[: slot.count].tolist()))
            return super().submit(slot)

    searched(Position(SMALL), SearchSettings(simulations=400, visits_per_leaf=3).for_one_position(), Recording(SMALL))
    assert all(len(side) == 1 for side in sides)
    assert set.union(*sides) == {BLACK, WHITE}


@pytest.mark.parametrize(("threads", "trees"), [(2, 24), (3, 24), (16, 24), (16, 1), (16, 3), (16, 7)])
@pytest.mark.parametrize("batches", [1, 3])
def test_any_number_of_threads_finds_exactly_what_one_finds(threads: int, trees: int, batches: int) -> None:
    """Threads that no tree of a group needs are left out."""
    options = SearchSettings(simulations=300, leaves_in_flight=16, batches_in_flight=batches)
    positions = [start_position(SMALL, tree % 7, tree) for tree in range(trees)]
    found = []
    for count in (1, threads):
        evaluator = ScriptedEvaluator(SMALL)
        evaluator.lanes = 2
        cache = EvaluationCache(SMALL.cells, 4)
        search = ForestSearch(SMALL, evaluator, options, trees=trees, threads=count, cache=cache)
        search_all(search, positions, 300)
        found.append([statistics(search, tree) for tree in range(trees)])
        for tree in range(trees):
            assert_sound(search, tree)
    assert found[0] == found[1]


@pytest.mark.parametrize("lanes", [1, 2, 5])
def test_so_many_batches_are_in_flight_as_the_evaluator_has_lanes(lanes: int) -> None:
    out = 0
    most = 0

    class Slow(ScriptedEvaluator):
        def submit(self, slot: Slot) -> Ticket:
            nonlocal out, most
            out += 1
            most = max(most, out)
            super().submit(slot)
            return self

        def result(self) -> None:
            nonlocal out
            out -= 1

    evaluator = Slow(SMALL)
    evaluator.lanes = lanes
    search = ForestSearch(SMALL, evaluator, SearchSettings(simulations=60), trees=12)
    search_all(search, [Position(SMALL)] * 12, 60)
    assert most == lanes + 1, "one for each lane, and the one that is next"
    assert out == 0
