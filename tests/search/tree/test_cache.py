"""The evaluation cache changes nothing but the number of evaluations."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.symmetry import SYMMETRIES, sources
from core.compiled.zobrist import position_key
from core.evaluation import Slot, Ticket
from core.position import Position
from core.rules import Rules
from search.tree.cache import EvaluationCache
from search.tree.groups import EvaluationError
from search.tree.mcts import ForestSearch, search_all
from search.tree.settings import SearchSettings
from tests.support.evaluators import FailingEvaluator, ScriptedEvaluator
from tests.support.searches import SMALL, assert_sound, flat, start_position, statistics
from tests.support.searches import searched as searched_alone

OPTIONS = SearchSettings(simulations=300)


def searched(
    cache: EvaluationCache,
    evaluator: ScriptedEvaluator | None = None,
    options: SearchSettings = OPTIONS,
    positions: int = 6,
    **arguments: int,
) -> tuple[ForestSearch, ScriptedEvaluator]:
    """Searches of a few positions side by side, some of them the same."""
    evaluator = evaluator or ScriptedEvaluator(SMALL)
    search = ForestSearch(SMALL, evaluator, options, trees=positions, cache=cache, **arguments)
    try:
        search_all(search, [start_position(SMALL, 2 + tree // 2, tree // 2) for tree in range(positions)], 300)
    except Exception:
        with suppress(RuntimeError):
            search.halt()
        raise
    return search, evaluator


def everything(search: ForestSearch) -> list[tuple[list[int], list[int], list[float]]]:
    """Visits and value sums of all nodes of all trees."""
    return [statistics(search, tree) for tree in range(len(search.forest.trees))]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("lanes", [1, 2, 3])
@pytest.mark.parametrize("batches", [1, 3])
def test_results_are_exactly_the_same_with_and_without(symmetric: bool, lanes: int, batches: int) -> None:
    options = replace(OPTIONS, symmetric=symmetric, batches_in_flight=batches)
    evaluators = [ScriptedEvaluator(SMALL) for _ in range(3)]
    for evaluator in evaluators:
        evaluator.lanes = lanes
    plain, asked = searched(EvaluationCache(SMALL.cells), evaluators[0], options)
    cached, asked_less = searched(EvaluationCache(SMALL.cells, 4), evaluators[1], options)
    crowded = EvaluationCache(SMALL.cells, 1)
    crowded.entries = crowded.entries._replace(key=crowded.entries.key[:256])
    evicting, asked_often = searched(crowded, evaluators[2], options)
    assert everything(plain) == everything(cached) == everything(evicting)
    assert sum(asked_less.batches) <= sum(asked_often.batches) < sum(asked.batches)
    for tree in range(6):
        assert_sound(cached, tree)


def test_no_position_is_evaluated_twice_while_there_is_room() -> None:
    evaluator = ScriptedEvaluator(SMALL)
    evaluator.keep = True
    evaluator.lanes = 3
    cache = EvaluationCache(SMALL.cells, 4)
    searched(cache, evaluator)
    assert len(evaluator.seen) == len(set(evaluator.seen))
    assert cache.lookups - cache.hits == len(evaluator.seen)
    assert cache.distinct == pytest.approx(len(evaluator.seen), rel=0.02)


@pytest.mark.parametrize("change", ["version", "seed"])
def test_another_version_of_the_net_or_seed_of_symmetries_shares_nothing(change: str) -> None:
    cache = EvaluationCache(SMALL.cells, 4)
    searched(cache, positions=1)
    other = ScriptedEvaluator(SMALL)
    if change == "version":
        other.version = 7
    _, asked = searched(cache, other, positions=1, seed=9 if change == "seed" else 0)
    _, fresh = searched(EvaluationCache(SMALL.cells, 4), positions=1)
    assert sum(asked.batches) == sum(fresh.batches)


@pytest.mark.parametrize(("sees", "asked"), [(0, 1), (1, 2), (2, 2)])
def test_last_moves_count_where_the_net_sees_them(sees: int, asked: int) -> None:
    """The same stones placed in another order are another position to a net that sees the last moves."""
    evaluator = ScriptedEvaluator(SMALL)
    evaluator.last_moves = sees
    cache = EvaluationCache(SMALL.cells, 4)
    orders = [[0, 5, 1, 6], [1, 5, 0, 6], [0, 6, 1, 5]] if sees < 2 else [[0, 5, 1, 6], [1, 5, 0, 6]]
    for order in orders:
        searched_alone(Position.from_moves(SMALL, order), replace(OPTIONS, simulations=1), evaluator, cache=cache)
    assert sum(evaluator.batches) == asked


def test_symmetries_are_drawn_evenly_and_evaluations_are_turned_back() -> None:
    drawn: list[int] = []

    def upright(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        """Evaluate the board as it lies: a move's logit depends on the stones next to it alone."""
        board = stones.reshape(SMALL.size, SMALL.size).astype(np.float32)
        around = sum(np.roll(board, shift, axis) for shift in (1, -1) for axis in (0, 1)) * to_move
        return around.ravel().astype(np.float32), 0.0

    class Watched(ScriptedEvaluator):
        def submit(self, slot: Slot) -> Ticket:
            for row in range(slot.count):
                last = int(slot.positions.last_moves[row, 0])
                assert last < 0 or slot.positions.stones[row, last] == -slot.positions.to_move[row]
                drawn.append(hash(slot.positions.stones[row].tobytes()))
            return super().submit(slot)

    straight, _ = searched(EvaluationCache(SMALL.cells), Watched(SMALL, upright))
    shown_straight = set(drawn)
    drawn.clear()
    turned, _ = searched(EvaluationCache(SMALL.cells), Watched(SMALL, upright), replace(OPTIONS, symmetric=True))
    # The evaluation is the same from all sides, so the search is too; the evaluated boards are not.
    assert everything(straight)[0][1] == everything(turned)[0][1]
    assert len(set(drawn) - shown_straight) > len(shown_straight) / 2

    position = start_position(SMALL, 6, 3)
    boards = {tuple(stones_of(position)[sources(SMALL.size)[symmetry]]) for symmetry in range(SYMMETRIES)}
    shown: dict[tuple[int, ...], int] = {}
    priors = searched_alone(position, replace(OPTIONS, simulations=1), ScriptedEvaluator(SMALL, upright)).priors(0)
    for seed in range(160):
        evaluator = Watched(SMALL, upright)
        evaluator.keep = True
        search = searched_alone(position, replace(OPTIONS, symmetric=True, simulations=1), evaluator, seed=seed)
        assert search.priors(0) == pytest.approx(priors, rel=2**-7)
        board = tuple(np.frombuffer(evaluator.seen[0], dtype=np.int8).tolist())
        shown[board] = shown.get(board, 0) + 1
    assert shown.keys() == boards
    assert min(shown.values()) > 5


@pytest.mark.parametrize("kind", ["refuses", "answers NaN"])
def test_a_failed_evaluation_is_not_kept(kind: str) -> None:
    cache = EvaluationCache(SMALL.cells, 4)
    with pytest.raises((RuntimeError, EvaluationError)):
        searched(cache, FailingEvaluator(SMALL, kind, 1))
    assert (cache.entries.key < 0).all()
    assert not cache.entries.pending.any()
    assert not cache.entries.waiting.any()
    found, evaluator = searched(cache)
    expected, fresh = searched(EvaluationCache(SMALL.cells, 4))
    assert everything(found) == everything(expected)
    assert sum(evaluator.batches) == sum(fresh.batches)


def test_distinct_positions_are_counted_within_two_percent_whatever_their_number() -> None:
    for count in (3, 1_000, 20_000):
        cache = EvaluationCache(SMALL.cells)
        search = ForestSearch(SMALL, ScriptedEvaluator(SMALL, flat), OPTIONS, trees=1, cache=cache)
        keys = set()
        random = np.random.default_rng(count)
        while len(keys) < count:
            key = int(random.integers(1 << 62))
            keys.add(key)
            for _ in range(2):  # seen twice, counted once
                search.set_root(0, Position(SMALL))
                search.forest.trees["key"][0] = key
                search.begin(0, 1)
                search.advance()
            if count > 1_000 and len(keys) >= 1_500:
                break
        assert cache.distinct == pytest.approx(len(keys), rel=0.02)


def test_the_key_of_a_position_is_kept_up_to_date_move_by_move() -> None:
    rules = Rules(6, 5)
    search = ForestSearch(rules, ScriptedEvaluator(rules), OPTIONS, trees=1)
    position = Position(rules)
    search.set_root(0, position)
    for move in (0, 7, 35, 12):
        search.play(0, move)
        position.push(move)
        assert search.forest.trees["key"][0] == position_key(stones_of(position), position.side_to_move)
