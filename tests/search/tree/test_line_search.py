"""The search that evaluates its own leaves: the same trees as with batches, with any threads, beside any others."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled.jit import LARGEST_KERNEL, kernel
from core.cores import cores, limit_cores
from core.evaluation import Slot
from core.position import Position
from core.rules import Rules, Variant
from nets.config import RuntimeChoice
from nets.dual import make_model
from nets.runtimes.net_evaluator import NetEvaluator
from search.atomics import read, swap, write
from search.tree import line_search
from search.tree.line_search import LineBatch
from search.tree.mcts import ForestSearch, RootNoise, search_all
from search.tree.root import children_of
from search.tree.settings import SearchSettings
from tests.support.nets import LINES
from tests.support.searches import finish, statistics

RULES = Rules(7, 4)
ONE_LEAF = SearchSettings(simulations=150, leaves_in_flight=1, visits_per_leaf=1)
SEVERAL = SearchSettings(simulations=300, leaves_in_flight=40, visits_per_leaf=3, batches_in_flight=3)
POSITIONS = [
    Position.from_moves(RULES, moves)
    for moves in ([], [24], [24, 16, 25], [0, 48, 8, 40, 16], [24, 25, 17, 31, 10, 38, 11, 12])
]


@pytest.fixture(scope="module")
def evaluator() -> NetEvaluator:
    return NetEvaluator(make_model(LINES, RULES, 3).eval(), RuntimeChoice())


class InBatches:
    """The same evaluations by batches."""

    def __init__(self, evaluator: NetEvaluator) -> None:
        self.lanes, self.free_cores, self.version, self.last_moves = 1, 1, evaluator.version, evaluator.last_moves
        self._evaluator = evaluator

    def submit(self, slot: Slot) -> Any:
        return self._evaluator.submit(slot)


def searched(evaluator: Any, settings: SearchSettings, positions: list[Position], **options: Any) -> ForestSearch:
    search = ForestSearch(
        RULES, evaluator, settings, trees=len(positions), capacity=2 * settings.simulations + 1, **options
    )
    search_all(search, positions, settings.simulations)
    return search


@pytest.mark.parametrize(
    "settings",
    [ONE_LEAF, ONE_LEAF.with_tactics(), replace(ONE_LEAF.with_tactics(), transpositions=True)],
    ids=["plain", "tactics", "transpositions"],
)
def test_one_leaf_at_a_time_finds_the_tree_that_batches_find(evaluator: NetEvaluator, settings: SearchSettings) -> None:
    own, batches = (searched(each, settings, POSITIONS) for each in (evaluator, InBatches(evaluator)))
    assert isinstance(own._batches[0], LineBatch)
    assert not isinstance(batches._batches[0], LineBatch)
    for tree in range(len(POSITIONS)):
        assert statistics(own, tree) == statistics(batches, tree)


@pytest.mark.slow
def test_after_a_single_reply_black_has_the_moves_that_renju_allows() -> None:
    rules, settings = Rules(variant=Variant.RENJU), replace(ONE_LEAF.with_tactics(), simulations=60)
    # Black's four leaves White k7 alone, after which l5 would make two threes.
    position = Position.from_moves(rules, "i1 k6 i7 j6 i5 l2 m7 j8 j7 i6 l6 h7 k5 j4 l7".split())
    search = ForestSearch(rules, NetEvaluator(make_model(LINES, rules, 3).eval(), RuntimeChoice()), settings, trees=1)
    search_all(search, [position], settings.simulations)
    position.push("k7")
    assert position.fouls()
    search.play(0, position.moves[-1])
    children = search.forest.nodes[0][children_of(search.forest, 0, 0)]["move"]
    assert len(children) > 10
    assert not ((search.priors(0) > 0) & ~search.legal(0)).any()


@pytest.mark.parametrize(
    "settings",
    [SEVERAL, SEVERAL.with_tactics(), replace(SEVERAL.with_tactics(), transpositions=True)],
    ids=["plain", "tactics", "transpositions"],
)
def test_threads_and_other_trees_change_nothing(evaluator: NetEvaluator, settings: SearchSettings) -> None:
    alone = [searched(evaluator, settings, [position], threads=1) for position in POSITIONS]
    for threads in (1, 5):
        together = searched(evaluator, settings, POSITIONS, threads=threads)
        helped = searched(evaluator, settings, POSITIONS[2:3], threads=threads)
        for tree, single in enumerate(alone):
            assert statistics(single) == statistics(together, tree)
        assert statistics(helped)[1] == statistics(alone[2])[1]


def test_a_tree_ends_its_turn_by_its_own_leaves() -> None:
    rules = Rules(9, 5)
    settings = replace(SEVERAL, simulations=700)
    model = make_model(LINES, rules, 3).eval()
    for name, parameter in model.named_parameters():
        if "policy" in name or "value" in name:
            parameter.data *= 10  # a net of clear views: an even one would open the same nodes in any order
    evaluator = NetEvaluator(model, RuntimeChoice())
    positions = [Position.from_moves(rules, moves) for moves in ([], [40], [40, 30, 41])]

    def visits(some: list[Position]) -> list[list[int]]:
        search = ForestSearch(rules, evaluator, settings, trees=len(some), threads=1)
        search_all(search, some, settings.simulations)
        assert search.evaluations > 512 * len(some), "no tree would need a second turn"
        return [statistics(search, tree)[1] for tree in range(len(some))]

    for together, position in zip(visits(positions), positions, strict=True):
        assert together == visits([position])[0]


def test_every_virtual_loss_is_undone_and_every_simulation_made(evaluator: NetEvaluator) -> None:
    search = searched(evaluator, SEVERAL, POSITIONS)
    for tree, nodes in enumerate(search.forest.trees["nodes"]):
        assert not search.forest.nodes["in_flight"][tree, :nodes].any()
    visits = search.forest.nodes["visits"][:, 0]
    proven = search.forest.nodes["proof"][:, 0] != 0
    assert (visits[~proven] == SEVERAL.simulations).all()
    assert 0 < proven.sum() < len(POSITIONS)
    # Ends of games need no evaluation.
    assert 0.8 * visits.sum() < search.evaluations <= visits.sum()


def test_searches_halt_begin_anew_and_keep_their_subtree(evaluator: NetEvaluator) -> None:
    search = ForestSearch(RULES, evaluator, SEVERAL, trees=1, capacity=20_000)
    search.set_root(0, POSITIONS[0])
    search.begin(0, 15_000, noise=RootNoise(np.full(RULES.cells, 1 / RULES.cells, np.float32), 0.5))
    assert search.advance() == []
    search.halt()
    before = int(search.visits(0).sum())
    assert 100 < before < 15_000
    best = int(search.visits(0).argmax())
    kept = int(search.visits(0)[best])
    search.play(0, best)
    assert search.forest.nodes["visits"][0, 0] == kept
    search.begin(0, 50)
    finish(search)
    assert search.forest.nodes["visits"][0, 0] == kept + 50


def test_random_symmetries_take_batches(evaluator: NetEvaluator) -> None:
    settings = SearchSettings(simulations=20, symmetric=True)
    assert not isinstance(searched(evaluator, settings, POSITIONS[:1])._batches[0], LineBatch)


def test_a_search_uses_all_cores_unless_it_is_told_otherwise(evaluator: NetEvaluator) -> None:
    batch = ForestSearch(RULES, evaluator, SEVERAL, trees=1)._batches[0]
    assert len(batch._shards[0].rooms) == cores()


def test_a_limit_of_cores_leaves_out_helpers_of_a_search_that_began_before(
    evaluator: NetEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    helped: list[int] = []
    help_out = line_search.help_out
    monkeypatch.setattr(line_search, "help_out", lambda *arguments: helped.append(1) or help_out(*arguments))
    search = ForestSearch(RULES, evaluator, SEVERAL, trees=1, threads=2)
    search_all(search, POSITIONS[:1], 100)
    assert helped
    helped.clear()
    limit_cores(1)
    try:
        search_all(search, POSITIONS[1:2], 100)
    finally:
        limit_cores(None)
    assert not helped
    search_all(search, POSITIONS[2:3], 100)
    assert helped


@kernel
def _use(counters: NDArray[np.int64]) -> tuple[bool, bool, int]:
    write(counters, 2, 7)
    first = swap(counters, 2, 7, 8)
    second = swap(counters, 2, 7, 9)
    return first, second, read(counters, 2)


def test_of_two_swaps_of_a_counter_one_succeeds() -> None:
    assert tuple(_use(np.zeros(4, np.int64))) == (True, False, 8)


def test_a_cache_is_cold_until_it_holds_the_turn_of_this_search() -> None:
    assert f"{line_search.__name__.rpartition('.')[2]}.{line_search.search_turn.__name__}" == LARGEST_KERNEL
