"""Measurements of the benchmark: its positions, the forward ceiling, the speed of searches, and self-play beside it."""

import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from core.compiled import stones_of
from core.compiled.rules import compile_rules
from core.compiled.tactics import QUIET, deciding_tactic
from core.evaluation import Slot, Ticket
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from curriculum.bench import search as bench
from curriculum.bench.ceiling import Ceiling, rates_by_batch
from curriculum.bench.positions import long_games, mixed_positions, openings, positions_between
from curriculum.bench.selfplay import (
    STAGES,
    Mark,
    SelfPlayRun,
    measure_selfplay,
    selfplay_config,
    stage_shares,
    with_cache,
    with_games,
)
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress
from curriculum.reporting import Context, Interrupted
from nets.config import NetConfig
from search.tree.forest import bytes_per_node
from tests.support.evaluators import ScriptedEvaluator

SMALL = Rules(7, 5)
TINY = NetConfig.tower(2, 1, hidden=2)


@pytest.fixture(scope="module")
def games() -> list[Position]:
    return long_games(Rules(), 6)


@pytest.fixture(scope="module")
def small_games() -> list[Position]:
    return long_games(SMALL, 4)


# Positions


def test_games_reach_every_stage_undecided(games: list[Position]) -> None:
    assert {game.ply for game in games} == {80}
    counts = Counter(range(2, 81))
    assert min(stage_shares(counts, Rules()).values()) > 0.2
    reached = positions_between(games, 2, 80, 120)
    assert {position.ply for position in reached} == set(range(2, 81))
    quiet = [
        deciding_tactic(compile_rules(position.rules), stones_of(position), position.side_to_move) == QUIET
        for position in reached
    ]
    assert sum(quiet) > 0.9 * len(quiet)


@pytest.mark.parametrize("rules", [Rules(3, 3), Rules(5, 3), Rules(9, 5), Rules(20, 5)])
def test_there_are_games_on_every_board(rules: Rules) -> None:
    played = long_games(rules, 3)
    assert all(2 <= game.ply <= 80 and not game.is_game_over() for game in played)
    assert len(mixed_positions(played)) > 0


def test_positions_take_turns_and_are_those_of_the_games(games: list[Position]) -> None:
    batch = mixed_positions(games)
    assert batch.to_move.tolist() == [BLACK, WHITE] * (len(batch) // 2)
    assert len({row.tobytes() for row in batch.stones}) == len(batch) == 6 * 78
    stones = np.count_nonzero(batch.stones, axis=1)
    assert (stones.min(), stones.max()) == (2, 79)


def test_no_two_openings_are_the_same_game(games: list[Position]) -> None:
    starts = openings(games)
    assert len(starts) == 6 * 79 * 8
    assert len({tuple(moves) for moves in starts}) > 0.98 * len(starts)  # a few have a symmetry of their own
    for moves in starts[:: len(starts) // 40]:
        assert not Position.from_moves(Rules(), moves).is_game_over()


# The ceiling


class Clock:
    """Time that passes only when a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: self.now)


class SlowEvaluator(ScriptedEvaluator):
    """An evaluator of one batch at a time; each takes the same time, at any size."""

    lanes = 2

    def __init__(self, clock: Clock, batch_s: float) -> None:
        super().__init__(Rules())
        self.in_flight = self.max_in_flight = 0
        self.sides: Counter[int] = Counter()
        self._clock, self._batch_s = clock, batch_s

    def submit(self, slot: Slot) -> Ticket:
        self.batches.append(slot.count)
        self.sides.update(slot.positions.to_move[: slot.count].tolist())
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        return self

    def result(self) -> None:
        self.in_flight -= 1
        self._clock.now += self._batch_s


def test_the_ceiling_is_the_rate_of_the_evaluator(monkeypatch: pytest.MonkeyPatch, games: list[Position]) -> None:
    evaluator = SlowEvaluator(Clock(monkeypatch), batch_s=0.25)
    ceiling = Ceiling(evaluator, mixed_positions(games), 8)
    assert ceiling.rate(seconds=10.0) == pytest.approx(8 / 0.25)
    assert set(evaluator.batches) == {8}
    assert evaluator.sides[BLACK] == evaluator.sides[WHITE]
    assert evaluator.max_in_flight == evaluator.lanes + 1
    assert evaluator.in_flight == 0


def test_every_batch_size_is_measured(monkeypatch: pytest.MonkeyPatch, games: list[Position]) -> None:
    evaluator = SlowEvaluator(Clock(monkeypatch), batch_s=0.5)
    rates = rates_by_batch(evaluator, mixed_positions(games), 32, 6.0, Context())
    assert rates == {batch: pytest.approx(2 * batch) for batch in (2, 4, 8, 16, 32)}


# Searches


def test_measuring_stops_on_request(small_games: list[Position]) -> None:
    evaluator = ScriptedEvaluator(SMALL)
    stopping = Context(stop=lambda: len(evaluator.batches) > 5)
    with pytest.raises(Interrupted):
        bench.by_simulations(evaluator, small_games, (10,), 3600.0, stopping)
    assert evaluator.batches
    with pytest.raises(Interrupted):
        bench.descents(small_games, 3600.0, stopping)
    evaluator = ScriptedEvaluator(SMALL)
    config = with_games(selfplay_config(SMALL, TINY, simulations=6, games=3), 2)
    with pytest.raises(Interrupted):
        measure_selfplay(config, evaluator, small_games, 3600.0, stopping)


def test_descents_are_those_of_each_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, small_games: list[Position]
) -> None:
    monkeypatch.setattr(bench, "cores", lambda: 3)
    rows = bench.descents(small_games, 0.3, Context())
    assert [row["threads"] for row in rows] == [1, 2, 3]
    assert rows[0]["scaling"] == 1
    for row in rows:
        expected = row["simulations_per_second"] / (row["threads"] * rows[0]["simulations_per_second"])
        assert row["scaling"] == pytest.approx(expected)


def test_a_tree_takes_what_its_arrays_say() -> None:
    figures = bench.tree(long_games(Rules(), 1), 20_000)
    assert figures["bytes_per_simulation"] == bytes_per_node(Rules()) == 514
    if sys.platform == "linux":
        assert figures["resident_bytes_per_simulation"] < 2 * 514


def test_a_search_that_a_proof_ended_early_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules(6, 4)
    won = Position.from_moves(rules, [14, 0, 15, 5, 16, 35])  # black has three in a row, with both ends free
    monkeypatch.setattr(bench, "positions_between", lambda *_: [won])
    (row,) = bench.by_simulations(ScriptedEvaluator(rules), [won], (500,), 0.01, Context())
    assert row["milliseconds"] is None
    assert row["simulations_per_second"] > 0


# Self-play


def run_of(evaluations: list[int], ceilings: list[float]) -> SelfPlayRun:
    """Slices of two seconds with so many evaluations each."""
    config = selfplay_config(Rules(), NetConfig(), 400, 64)
    begin = Mark(Progress(0.0, 0, 0, 0, 0, 0), Counter(), 0)
    slices = [
        (begin, Mark(Progress(2.0, 2 * number, number, 2 * number, number, 9), Counter({30: 3}), 1))
        for number in evaluations
    ]
    return SelfPlayRun(config, slices, ceilings, [2 * rate for rate in ceilings])


def test_a_slice_is_compared_with_the_nets_around_it() -> None:
    run = run_of([160, 240, 80], [100.0, 100.0, 200.0, 400.0])
    # 80 of 100, 120 of 150, 40 of 300.
    assert run.ratio("evaluations") == pytest.approx(0.8)
    assert run.rate("evaluations") == pytest.approx(80)
    figures = run.figures()
    assert figures["ratio"] == pytest.approx(0.8)
    assert figures["bare_ratio"] == pytest.approx(0.8), "twice the simulations, over nets twice as fast"
    assert figures["simulations_per_second"] == pytest.approx(160)
    assert figures["moves_per_second"] == pytest.approx(9 / 6)
    assert figures["games_per_second"] == pytest.approx(3 / 6)
    assert figures["stages"] == {"opening": 0.0, "middle": 1.0, "end": 0.0}
    assert run.cache_figures()["hit_rate"] == pytest.approx(0.5)


def test_a_load_that_hits_both_alike_leaves_the_ratio() -> None:
    quiet, loaded = run_of([180, 180, 180], [100.0] * 4), run_of([180, 90, 90], [100.0, 100.0, 50.0, 50.0])
    assert quiet.ratio("evaluations") == pytest.approx(0.9)
    assert loaded.ratio("evaluations") == pytest.approx(0.9)


def test_stages_end_where_they_say() -> None:
    moves = Counter({22: 1, 23: 1, 56: 1, 57: 1})
    assert stage_shares(moves, Rules()) == {"opening": 0.25, "middle": 0.5, "end": 0.25}
    assert sum(stage_shares(Counter({cells: 1 for cells in range(225)}), Rules()).values()) == pytest.approx(1)
    assert tuple(STAGES) == ("opening", "middle", "end")


def test_self_play_is_measured_beside_the_ceiling(small_games: list[Position]) -> None:
    evaluator = ScriptedEvaluator(SMALL)
    config = selfplay_config(SMALL, TINY, simulations=6, games=3)
    ceiling = Ceiling(evaluator, mixed_positions(small_games), 4)
    run = measure_selfplay(config, evaluator, small_games, 0.1, Context(), ceiling)
    assert len(run.ceilings) == len(run.slices) + 1 == 4
    figures = run.figures()
    assert 0 < figures["evaluations_per_second"] <= figures["simulations_per_second"]
    assert 0 < figures["moves_per_second"] < figures["simulations_per_second"]
    assert sum(figures["stages"].values()) == pytest.approx(1)
    assert (figures["games"], figures["simulations"]) == (3, 6)
    assert run.cache_figures()["hit_rate"] == 0

    alike = [Position.from_moves(SMALL, [24, 25])]  # in all its symmetries: several games begin with the same one
    cached = measure_selfplay(with_cache(with_games(config, 16)), evaluator, alike, 0.1, Context())
    assert "ratio" not in cached.figures()
    assert 0 < cached.cache_figures()["hit_rate"] < 1
    assert cached.cache_figures()["distinct"] < cached.cache_figures()["leaves"]


def test_self_play_is_that_of_training() -> None:
    config, default = selfplay_config(Rules(), NetConfig(), 400, Config().selfplay.concurrent_games), Config()
    assert config.search == default.search
    assert with_cache(config).selfplay == replace(default.selfplay, balanced_share=1.0, random_share=0.0)
