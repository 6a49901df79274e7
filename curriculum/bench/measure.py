"""How fast this machine judges, searches and plays: the figures of `gomoku bench`, all of them measured."""

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from itertools import cycle
from pathlib import Path
from typing import Any

from core.evaluation import DONE, Evaluator, Slot, Ticket
from core.position import Position
from core.rules import Rules
from core.streams import Purpose, generator
from curriculum.bench.positions import long_games, mixed_positions, positions_between
from curriculum.bench.selfplay import (
    STAGES,
    Ceiling,
    SelfPlayRun,
    measure_selfplay,
    rates_by_batch,
    selfplay_config,
    with_cache,
    with_games,
)
from curriculum.config import Config
from curriculum.reporting import Conduct
from nets.dual import DualNet, make_model
from nets.runtimes.devices import best_device, cores
from nets.runtimes.net_evaluator import NetEvaluator
from search.limits import Limit
from search.mentor.player import Mentor
from search.tree.forest import bytes_per_node
from search.tree.mcts import ForestSearch, search_all
from search.tree.player import MctsPlayer
from search.tree.settings import Policy

_GAMES = 48
"""Games whose positions everything is measured on."""
_SHORT_S = 8.0
"""Seconds of self-play below which all else takes less time too."""
_LARGEST_BATCH = 4
"""The largest batch the nets alone are given, in batches of the largest size that the runtime judges at once."""
_SEARCHES = 40
_LARGE_SEARCH = 10_000
_MENTOR_NODES = 20_000
_TREE_SIMULATIONS = 100_000
_DESCENT_TREES = 1024
_GAMES_TRIED = (32, 64, 128, 256)
_SWEPT_GAMES = (1, 4, 16, 64, 256, 1024)
_SWEPT_SIMULATIONS = (100, 1_000, 10_000, 100_000)
_SWEPT_SIZES = (9, 15, 20)
_VERSIONS_OF = ("numpy", "numba", "torch", "openvino", "onnxruntime")


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchSettings:
    """What to measure, and for how long."""

    simulations: int = 400
    """A move of self-play."""
    games: int | None = 128
    """Games of self-play side by side; None takes the best of several numbers."""
    seconds: float = 20.0
    """How long self-play is measured, once without the evaluation cache and once with it."""
    sweeps: bool = True
    """Whether to measure how the figures grow with simulations, games and the board."""


def measure(model: DualNet, settings: BenchSettings, conduct: Conduct) -> Iterator[tuple[str, Any]]:
    """The sections of the result, each when it is measured; `sweeps` anew whenever it grew.

    Raises `Interrupted` between two slices.
    """
    short = min(1.0, settings.seconds / _SHORT_S)
    others = Others()
    games = long_games(model.rules, _GAMES)
    # First, while no memory was used and given back: that would be taken again, and hide growth.
    yield "tree", tree(games, round(_TREE_SIMULATIONS * short))
    yield "mentor", mentor(games, short, conduct)
    yield "descents", descents(games, 2 * short, conduct)
    evaluator = NetEvaluator(model)
    try:
        yield "backend", backend(evaluator)
        ceiling, rates = find_ceiling(evaluator, games, short / 4, conduct)
        single, large = by_simulations(evaluator, games, (400, _LARGE_SEARCH), short, conduct)
        yield "single", {"milliseconds_400": single["milliseconds"], **large}

        config = selfplay_config(model.rules, model.config, settings.simulations, settings.games or _GAMES_TRIED[0])
        if settings.games is None:
            tried = by_games(config, evaluator, games, _GAMES_TRIED, 2 * short, conduct, ceiling)
            config = with_games(config, max(tried, key=lambda row: row["ratio"])["games"])
        play = measure_selfplay(config, evaluator, games, settings.seconds, conduct, ceiling)
        yield (
            "ceiling",
            {
                "positions_per_second": statistics.median(play.ceilings),
                "batch": ceiling.batch,
                "batches": [{"batch": batch, "positions_per_second": rate} for batch, rate in rates.items()],
            },
        )
        yield "selfplay", play.figures()
        cached = measure_selfplay(with_cache(config), evaluator, games, settings.seconds, conduct, ceiling)
        gain = cached.ratio("simulations") / play.ratio("simulations")
        yield "cache", {**cached.figures(), **cached.cache_figures(), "gain": gain}
        yield "others", {"cores": others.cores()}

        if settings.sweeps:
            sweeps = {"simulations": by_simulations(evaluator, games, _SWEPT_SIMULATIONS, short, conduct)}
            yield "sweeps", sweeps
            sweeps["games"] = by_games(config, evaluator, games, _SWEPT_GAMES, 3 * short, conduct, ceiling)
            yield "sweeps", sweeps
            sweeps["board"] = by_size(config, _SWEPT_SIZES, 4 * short, conduct)
            yield "sweeps", sweeps
            yield "others", {"cores": others.cores()}
    finally:
        evaluator.close()


def machine() -> dict[str, Any]:
    """What is measured on, and how busy it was before."""
    return {
        "cores": cores(),
        "processor": _processor(),
        "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else None,
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        **{name: version for name in _VERSIONS_OF if (version := _version(name))},
    }


def _processor() -> str:
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8").splitlines() if told.is_file() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


class Others:
    """How much of the machine other processes take meanwhile: what they take, nothing that is measured can have."""

    def __init__(self) -> None:
        self._since = time.monotonic(), self._seconds()

    def cores(self) -> float | None:
        """The cores that they kept busy since this was made, on average; None where the system does not tell."""
        (began, before), after = self._since, self._seconds()
        if before is None or after is None:
            return None
        return max(0.0, (after - before) / (time.monotonic() - began))

    @staticmethod
    def _seconds() -> float | None:
        told = Path("/proc/stat")
        if not told.is_file():
            return None
        user, nice, system, _, _, interrupts, soft_interrupts, *_ = map(int, told.read_text().split(maxsplit=11)[1:-1])
        busy = user + nice + system + interrupts + soft_interrupts
        return busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def startup(command: Sequence[str]) -> dict[str, Any]:
    """How long `command`, which asks for help, takes as a process of its own: the median of three times."""
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return {"help_seconds": statistics.median(seconds)}


def backend(evaluator: NetEvaluator) -> dict[str, Any]:
    """What runs the nets."""
    runtime = evaluator.runtime
    return {
        "name": runtime.backend.value,
        "precision": runtime.precision.value,
        "device": str(best_device()),
        "lanes": evaluator.lanes,
    }


def find_ceiling(
    evaluator: NetEvaluator, games: Sequence[Position], seconds: float, conduct: Conduct
) -> tuple[Ceiling, dict[int, float]]:
    """The nets alone at their best batch size, and positions a second at every size, each measured for `seconds`."""
    positions = mixed_positions(games)
    rates = rates_by_batch(evaluator, positions, _LARGEST_BATCH * evaluator.runtime.sizes[-1], seconds, conduct)
    return Ceiling(evaluator, positions, max(rates, key=lambda batch: rates[batch])), rates


def by_simulations(
    evaluator: Evaluator, games: Sequence[Position], counts: Sequence[int], seconds: float, conduct: Conduct
) -> list[dict[str, Any]]:
    """Positions of all stages searched one after the other with each number of simulations, as in `gomoku play`.

    `milliseconds` is the median of the searches that no proof ended early; None where all were.
    """
    spread = positions_between(games, 0, max(game.ply for game in games), _SEARCHES)
    positions = [spread[index] for index in generator(0, Purpose.SHUFFLE).permutation(len(spread))]
    rows: list[dict[str, Any]] = []
    with conduct.reporter.task("single positions", len(counts), "sizes") as task:
        for simulations in counts:
            settings = replace(Config().search, simulations=simulations)
            player = MctsPlayer(evaluator, games[0].rules, settings, policy=Policy.DETERMINISTIC)
            player.choose_batch(positions[-1:], seeds=[0], stop=conduct.stop)
            whole: list[float] = []
            spent, searched = 0.0, 0
            for position in positions:
                conduct.check()
                start = time.perf_counter()
                decision = player.choose_batch([position], seeds=[0], stop=conduct.stop)[0]
                took = time.perf_counter() - start
                spent, searched = spent + took, searched + decision.simulations
                if decision.simulations >= simulations:
                    whole.append(took)
                if whole and spent >= seconds:
                    break
            conduct.check()
            rows.append(
                {
                    "simulations": simulations,
                    "milliseconds": 1000 * statistics.median(whole) if whole else None,
                    "simulations_per_second": searched / spent,
                }
            )
            task.update(len(rows))
    return rows


def by_games(
    config: Config,
    evaluator: Evaluator,
    games: Sequence[Position],
    numbers: Sequence[int],
    seconds: float,
    conduct: Conduct,
    ceiling: Ceiling,
) -> list[dict[str, Any]]:
    """Self-play with each number of games side by side, beside the nets alone."""
    return [
        {
            "games": number,
            **_row(measure_selfplay(with_games(config, number), evaluator, games, seconds, conduct, ceiling)),
        }
        for number in numbers
    ]


def by_size(config: Config, sizes: Sequence[int], seconds: float, conduct: Conduct) -> list[dict[str, Any]]:
    """The same on boards of each size, with fresh nets of the same make."""
    rows = []
    for size in sizes:
        rules = Rules(size, config.rules.connect)
        games = long_games(rules, _GAMES // 4)
        evaluator = NetEvaluator(make_model(config.net, rules, config.seed))
        try:
            ceiling, _ = find_ceiling(evaluator, games, seconds / 12, conduct)
            run = measure_selfplay(replace(config, rules=rules), evaluator, games, seconds, conduct, ceiling)
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


class FreeEvaluator:
    """Answers at once with what it drew when it first saw a slot, so that a search's own work is all that is left."""

    lanes = 1
    free_cores = 1
    version = 0
    last_moves = 0

    def __init__(self) -> None:
        self._random = generator(0)
        self._seen: dict[int, Slot] = {}

    def submit(self, slot: Slot) -> Ticket:
        """See `core.evaluation.Evaluator`."""
        if id(slot) not in self._seen:
            self._seen[id(slot)] = slot
            slot.logits[:] = 2.0 * self._random.standard_normal(slot.logits.shape)
            slot.values[:] = self._random.uniform(-0.5, 0.5, slot.values.shape)
        return DONE


class _Descents:
    """Searches without end, with a free evaluator."""

    def __init__(self, games: Sequence[Position], threads: int) -> None:
        positions = positions_between(games, 2, max(game.ply for game in games), _DESCENT_TREES)
        self._simulations = Config().search.simulations
        self._search = ForestSearch(
            games[0].rules, FreeEvaluator(), Config().search, trees=len(positions), threads=threads
        )
        self._positions = positions
        for tree in range(len(positions)):
            self._begin(tree)

    def _begin(self, tree: int) -> None:
        self._search.set_root(tree, self._positions[tree])
        self._search.begin(tree, self._simulations)

    def rate(self, seconds: float) -> float:
        """Simulations a second."""
        before, start = self._search.simulations, time.perf_counter()
        while (passed := time.perf_counter() - start) < seconds:
            for tree in self._search.advance():
                self._begin(tree)
        return (self._search.simulations - before) / passed


def descents(games: Sequence[Position], seconds: float, conduct: Conduct) -> list[dict[str, Any]]:
    """Simulations a second with an evaluator that costs nothing, by the number of threads: 1, 2, 4, … up to all cores.

    `scaling` is what each thread does, over what one alone does.
    """
    numbers = sorted({2**power for power in range(cores().bit_length())} | {cores()})
    searches = {threads: _Descents(games, threads) for threads in numbers}
    rates: dict[int, list[float]] = {threads: [] for threads in numbers}
    with conduct.reporter.task("descents", 3, "rounds") as task:
        for done in range(1, 4):
            for threads, search in searches.items():
                conduct.check()
                rates[threads].append(search.rate(seconds / 3 / len(numbers)))
            task.update(done)
    medians = {threads: statistics.median(rates[threads]) for threads in numbers}
    return [
        {"threads": threads, "simulations_per_second": rate, "scaling": rate / (threads * medians[1])}
        for threads, rate in medians.items()
    ]


def mentor(games: Sequence[Position], seconds: float, conduct: Conduct) -> dict[str, Any]:
    """Nodes a second of the mentor on one core, over positions of the middle game."""
    cells = games[0].rules.cells
    first, last = (round(STAGES[stage] * cells) for stage in ("opening", "middle"))
    player = Mentor(Limit(nodes=_MENTOR_NODES))
    positions = cycle(positions_between(games, first, last, _SEARCHES))
    player.choose_batch([next(positions)], seeds=[0])
    rates = []
    for _ in range(5):
        conduct.check()
        nodes, start = 0, time.perf_counter()
        while (passed := time.perf_counter() - start) < seconds / 5:
            nodes += player.choose_batch([next(positions)], seeds=[0])[0].simulations
        rates.append(nodes / passed)
    return {"nodes_per_second": statistics.median(rates)}


def tree(games: Sequence[Position], simulations: int) -> dict[str, Any]:
    """What a tree costs: memory of its arrays a simulation, and what a search made the process grow by (or None)."""
    rules = games[0].rules
    position = Position.from_moves(rules, games[0].moves[:2])
    settings = replace(Config().search, simulations=simulations, proven_nodes=False)
    search_all(ForestSearch(rules, FreeEvaluator(), settings, trees=1), [position], 1)
    search = ForestSearch(rules, FreeEvaluator(), settings, trees=1)
    before = _resident_bytes()
    search_all(search, [position], simulations)
    after = _resident_bytes()
    return {
        "bytes_per_simulation": bytes_per_node(rules),
        "simulations": simulations,
        "resident_bytes_per_simulation": (after - before) / simulations if before and after else None,
    }


def _resident_bytes() -> int | None:
    told = Path("/proc/self/statm")
    return int(told.read_text(encoding="utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE") if told.is_file() else None
