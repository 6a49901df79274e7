"""The whole benchmark: every figure of `gomoku bench`, section by section, and the sweeps."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.evaluation import Evaluator
from core.position import Position
from curriculum.bench.bare_net import BareNet
from curriculum.bench.ceiling import Ceiling, find_ceiling
from curriculum.bench.machine import OtherProcesses, backend
from curriculum.bench.positions import long_games
from curriculum.bench.search import by_simulations, descents, mentor, tree
from curriculum.bench.selfplay import SelfPlayRun, measure_selfplay, selfplay_config, with_cache, with_games
from curriculum.config import Config
from curriculum.reporting import Context
from nets.dual import DualNet, make_model
from nets.runtimes.net_evaluator import NetEvaluator

_GAMES = 48
"""Games whose positions everything is measured on."""
_SHORT_S = 8.0
"""Seconds of self-play below which all other measurements take less time too."""
_LARGE_SEARCH = 10_000
_TREE_SIMULATIONS = 100_000
_GAMES_TRIED = (32, 64, 128, 256)
_SWEPT_GAMES = (1, 4, 16, 64, 256, 1024)
_SWEPT_SIMULATIONS = (100, 1_000, 10_000, 100_000)
_SWEPT_SIZES = (9, 15, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """Extent of the benchmark."""

    simulations: int = 400
    """Simulations a move of self-play."""
    games: int | None = 128
    """Games of self-play side by side; None takes the best of several numbers."""
    seconds: float = 20.0
    """Seconds of self-play, once without the evaluation cache and once with it."""
    sweeps: bool = True
    """Measure the figures at several numbers of simulations and games, and board sizes."""


def measure(model: DualNet, settings: BenchSettings, context: Context) -> Iterator[tuple[str, Any]]:
    """Yield the sections of the result, each after its measurement; `sweeps` again after each sweep.

    Raises `Interrupted` between two slices.
    """
    short = min(1.0, settings.seconds / _SHORT_S)
    others = OtherProcesses()
    games = long_games(model.rules, _GAMES)
    # First, while no memory was used and freed: the process would reuse it, and hide its growth.
    yield "tree", tree(games, round(_TREE_SIMULATIONS * short))
    yield "mentor", mentor(games, short, context)
    yield "descents", descents(games, 2 * short, context)
    evaluator = NetEvaluator(model)
    try:
        yield "backend", backend(evaluator)
        ceiling, rates = find_ceiling(evaluator, games, short / 4, context)
        bare = BareNet(model, evaluator.runtime, short, context)
        single, large = by_simulations(evaluator, games, (400, _LARGE_SEARCH), short, context, bare)
        yield "single", {"milliseconds_400": single["milliseconds"], "bare_ratio_400": single["bare_ratio"], **large}

        config = selfplay_config(model.rules, model.config, settings.simulations, settings.games or _GAMES_TRIED[0])
        if settings.games is None:
            tried = by_games(config, evaluator, games, _GAMES_TRIED, 2 * short, context, ceiling)
            config = with_games(config, max(tried, key=lambda row: row["ratio"])["games"])
        play = measure_selfplay(config, evaluator, games, settings.seconds, context, ceiling, bare)
        yield "bare", {"positions_per_second": statistics.median(play.bares), "batch": bare.batch}
        yield (
            "ceiling",
            {
                "positions_per_second": statistics.median(play.ceilings),
                "batch": ceiling.batch,
                "batches": [{"batch": batch, "positions_per_second": rate} for batch, rate in rates.items()],
            },
        )
        yield "selfplay", play.figures()
        if evaluator.lines is None:  # a search that evaluates its own leaves has no cache
            cached = measure_selfplay(with_cache(config), evaluator, games, settings.seconds, context, ceiling)
            gain = cached.ratio("simulations") / play.ratio("simulations")
            yield "cache", {**cached.figures(), **cached.cache_figures(), "gain": gain}
        yield "others", {"cores": others.cores()}

        if settings.sweeps:
            sweeps = {"simulations": by_simulations(evaluator, games, _SWEPT_SIMULATIONS, short, context)}
            yield "sweeps", sweeps
            sweeps["games"] = by_games(config, evaluator, games, _SWEPT_GAMES, 3 * short, context, ceiling)
            yield "sweeps", sweeps
            sweeps["board"] = by_size(config, _SWEPT_SIZES, 4 * short, context)
            yield "sweeps", sweeps
            yield "others", {"cores": others.cores()}
    finally:
        evaluator.close()


def by_games(
    config: Config,
    evaluator: Evaluator,
    games: Sequence[Position],
    numbers: Sequence[int],
    seconds: float,
    context: Context,
    ceiling: Ceiling,
) -> list[dict[str, Any]]:
    """Return a row for each number of games side by side: self-play, and the nets alone."""
    return [
        {
            "games": number,
            **_row(measure_selfplay(with_games(config, number), evaluator, games, seconds, context, ceiling)),
        }
        for number in numbers
    ]


def by_size(config: Config, sizes: Sequence[int], seconds: float, context: Context) -> list[dict[str, Any]]:
    """Return a row for each board size: self-play, and the nets alone, with new nets of the same architecture."""
    rows = []
    for size in sizes:
        rules = replace(config.rules, size=size)
        games = long_games(rules, _GAMES // 4)
        evaluator = NetEvaluator(make_model(config.net, rules, config.seed))
        try:
            ceiling, _ = find_ceiling(evaluator, games, seconds / 12, context)
            run = measure_selfplay(replace(config, rules=rules), evaluator, games, seconds, context, ceiling)
        finally:
            evaluator.close()
        rows.append({"size": size, **_row(run)})
    return rows


def _row(run: SelfPlayRun) -> dict[str, float]:
    return {
        "positions_per_second": statistics.median(run.ceilings),
        "simulations_per_second": run.rate("simulations"),
        "evaluations_per_second": run.rate("evaluations"),
        "ratio": run.ratio("evaluations"),
    }
