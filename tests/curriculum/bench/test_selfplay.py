"""Self-play of the benchmark: its rates, its share of the ceiling, and its stages."""

from collections import Counter
from dataclasses import replace

import pytest

from core.position import Position
from core.rules import Rules
from curriculum.bench.ceiling import Ceiling
from curriculum.bench.positions import long_games, mixed_positions
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
from tests.support.evaluators import ScriptedEvaluator

SMALL = Rules(7, 5)
TINY = NetConfig.tower(2, 1, hidden=2)


@pytest.fixture(scope="module")
def small_games() -> list[Position]:
    return long_games(SMALL, 4)


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


def test_measuring_stops_on_request(small_games: list[Position]) -> None:
    evaluator = ScriptedEvaluator(SMALL)
    config = with_games(selfplay_config(SMALL, TINY, simulations=6, games=3), 2)
    with pytest.raises(Interrupted):
        measure_selfplay(config, evaluator, small_games, 3600.0, Context(stop=lambda: len(evaluator.batches) > 5))


def test_self_play_is_that_of_training() -> None:
    config, default = selfplay_config(Rules(), NetConfig(), 400, Config().selfplay.concurrent_games), Config()
    assert config.search == default.search
    assert with_cache(config).selfplay == replace(default.selfplay, balanced_share=1.0, random_share=0.0)
