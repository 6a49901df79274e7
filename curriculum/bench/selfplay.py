"""Self-play speed, as a share of the nets' ceiling: the part of the hardware that the search lets them use.

Slices of self-play and of the nets alone take turns, so that a passing load on the machine hits both.
"""

import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from core.evaluation import Evaluator
from core.position import Position
from core.rules import Cell, Rules
from curriculum.bench.bare_net import BareNet
from curriculum.bench.ceiling import Ceiling
from curriculum.bench.positions import openings
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlay
from curriculum.reporting import Context
from nets.config import NetConfig

STAGES = {"opening": 0.1, "middle": 0.25, "end": 1.0}
"""The stages of a game, each with the largest share of the board's cells that hold stones in it."""

_SETTLING_S = 0.1
"""Pause before a slice of self-play: it then begins and ends with equally many batches in flight."""


class Mark(NamedTuple):
    """The counts of self-play at some time."""

    progress: Progress
    moves: Counter[int]
    """Moves by the number of stones before the move."""
    games: int
    """Finished games."""


class _CountedSelfPlay(SelfPlay):
    """Self-play that counts its moves and games."""

    def __init__(self, config: Config, evaluator: Evaluator, starts: Sequence[Sequence[Cell]]) -> None:
        super().__init__(config, evaluator, iteration=0, balanced=starts)
        self.moves: Counter[int] = Counter()
        self._ended = 0

    def _move(self, tree: int, game: Any) -> bool:
        self.moves[game.position.ply] += 1
        goes_on = super()._move(tree, game)
        self._ended += not goes_on
        return goes_on

    def mark(self) -> Mark:
        """Return the counts so far."""
        return Mark(self.progress, self.moves.copy(), self._ended)


@dataclass(frozen=True, slots=True)
class SelfPlayRun:
    """Slices of self-play, and the rates of the nets before and after each (empty if not measured)."""

    config: Config
    slices: list[tuple[Mark, Mark]]
    ceilings: list[float]
    """Of the evaluator alone."""
    bares: list[float]
    """Of the bare nets."""

    def rate(self, unit: str) -> float:
        """Return the median slice's `simulations` or `evaluations` a second."""
        return statistics.median(self._rates(unit))

    def ratio(self, unit: str, nets: Sequence[float] | None = None) -> float:
        """Return the median over the slices of the slice's rate divided by the rate of the nets around it.

        `nets`: their rates, by default those of the evaluator.
        """
        alone = [(before + after) / 2 for before, after in pairwise(self.ceilings if nets is None else nets)]
        return statistics.median(rate / around for rate, around in zip(self._rates(unit), alone, strict=True))

    def _rates(self, unit: str) -> list[float]:
        pairs = [(before.progress, after.progress) for before, after in self.slices]
        return [(getattr(b, unit) - getattr(a, unit)) / (b.seconds - a.seconds) for a, b in pairs]

    def figures(self) -> dict[str, Any]:
        """Return the rates. A slice has few moves and games, so their rates are over all slices together."""
        seconds = sum(after.progress.seconds - before.progress.seconds for before, after in self.slices)
        moves: Counter[int] = sum((after.moves - before.moves for before, after in self.slices), Counter())
        return {
            "simulations_per_second": self.rate("simulations"),
            "evaluations_per_second": self.rate("evaluations"),
            "moves_per_second": moves.total() / seconds,
            "games_per_second": sum(after.games - before.games for before, after in self.slices) / seconds,
            **({"ratio": self.ratio("evaluations")} if self.ceilings else {}),
            **({"bare_ratio": self.ratio("simulations", self.bares)} if self.bares else {}),
            "games": self.config.selfplay.concurrent_games,
            "simulations": self.config.search.simulations,
            "stages": stage_shares(moves, self.config.rules),
        }

    def cache_figures(self) -> dict[str, Any]:
        """Return the cache's hit rate in the slices, and the numbers of leaves and distinct leaves since the start."""
        known, leaves = (
            sum(getattr(after.progress, count) - getattr(before.progress, count) for before, after in self.slices)
            for count in ("known", "leaves")
        )
        last = self.slices[-1][1].progress
        return {"hit_rate": known / max(1, leaves), "leaves": last.leaves, "distinct": last.distinct}


def stage_shares(moves: Counter[int], rules: Rules) -> dict[str, float]:
    """Return the share of `moves`, counted by the stones on the board, in each of the `STAGES`."""
    counts = dict.fromkeys(STAGES, 0)
    for stones, number in moves.items():
        counts[next(stage for stage, end in STAGES.items() if stones <= end * rules.cells)] += number
    return {stage: number / max(1, moves.total()) for stage, number in counts.items()}


def selfplay_config(rules: Rules, net: NetConfig, simulations: int, games: int) -> Config:
    """Return the default configuration of self-play, but from given openings only and without the cache."""
    default = Config(rules=rules, net=net)
    return replace(
        default,
        search=replace(default.search, simulations=simulations),
        selfplay=replace(
            default.selfplay, concurrent_games=games, cache_megabytes=0, balanced_share=1.0, random_share=0.0
        ),
    )


def with_games(config: Config, games: int) -> Config:
    """Return the configuration with another number of games side by side."""
    return replace(config, selfplay=replace(config.selfplay, concurrent_games=games))


def with_cache(config: Config) -> Config:
    """Return the configuration with the evaluation cache that training has by default."""
    return replace(config, selfplay=replace(config.selfplay, cache_megabytes=Config().selfplay.cache_megabytes))


def measure_selfplay(
    config: Config,
    evaluator: Evaluator,
    games: Sequence[Position],
    seconds: float,
    context: Context,
    ceiling: Ceiling | None = None,
    bare: BareNet | None = None,
) -> SelfPlayRun:
    """Measure self-play from the positions of `games`, in turns with `ceiling` and `bare`.

    The first slice begins when each game has made a move on average.
    """
    number = max(3, round(seconds))
    each = seconds / number
    run = SelfPlayRun(config, [], [], [])
    player = _CountedSelfPlay(config, evaluator, openings(games))

    def play_for(playing: Iterator[Any], duration_s: float) -> None:
        start = time.perf_counter()
        while time.perf_counter() - start < duration_s:
            context.check()
            next(playing)

    def measure_nets() -> None:
        if ceiling:
            run.ceilings.append(ceiling.rate(each / 2))
        if bare:
            run.bares.append(bare.rate(each / 2))

    name = f"self-play, {config.selfplay.concurrent_games} games side by side"
    if config.selfplay.cache_megabytes:
        name += ", with the cache"
    with context.reporter.task(name, number, "slices") as task, closing(player.play(range(10_000_000))) as playing:
        while player.moves.total() < config.selfplay.concurrent_games:
            context.check()
            next(playing)
        measure_nets()
        for _ in range(number):
            play_for(playing, min(_SETTLING_S, each / 4))
            before = player.mark()
            play_for(playing, each)
            run.slices.append((before, player.mark()))
            measure_nets()
            task.update(len(run.slices), simulations_per_second=f"{run.rate('simulations'):,.0f}")
    return run
