"""Claims about the tree search: its results, its virtual losses, and its kept trees."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled.rules import compile_rules, wins
from core.evaluation import Slot, Ticket
from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from search.tree.cache import EvaluationCache
from search.tree.forest import DRAWN, NEW, OPEN, WON, bytes_per_node
from search.tree.groups import EvaluationError
from search.tree.mcts import ForestSearch, RootNoise, search_all
from search.tree.settings import DecayForm, FirstPlay, SearchSettings
from search.tree.softmax import make_scratch, priors_of, scan_best, write_priors
from tests.support.evaluators import ScriptedEvaluator, hashed_evaluation
from tests.support.naive_search import NaiveSearch

SMALL = Rules(5, 4)


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


def assert_sound(search: ForestSearch, tree: int) -> None:
    """Every visit is where it belongs, and no virtual loss is left anywhere."""
    forest = search.forest
    nodes = int(forest.trees["nodes"][tree])
    assert not forest.nodes["in_flight"][tree, :nodes].any()
    from_children = np.zeros(nodes, dtype=np.int64)
    for node in range(1, nodes):
        from_children[forest.nodes["parent"][tree, node]] += forest.nodes["visits"][tree, node]
    for node in range(nodes):
        if forest.nodes["state"][tree, node] == OPEN:
            assert from_children[node] == forest.nodes["visits"][tree, node] - 1
        else:
            assert from_children[node] == 0


@settings(max_examples=100)
@given(
    size=st.integers(3, 7),
    connect=st.integers(3, 5),
    stones=st.integers(0, 8),
    seed=st.integers(0, 1000),
    simulations=st.integers(1, 120),
    decay=st.sampled_from([1.0, 0.9, 0.97]),
    form=st.sampled_from(DecayForm),
    first_play=st.sampled_from(FirstPlay),
    c_puct=st.sampled_from([0.5, 2.0, 5.0]),
    proofs=st.booleans(),
    errors=st.sampled_from([0.0, 1.5]),
)
def test_one_leaf_in_flight_searches_like_the_naive_twin(
    size: int,
    connect: int,
    stones: int,
    seed: int,
    simulations: int,
    decay: float,
    form: DecayForm,
    first_play: FirstPlay,
    c_puct: float,
    proofs: bool,
    errors: float,
) -> None:
    rules = Rules(size, min(size, connect))
    position = start_position(rules, min(stones, rules.cells - 4), seed)
    options = SearchSettings(
        simulations=simulations,
        c_puct=c_puct,
        value_decay=decay,
        decay_form=form,
        first_play=first_play,
        leaves_in_flight=1,
        proven_nodes=proofs,
        bound_errors=errors,
    )
    search = ForestSearch(rules, ScriptedEvaluator(rules), options, trees=1)
    search_all(search, [position], simulations)
    twin = NaiveSearch(
        hashed_evaluation,
        c_puct=c_puct,
        decay=decay,
        repository=form is DecayForm.REPOSITORY,
        fpu=0.25 if first_play is FirstPlay.REDUCED else None,
        proofs=proofs,
    )
    for _ in range(simulations):
        twin.simulate(position)
    assert twin.root is not None
    known = np.zeros(rules.cells, dtype=np.int16)
    for move, plies in twin.root.ended.items():
        known[move] = plies
    assert search.proofs(0).tolist() == known.tolist()
    expected = np.zeros(rules.cells, dtype=np.int32)
    for move, count in twin.root.visits.items():
        expected[move] = count
    assert search.visits(0).tolist() == expected.tolist()
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
    assert_sound(search, 0)


@pytest.mark.parametrize("leaves", [1, 8, 32])
@pytest.mark.parametrize("trees", [1, 2, 7])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("batches", [1, 3])
def test_virtual_loss_is_exactly_undone(leaves: int, trees: int, share: float, batches: int) -> None:
    options = SearchSettings(
        simulations=150,
        leaves_in_flight=leaves,
        batches_in_flight=batches,
        virtual_loss=3,
        virtual_loss_share=share,
        visits_per_leaf=1,
    )
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), options, trees=trees)
    positions = [start_position(SMALL, tree, tree) for tree in range(trees)]
    search_all(search, positions, 150)
    for tree in range(trees):
        assert_sound(search, tree)
        assert search.forest.nodes["visits"][tree, 0] == 150, "a simulation was lost or counted twice"


@pytest.mark.parametrize("batches", [1, 3])
def test_a_pending_leaf_is_never_evaluated_twice(batches: int) -> None:
    def certain(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        """All descents want the same line: without a share of loss they run into the leaf in flight."""
        return np.linspace(0, -60, len(stones), dtype=np.float32), 0.0

    evaluator = ScriptedEvaluator(SMALL, certain)
    evaluator.keep = True
    options = SearchSettings(
        simulations=300, leaves_in_flight=32, batches_in_flight=batches, virtual_loss_share=0.0, visits_per_leaf=1
    )
    search = ForestSearch(SMALL, evaluator, options, trees=1)
    search_all(search, [Position(SMALL)], 300)
    assert_sound(search, 0)
    assert search.forest.nodes["visits"][0, 0] == 300
    assert max(evaluator.batches) < 32, "some descents collided"
    forest = search.forest
    evaluated = int(np.count_nonzero(forest.nodes["state"][0, : forest.trees["nodes"][0]] == OPEN))
    assert len(evaluator.seen) == evaluated


def test_ends_of_games_never_reach_the_evaluator() -> None:
    def answer(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        assert not any(wins(compile_rules(rules), stones, cell) for cell in np.flatnonzero(stones))
        return np.zeros(len(stones), dtype=np.float32), 0.0

    rules = Rules(4, 3)
    search = ForestSearch(rules, ScriptedEvaluator(rules, answer), SearchSettings(simulations=500), trees=1)
    search_all(search, [Position.from_moves(rules, [5, 0, 6, 3])], 500)
    states = search.forest.nodes["state"][0, : search.forest.trees["nodes"][0]]
    assert (states == WON).any()


def test_the_last_cell_may_win_and_a_full_board_draws() -> None:
    rules = Rules(3, 3)
    # Rows from the top, black to move on the last cell:  x o x   and  . x o
    #                                                     x o o        o x o   (there b3 to b1 is one short)
    #                                                     . x o        x o x
    for moves, state in (("c3 b2 a3 c2 a2 b3 b1 c1", WON), ("b1 a1 b2 b3 c3 c2 a2 c1", DRAWN)):
        position = Position.from_moves(rules, [parse_cell(word, 3) for word in moves.split()])
        evaluator = ScriptedEvaluator(rules)
        search = ForestSearch(rules, evaluator, SearchSettings(simulations=5), trees=1)
        search_all(search, [position], 5)
        assert search.forest.nodes["state"][0, 1] == state
        assert search.value(0) == (0.0 if state == DRAWN else 1.0)
        assert sum(evaluator.batches) == 1, "only the root is evaluated"


def game_value(position: Position, decay: float) -> float:
    """The decayed value for the side to move under perfect play: +1 for a win in one, -decay for being lost in two."""
    best = -np.inf
    for move in position.legal_moves():
        position.push(int(move))
        outcome = position.outcome()
        if outcome is not None:
            value = 0.0 if outcome.winner is None else 1.0
        else:
            value = -decay * game_value(position, decay)
        position.pop()
        best = max(best, value)
    return float(best)


@pytest.mark.parametrize("decay", [1.0, 0.9])
def test_a_perfect_evaluators_value_does_not_move_with_more_simulations(decay: float) -> None:
    rules = Rules(3, 3)
    position = Position.from_moves(rules, [4, 0, 8])

    def answer(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        """Perfect play: all prior on one best move, the exact value."""
        here = position.copy()
        blacks = [int(c) for c in np.flatnonzero(stones == BLACK) if c not in position.moves]
        whites = [int(c) for c in np.flatnonzero(stones == -BLACK) if c not in position.moves]
        while blacks or whites:
            here.push(whites.pop() if here.side_to_move == -BLACK else blacks.pop())
        value = game_value(here, decay)
        logits = np.full(9, -60.0, dtype=np.float32)
        for move in here.legal_moves():
            here.push(int(move))
            outcome = here.outcome()
            got = (0.0 if outcome.winner is None else 1.0) if outcome is not None else -decay * game_value(here, decay)
            here.pop()
            if got == pytest.approx(value):
                logits[move] = 0.0
                break
        return logits, value

    expected = game_value(position, decay)
    for simulations in (2, 5, 40, 200):
        options = SearchSettings(simulations=simulations, value_decay=decay, c_puct=1.0)
        search = ForestSearch(rules, ScriptedEvaluator(rules, answer), options, trees=1)
        search_all(search, [position], simulations)
        assert search.value(0) == pytest.approx(expected, abs=1e-5)


def test_rerooting_keeps_the_subtree_and_frees_the_rest() -> None:
    options = SearchSettings(simulations=400)
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), options, trees=1, capacity=2000)
    search_all(search, [Position(SMALL)], 400)
    forest = search.forest
    visits = search.visits(0)
    move = int(visits.argmax())
    child = next(
        n
        for n in range(forest.trees["nodes"][0])
        if forest.nodes["parent"][0, n] == 0 and forest.nodes["move"][0, n] == move
    )
    before = {
        (int(forest.nodes["move"][0, n]), int(forest.nodes["visits"][0, n]), float(forest.nodes["value_sum"][0, n]))
        for n in range(forest.trees["nodes"][0])
        if forest.nodes["parent"][0, n] == child
    }
    search.play(0, move)
    after = {
        (int(forest.nodes["move"][0, n]), int(forest.nodes["visits"][0, n]), float(forest.nodes["value_sum"][0, n]))
        for n in range(forest.trees["nodes"][0])
        if forest.nodes["parent"][0, n] == 0
    }
    assert after == before
    assert forest.nodes["visits"][0, 0] == visits[move]
    assert forest.trees["nodes"][0] <= visits[move] + 1
    assert_sound(search, 0)


def test_a_rerooted_search_goes_on_like_one_that_was_never_compacted() -> None:
    """The naive twin keeps its nodes where they are; after the same move both must go on alike."""
    options = SearchSettings(simulations=60, leaves_in_flight=1)
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), options, trees=1, capacity=1000)
    position = Position(SMALL)
    search.set_root(0, position)
    twin = NaiveSearch(hashed_evaluation, c_puct=options.c_puct, decay=options.value_decay, fpu=options.fpu_reduction)
    for _ in range(4):
        search.begin(0, 60)
        while not search.advance():
            pass
        for _ in range(60):
            twin.simulate(position)
        assert twin.root is not None
        visits = search.visits(0)
        assert {m: n for m, n in twin.root.visits.items() if n} == {
            int(m): int(visits[m]) for m in np.flatnonzero(visits)
        }
        move = int(visits.argmax())
        search.play(0, move)
        position.push(move)
        twin.root = twin.root.children[move]


def test_playing_an_unvisited_move_starts_afresh() -> None:
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), SearchSettings(simulations=3), trees=1, capacity=100)
    search_all(search, [Position(SMALL)], 3)
    unvisited = int(np.flatnonzero(search.visits(0) == 0)[0])
    search.play(0, unvisited)
    assert search.forest.trees["nodes"][0] == 1
    assert search.forest.root_stones[0, unvisited] == BLACK
    assert search.forest.trees["last_move"][0] == unvisited
    assert search.forest.trees["move_before"][0] == -1


def test_a_kept_tree_that_leaves_no_room_is_forgotten() -> None:
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), SearchSettings(simulations=50), trees=1, capacity=60)
    search_all(search, [Position(SMALL)], 50)
    search.play(0, int(search.visits(0).argmax()))
    search.begin(0, 50)
    while not search.advance():
        pass
    assert search.visits(0).sum() >= 49
    assert_sound(search, 0)


def test_a_search_that_fills_its_tree_ends_there() -> None:
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), SearchSettings(simulations=50), trees=1, capacity=10)
    search_all(search, [Position(SMALL)], 50)
    assert search.forest.trees["nodes"][0] == 10
    assert search.visits(0).sum() >= 9
    assert_sound(search, 0)


def test_root_noise_is_mixed_once_and_into_visited_moves_too() -> None:
    noise = np.zeros(SMALL.cells, dtype=np.float32)
    noise[7] = 1.0
    search = ForestSearch(SMALL, ScriptedEvaluator(SMALL), SearchSettings(simulations=40), trees=1, capacity=500)
    search.set_root(0, Position(SMALL))
    search.begin(0, 40)
    while not search.advance():
        pass
    raw = search.priors(0)
    search.begin(0, 1, noise=RootNoise(noise, 0.25))
    assert search.priors(0) == pytest.approx(0.75 * raw + 0.25 * noise, rel=2**-7)
    while not search.advance():
        pass
    assert search.priors(0) == pytest.approx(0.75 * raw + 0.25 * noise, rel=2**-7)

    fresh = ForestSearch(SMALL, ScriptedEvaluator(SMALL), SearchSettings(simulations=1), trees=1)
    fresh.set_root(0, Position(SMALL))
    fresh.begin(0, 1, noise=RootNoise(noise, 0.25))
    while not fresh.advance():
        pass
    assert fresh.priors(0) == pytest.approx(0.75 * raw + 0.25 * noise, rel=2**-7)


@pytest.mark.parametrize("lanes", [1, 5])
@pytest.mark.parametrize("batches", [1, 3])
def test_trees_side_by_side_find_what_each_finds_alone(batches: int, lanes: int) -> None:
    options = SearchSettings(simulations=80, leaves_in_flight=12, batches_in_flight=batches, visits_per_leaf=3)
    positions = [start_position(SMALL, stones, stones) for stones in range(9)]
    evaluator = ScriptedEvaluator(SMALL)
    evaluator.lanes = lanes
    together = ForestSearch(SMALL, evaluator, options, trees=9)
    search_all(together, positions, 80)
    for tree, position in enumerate(positions):
        alone = ForestSearch(SMALL, ScriptedEvaluator(SMALL), options, trees=1)
        search_all(alone, [position], 80)
        assert together.visits(tree).tolist() == alone.visits(0).tolist()


class _Failing(ScriptedEvaluator):
    """Fails on its third batch: raises, or answers with something that is no number."""

    def __init__(self, rules: Rules, raises: bool) -> None:
        super().__init__(rules)
        self._raises = raises

    def submit(self, slot: Slot) -> Ticket:
        ticket = super().submit(slot)
        if len(self.batches) == 3:
            if self._raises:
                return _Broken()
            slot.values[0] = np.nan
        return ticket


class _Broken:
    def result(self) -> None:
        raise RuntimeError("the device is gone")


@pytest.mark.parametrize(("raises", "error"), [(True, RuntimeError), (False, EvaluationError)])
@pytest.mark.parametrize("batches", [1, 3])
def test_a_failed_evaluation_is_raised_and_leaks_nothing(raises: bool, error: type[Exception], batches: int) -> None:
    options = SearchSettings(
        simulations=100, leaves_in_flight=12, batches_in_flight=batches, visits_per_leaf=1 if batches > 1 else 12
    )
    search = ForestSearch(SMALL, _Failing(SMALL, raises), options, trees=1)
    with pytest.raises(error):
        search_all(search, [Position(SMALL)], 100)
    search.halt()
    assert not search.forest.nodes["in_flight"][0, : search.forest.trees["nodes"][0]].any()
    search.begin(0, 20)
    while not search.advance():
        pass
    assert not search.forest.nodes["in_flight"][0, : search.forest.trees["nodes"][0]].any()


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("batches", [1, 3])
def test_after_failures_of_all_batches_the_next_search_is_whole(raises: bool, batches: int) -> None:
    class AllBad(ScriptedEvaluator):
        bad = True

        def submit(self, slot: Slot) -> Ticket:
            ticket = super().submit(slot)
            if not self.bad:
                return ticket
            if raises:
                return _Broken()
            slot.values[:] = np.nan
            return ticket

    evaluator = AllBad(SMALL)
    evaluator.lanes = 5  # two groups, with several batches too
    search = ForestSearch(SMALL, evaluator, SearchSettings(simulations=50, batches_in_flight=batches), trees=4)
    positions = [start_position(SMALL, tree, tree) for tree in range(4)]
    with pytest.raises((RuntimeError, EvaluationError)):
        search_all(search, positions, 50)
    with pytest.raises((RuntimeError, EvaluationError)):
        search.halt()
    evaluator.bad = False
    search_all(search, positions[:2], 50)
    for tree in range(2):
        assert search.forest.nodes["visits"][tree, 0] == 50
        assert_sound(search, tree)


def test_an_evaluator_that_refuses_a_batch_leaves_no_leaf_pending() -> None:
    class Refusing(ScriptedEvaluator):
        def submit(self, slot: Slot) -> Ticket:
            raise RuntimeError("the queue is closed")

    search = ForestSearch(SMALL, Refusing(SMALL), SearchSettings(simulations=5), trees=1)
    with pytest.raises(RuntimeError, match="closed"):
        search_all(search, [Position(SMALL)], 5)
    assert search.forest.nodes["state"][0, 0] == NEW
    assert search.forest.nodes["in_flight"][0, 0] == 0


def test_a_finished_game_cannot_be_searched() -> None:
    position = Position.from_moves(Rules(3, 3), [0, 3, 1, 4, 2])
    search = ForestSearch(Rules(3, 3), ScriptedEvaluator(Rules(3, 3)), SearchSettings(), trees=1)
    with pytest.raises(ValueError, match="finished"):
        search.set_root(0, position)


def peaked(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
    """A peaked evaluation: priors and values that fit together, like a trained net's."""
    size = round(len(stones) ** 0.5)
    rows, columns = np.divmod(np.arange(len(stones)), size)
    logits = np.zeros(len(stones))
    for cell in np.flatnonzero(stones):
        distance = np.maximum(abs(rows - cell // size), abs(columns - cell % size))
        logits += np.where(distance == 1, 1.0, np.where(distance == 2, 0.4, 0.0)) * (
            1.2 if stones[cell] == to_move else 1
        )
    logits += 0.3 * np.sin(np.arange(len(stones)) * 12.9898 + np.count_nonzero(stones))
    own = stones == to_move
    value = np.tanh(0.15 * (logits[own].sum() - logits[stones == -to_move].sum()) + 0.2 * np.sin(rows[own].sum()))
    return logits.astype(np.float32), float(value)


@pytest.mark.parametrize(("leaves", "batches"), [(8, 1), (32, 1), (128, 1), (96, 3)])
def test_leaves_in_flight_do_not_dilute_the_top_move(
    leaves: int, batches: int, record_property: Callable[[str, object], None]
) -> None:
    """At the default setting the top move's share of visits is within 5 points of the serial search's."""
    rules = Rules(9, 5)
    # The ramp must have let all leaves go for half of the search at least.
    simulations = max(400, 2 * leaves * SearchSettings().visits_per_leaf)
    lost = []
    for seed in range(4):
        position = start_position(rules, 4 + seed, seed)
        options = SearchSettings(simulations=simulations, leaves_in_flight=leaves, batches_in_flight=batches)
        one = replace(options, leaves_in_flight=1, batches_in_flight=1)
        alone = ForestSearch(rules, ScriptedEvaluator(rules, peaked), one, trees=1)
        search_all(alone, [position], simulations)
        evaluator = ScriptedEvaluator(rules, peaked)
        search = ForestSearch(rules, evaluator, options, trees=1)
        search_all(search, [position], simulations)
        assert max(evaluator.batches) == (leaves if batches == 1 else leaves // (batches + 1))
        top = int(alone.visits(0).argmax())
        lost.append(100 * (alone.visits(0)[top] - search.visits(0)[top]) / (simulations - 1))
    name = f"{leaves} leaves in {batches} batches"
    record_property(f"points lost with {name}", float(np.mean(lost)))
    record_property(f"largest difference with {name}", float(np.abs(lost).max()))
    assert np.abs(lost).mean() <= 5.0


def test_each_of_several_batches_is_of_one_side_to_move() -> None:
    sides: list[set[int]] = []

    class Recording(ScriptedEvaluator):
        def submit(self, slot: Slot) -> Ticket:
            sides.append(set(slot.positions.to_move[: slot.count].tolist()))
            return super().submit(slot)

    options = SearchSettings(simulations=400, visits_per_leaf=3).for_one_position()
    search = ForestSearch(SMALL, Recording(SMALL), options, trees=1)
    search_all(search, [Position(SMALL)], 400)
    assert all(len(side) == 1 for side in sides)
    assert set.union(*sides) == {BLACK, WHITE}


def test_the_papers_literal_virtual_loss_would_fail_that() -> None:
    """Keeps the measurement above honest: it does tell a diluted search from a sound one."""
    rules, position = Rules(9, 5), start_position(Rules(9, 5), 4, 0)
    shares = []
    for leaves in (1, 128):
        options = SearchSettings(virtual_loss_share=1.0, visits_per_leaf=1, leaves_in_flight=leaves)
        search = ForestSearch(rules, ScriptedEvaluator(rules, peaked), options, trees=1)
        search_all(search, [position], 400)
        shares.append(search.visits(0).max() / search.visits(0).sum())
    assert shares[0] - shares[1] > 0.05


def test_a_simulation_costs_at_most_a_kilobyte_on_15x15() -> None:
    assert bytes_per_node(Rules()) <= 1024


@pytest.mark.parametrize("threads", [2, 3, 16])
@pytest.mark.parametrize("batches", [1, 3])
def test_many_threads_find_exactly_what_one_finds(threads: int, batches: int) -> None:
    options = SearchSettings(simulations=300, leaves_in_flight=16, batches_in_flight=batches)
    positions = [start_position(SMALL, tree % 7, tree) for tree in range(24)]
    found = []
    for count in (1, threads):
        evaluator = ScriptedEvaluator(SMALL)
        evaluator.lanes = 2
        cache = EvaluationCache(SMALL.cells, 4)
        search = ForestSearch(SMALL, evaluator, options, trees=24, threads=count, cache=cache)
        search_all(search, positions, 300)
        nodes = search.forest.nodes
        found.append(
            [
                (nodes["move"][tree, :used].tolist(), nodes["value_sum"][tree, :used].tolist())
                for tree, used in enumerate(search.forest.trees["nodes"].tolist())
            ]
        )
        for tree in range(24):
            assert_sound(search, tree)
    assert found[0] == found[1]


@pytest.mark.parametrize("trees", [1, 3, 4, 7])
def test_more_threads_than_trees_in_a_group_are_left_out(trees: int) -> None:
    evaluator = ScriptedEvaluator(SMALL)
    evaluator.lanes = 2
    search = ForestSearch(SMALL, evaluator, SearchSettings(simulations=20), trees=trees, threads=16)
    search_all(search, [start_position(SMALL, tree, tree) for tree in range(trees)], 20)
    for tree in range(trees):
        assert search.forest.nodes["visits"][tree, 0] == 20
        assert_sound(search, tree)


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


@given(
    cells=st.integers(1, 40),
    seed=st.integers(0, 1000),
    spread=st.sampled_from([0.0, 0.1, 3.0, 40.0, 400.0]),
)
def test_priors_are_the_softmax_over_the_legal_moves(cells: int, seed: int, spread: float) -> None:
    random = np.random.default_rng(seed)
    legal = random.random(cells) < 0.3
    legal[random.integers(cells)] = True
    logits = (random.normal(size=cells) * spread + 0.0).astype(np.float32)  # no -0.0, which equals 0.0
    row = np.empty(cells, dtype=np.int16)
    total = write_priors(legal, logits, row, make_scratch(cells))
    exact = np.exp(logits[legal].astype(np.float64) - logits[legal].max())
    assert priors_of(row)[legal] == pytest.approx(exact / exact.sum(), rel=2**-8, abs=1e-30)
    assert (row[~legal] == -1).all()
    assert total == pytest.approx(exact.sum(), rel=1e-5)
    assert scan_best(row) == np.flatnonzero(priors_of(row) == priors_of(row).max())[0]
    assert row[scan_best(row)] == row[legal][logits[legal].argmax()], "nothing passes the best move"


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf])
def test_a_logit_that_is_no_number_is_noticed_on_legal_moves_only(bad: float) -> None:
    legal = np.array([True, False, True, True])
    row = np.empty(4, dtype=np.int16)
    for cell in range(4):
        logits = np.zeros(4, dtype=np.float32)
        logits[cell] = np.float32(bad)
        with np.errstate(invalid="ignore"):  # numpy's casts warn, compiled ones do not
            total = write_priors(legal, logits, row, make_scratch(4))
        assert np.isfinite(total) == (not legal[cell])
