"""Self-play beside the most that its nets could judge: how much of the hardware the search lets them use.

Both are measured in slices of time that take turns, so that load which comes and goes hits both.
"""

import statistics
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from core.evaluation import Evaluator, PositionBatch, Slot, Ticket
from core.position import Position
from core.rules import Cell, Rules
from curriculum.bench.positions import openings
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlay, SelfPlayGame
from curriculum.reporting import Conduct, Task
from nets.config import NetConfig

STAGES = {"opening": 0.1, "middle": 0.25, "end": 1.0}
"""The stages of a game, each with the share of the board's cells that may hold stones in it."""

_SETTLING_S = 0.1
"""After the nets judged for another: then a slice begins and ends with as many batches in flight."""


class Ceiling:
    """An evaluator that is kept busy all the time, as by a search that costs nothing."""

    def __init__(self, evaluator: Evaluator, positions: PositionBatch, batch: int) -> None:
        """`positions` go to it in batches of `batch`; one more is in flight than it can work on side by side."""
        self.batch = batch
        self._evaluator = evaluator
        self._slots = []
        for index in range(evaluator.lanes + 1):
            slot = Slot.with_capacity(batch, positions.stones.shape[1])
            slot.positions = positions.rows((index * batch + np.arange(batch)) % len(positions))
            slot.count = batch
            self._slots.append(slot)

    def rate(self, seconds: float) -> float:
        """Positions judged a second, between two moments at which as many batches are in flight."""
        flying: deque[tuple[Slot, Ticket]] = deque((slot, self._evaluator.submit(slot)) for slot in self._slots)

        def pass_on() -> None:
            slot, ticket = flying.popleft()
            ticket.result()
            flying.append((slot, self._evaluator.submit(slot)))

        for _ in self._slots:
            pass_on()
        start, judged = time.perf_counter(), 0
        while not judged or time.perf_counter() - start < seconds:
            pass_on()
            judged += self.batch
        passed = time.perf_counter() - start
        for _, ticket in flying:
            ticket.result()
        return judged / passed


def rates_by_batch(
    evaluator: Evaluator, positions: PositionBatch, largest: int, seconds: float, conduct: Conduct
) -> dict[int, float]:
    """Positions judged a second in batches of 2, 4, … up to `largest`, each measured for `seconds`."""
    ceilings = [Ceiling(evaluator, positions, 2**power) for power in range(1, largest.bit_length())]
    rates: dict[int, list[float]] = {ceiling.batch: [] for ceiling in ceilings}
    rounds = 5
    with conduct.reporter.task("the nets alone", rounds, "rounds") as task:
        for ceiling in ceilings:
            conduct.check()
            ceiling.rate(0.0)  # a runtime makes what it needs for a size when that first comes
        for done in range(1, rounds + 1):
            for ceiling in ceilings:
                conduct.check()
                rates[ceiling.batch].append(ceiling.rate(seconds / rounds))
            task.update(done)
    return {batch: statistics.median(measured) for batch, measured in rates.items()}


class Mark(NamedTuple):
    """How far self-play was at some time."""

    progress: Progress
    moves: Counter[int]
    """By the number of stones before the move."""
    games: int
    """That ended."""


class _CountedSelfPlay(SelfPlay):
    """Self-play that counts its moves and games."""

    def __init__(self, config: Config, evaluator: Evaluator, starts: Sequence[Sequence[Cell]]) -> None:
        super().__init__(config, evaluator, iteration=0, balanced=starts)
        self.moves: Counter[int] = Counter()
        self._ended = 0

    def _move(self, tree: int, game: Any) -> bool:
        self.moves[game.position.ply] += 1
        return super()._move(tree, game)

    def count_game(self, game: SelfPlayGame) -> None:
        """Takes a game that ended."""
        self._ended += 1

    def mark(self) -> Mark:
        """What was done so far."""
        return Mark(self.progress, self.moves.copy(), self._ended)


@dataclass(frozen=True, slots=True)
class SelfPlayRun:
    """Slices of self-play; and, where that was measured, how fast the nets alone were before and after each."""

    config: Config
    slices: list[tuple[Mark, Mark]]
    ceilings: list[float]

    def rate(self, what: str) -> float:
        """The median slice's `simulations` or `evaluations` a second."""
        return statistics.median(self._rates(what))

    def ratio(self, what: str) -> float:
        """Each slice's rate over that of the nets alone around it: the median."""
        alone = [(before + after) / 2 for before, after in pairwise(self.ceilings)]
        return statistics.median(rate / most for rate, most in zip(self._rates(what), alone, strict=True))

    def _rates(self, what: str) -> list[float]:
        pairs = [(before.progress, after.progress) for before, after in self.slices]
        return [(getattr(b, what) - getattr(a, what)) / (b.seconds - a.seconds) for a, b in pairs]

    def figures(self) -> dict[str, Any]:
        """The rates. Moves and games are few in a slice, so theirs are those of all slices together."""
        seconds = sum(after.progress.seconds - before.progress.seconds for before, after in self.slices)
        moves: Counter[int] = sum((after.moves - before.moves for before, after in self.slices), Counter())
        return {
            "simulations_per_second": self.rate("simulations"),
            "evaluations_per_second": self.rate("evaluations"),
            "moves_per_second": moves.total() / seconds,
            "games_per_second": sum(after.games - before.games for before, after in self.slices) / seconds,
            **({"ratio": self.ratio("evaluations")} if self.ceilings else {}),
            "games": self.config.selfplay.concurrent_games,
            "simulations": self.config.search.simulations,
            "stages": stage_shares(moves, self.config.rules),
        }

    def cache_figures(self) -> dict[str, Any]:
        """The share of the slices' leaves that was known; and since the start all leaves, and how many are distinct."""
        known, leaves = (
            sum(getattr(after.progress, what) - getattr(before.progress, what) for before, after in self.slices)
            for what in ("known", "leaves")
        )
        last = self.slices[-1][1].progress
        return {"hit_rate": known / max(1, leaves), "leaves": last.leaves, "distinct": last.distinct}


def stage_shares(moves: Counter[int], rules: Rules) -> dict[str, float]:
    """Which share of `moves`, counted by the stones on the board, was made in which of the `STAGES`."""
    counts = dict.fromkeys(STAGES, 0)
    for stones, number in moves.items():
        counts[next(stage for stage, most in STAGES.items() if stones <= most * rules.cells)] += number
    return {stage: number / max(1, moves.total()) for stage, number in counts.items()}


def selfplay_config(rules: Rules, net: NetConfig, simulations: int, games: int) -> Config:
    """Self-play as training has it by default, but from given openings alone and without the cache."""
    default = Config(rules=rules, net=net)
    return replace(
        default,
        search=replace(default.search, simulations=simulations),
        selfplay=replace(
            default.selfplay, concurrent_games=games, cache_megabytes=0, balanced_share=1.0, random_share=0.0
        ),
    )


def with_games(config: Config, games: int) -> Config:
    """The same with another number of games side by side."""
    return replace(config, selfplay=replace(config.selfplay, concurrent_games=games))


def with_cache(config: Config) -> Config:
    """The same with the evaluation cache that training has by default."""
    return replace(config, selfplay=replace(config.selfplay, cache_megabytes=Config().selfplay.cache_megabytes))


def measure_selfplay(
    config: Config,
    evaluator: Evaluator,
    games: Sequence[Position],
    seconds: float,
    conduct: Conduct,
    ceiling: Ceiling | None = None,
) -> SelfPlayRun:
    """Self-play from the positions of `games`, once each game has made a move on average; beside it `ceiling`."""
    number = max(3, round(seconds))
    each = seconds / number
    run = SelfPlayRun(config, [], [])
    player = _CountedSelfPlay(config, evaluator, openings(games))

    def play_for(wanted: float) -> Iterator[bool]:
        start = time.perf_counter()
        while time.perf_counter() - start < wanted:
            yield False

    def judge_alone() -> None:
        if ceiling:
            run.ceilings.append(ceiling.rate(each / 2))

    def take_slices(task: Task) -> Iterator[bool]:
        """Goes on whenever self-play asks whether it should stop."""
        while player.moves.total() < config.selfplay.concurrent_games:
            yield False
        judge_alone()
        for _ in range(number):
            yield from play_for(min(_SETTLING_S, each / 4))
            before = player.mark()
            yield from play_for(each)
            run.slices.append((before, player.mark()))
            judge_alone()
            task.update(len(run.slices), simulations_per_second=f"{run.rate('simulations'):,.0f}")
        yield True

    name = f"self-play, {config.selfplay.concurrent_games} games side by side"
    if config.selfplay.cache_megabytes:
        name += ", with the cache"
    with conduct.reporter.task(name, number, "slices") as task:
        steps = take_slices(task)

        def stop() -> bool:
            conduct.check()
            return next(steps)

        player.play(range(10_000_000), player.count_game, stop)
    return run
