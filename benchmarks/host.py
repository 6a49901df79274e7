"""The host's side of a GPU, without one: `python -m benchmarks.host`.

Real self-play with an evaluator whose nets cost the processor nothing: it copies positions in and evaluations out, as
the runtime for GPUs does, and between them sleeps as long as a card might compute (`--ms` for 2,048 rows, a padded
batch after the other). Prints for each latency: simulations a second, the evaluator's own rate, their ratio, the share
of time in which the card was busy, and the processor time of a simulation, all Python included: of all threads together
(median and least of the rounds), and of the thread that more cores do not help (`serial`; on one core it does
everything).

With `--players N` so many processes play, a core each, and one evaluates for all of them, as `--workers processes`
does; then the processor time is that of all these processes, `evaluator` that of the one which evaluates, and the
evaluator's own rate that of players who only ask.
"""

import argparse
import os
import statistics
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from ctypes import c_double
from functools import partial
from itertools import count
from multiprocessing import RawArray
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import parser_of, show
from core.cores import cores
from core.evaluation import PositionBatch
from core.rules import Rules
from core.streams import generator
from curriculum.bench.ceiling import Ceiling
from curriculum.bench.positions import long_games, mixed_positions, openings
from curriculum.bench.selfplay import selfplay_config
from curriculum.games.selfplay_games import SelfPlay
from curriculum.phases.jobs import SelfPlayJob, evaluator_of
from curriculum.workers.processes import ProcessPool
from nets.checkpoint import BUILT_IN
from nets.config import Backend, NetConfig, Precision
from nets.runtimes.cuda import SIZES, CudaRuntime
from nets.runtimes.runtime import CopiesPositions, Piece, scatter
from nets.runtimes.runtime_evaluator import RuntimeEvaluator

_ROWS = 2048
_GAMES_OF_STARTS = 48


class _Buffers(CopiesPositions):
    """The arrays of a lane on the host."""

    def __init__(self, cells: int) -> None:
        self.positions = PositionBatch.empty(SIZES[-1], cells)
        random = generator(0)
        self.logits = 2.0 * random.standard_normal((SIZES[-1], cells), dtype=np.float32)
        self.values = random.uniform(-0.5, 0.5, SIZES[-1]).astype(np.float32)


class SleepingCard:
    """A `Runtime` in place of a GPU."""

    backend = Backend.TORCH
    precision = Precision.FP32
    sizes = CudaRuntime.sizes
    any_thread = CudaRuntime.any_thread
    large_batches = CudaRuntime.large_batches
    lanes, threads = CudaRuntime.lanes, CudaRuntime.threads
    free_cores = cores()

    def __init__(self, cells: int, ms: float, totals: Any = None) -> None:
        """`ms`: milliseconds for 2,048 rows. `totals`: room for seconds of work, batches and rows so far."""
        self._second = ms / 1000.0
        self._cells = cells
        self._own = threading.local()
        self._lock = threading.Lock()
        self._free_at = 0.0
        self.totals: Any = totals or [0.0, 0.0, 0.0]

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        if not hasattr(self._own, "buffers"):
            self._own.buffers = _Buffers(self._cells)
        buffers: _Buffers = self._own.buffers
        filled = 0
        for piece in pieces:
            buffers.put(filled, piece)
            filled += len(piece.rows)
        duration = self._second * SIZES[bisect_left(SIZES, filled)] / _ROWS
        with self._lock:
            for place, amount in enumerate((duration, 1, filled)):
                self.totals[place] += amount
            self._free_at = until = max(self._free_at, time.perf_counter()) + duration
        time.sleep(max(0.0, until - time.perf_counter()))
        scatter(pieces, buffers.logits, buffers.values)


def _evaluator(ms: float, helped: bool, totals: Any = None) -> RuntimeEvaluator:
    rules = Rules()
    return RuntimeEvaluator(SleepingCard(rules.cells, ms, totals), NetConfig(), rules.cells, 1, helped=helped)


def _opened(ms: float, totals: Any, model: Path, rules: Rules | None, repeatable: bool) -> RuntimeEvaluator:
    return _evaluator(ms, False, totals)


def _cpu_s(pid: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class _Asking:
    """A job, and its games: evaluations alone, of the same positions again and again."""

    at_once = 1
    files = ()

    def __init__(self, model: Path, positions: PositionBatch, rows: int) -> None:
        """`rows`: of a request."""
        self._model, self._positions, self._rows = model, positions, rows
        self.counts = {"simulations": 0}

    def open(self, files: object) -> "_Asking":
        """See `curriculum.workers.games.Job`."""
        return self

    def play(self, numbers: object, stop: Callable[[], bool]) -> Generator[None]:
        """See `curriculum.workers.games.Games`."""
        ceiling = Ceiling(evaluator_of(self._model, repeatable=False), self._positions, self._rows)
        while not stop():
            start = time.perf_counter()
            rate = ceiling.rate(0.2)
            self.counts = {"simulations": self.counts["simulations"] + int(rate * (time.perf_counter() - start))}
            yield None

    def close(self) -> None:
        """See `curriculum.workers.games.Games`."""


class _Measured:
    """Figures of streams of `--players` processes."""

    def __init__(self, options: argparse.Namespace, pool: ProcessPool, totals: Sequence[float]) -> None:
        assert pool.evaluator is not None
        self._options, self._pool, self._totals = options, pool, totals
        self._pids = [process.pid or 0 for process, _ in [pool.evaluator, *pool.players]]

    def rounds(self, job: Any, warm_up: int) -> dict[str, list[float]]:
        """Return the figures of each round, after `warm_up` simulations."""
        found: dict[str, list[float]] = {name: [] for name in ("rate", "cost", "evaluator", "rows", "busy")}
        with self._pool.stream(job, count()) as stream:
            while stream.counts.get("simulations", 0) < warm_up:
                stream.take(0.1)
            for _ in range(self._options.rounds):
                start, before, cpu = time.perf_counter(), stream.counts["simulations"], [*map(_cpu_s, self._pids)]
                worked = list(self._totals)
                while time.perf_counter() - start < self._options.seconds:
                    stream.take(0.1)
                seconds, done = time.perf_counter() - start, stream.counts["simulations"] - before
                spent = [after - each for each, after in zip(cpu, map(_cpu_s, self._pids), strict=True)]
                busy, batches, rows = (after - each for each, after in zip(worked, self._totals, strict=True))
                found["rate"].append(done / seconds)
                found["cost"].append(1e6 * sum(spent) / done)
                found["evaluator"].append(1e6 * spent[0] / done)
                found["rows"].append(rows / batches)
                found["busy"].append(busy / seconds)
        return found


def rows_of_processes(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each latency, with processes that play."""
    rules = Rules()
    games = long_games(rules, _GAMES_OF_STARTS)
    config = selfplay_config(rules, NetConfig(), options.simulations, options.games)
    job = SelfPlayJob(config, 0, openings(games), BUILT_IN["paper"], repeatable=False)
    positions = mixed_positions(games)
    for ms in options.ms:
        totals = RawArray(c_double, 3)
        with ProcessPool(options.players, cpus=1, opener=partial(_opened, ms, totals)) as pool:
            measured = _Measured(options, pool, totals)
            alone = measured.rounds(_Asking(job.model, positions, options.request), _ROWS)
            found = measured.rounds(job, options.players * options.games * options.simulations)
        middle = {name: statistics.median(figures) for name, figures in found.items()}
        rate = statistics.median(alone["rate"])
        yield {
            "cores": cores(),
            "players": options.players,
            "ms": ms,
            "rows a batch": middle["rows"],
            "evaluator alone/s": rate,
            "core-us a row": statistics.median(alone["evaluator"]),
            "simulations/s": middle["rate"],
            "ratio": middle["rate"] / rate,
            "busy": middle["busy"],
            "core-us a simulation": middle["cost"],
            "least": min(found["cost"]),
            "evaluator": middle["evaluator"],
            "load": os.getloadavg()[0],
        }


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each latency."""
    rules = Rules()
    games = long_games(rules, _GAMES_OF_STARTS)
    for ms in options.ms:
        evaluator = _evaluator(ms, True)
        card: Any = evaluator.runtime
        alone = Ceiling(evaluator, mixed_positions(games), _ROWS).rate(1.0)
        config = selfplay_config(rules, NetConfig(), options.simulations, options.games)
        player = SelfPlay(config, evaluator, iteration=0, balanced=openings(games))
        rates, costs, serial, batches, busy = [], [], [], [], []
        with closing(player.play(range(10_000_000))) as playing:
            while player.progress.simulations < options.games * options.simulations:
                next(playing)
            for _ in range(options.rounds):
                before, cpu, own, number = player.progress, time.process_time(), time.thread_time(), 0
                worked = card.totals[0]
                while time.perf_counter() - before.seconds < options.seconds:
                    number += next(playing) is None
                after, cpu, own = player.progress, time.process_time() - cpu, time.thread_time() - own
                done = after.simulations - before.simulations
                rates.append(done / (after.seconds - before.seconds))
                busy.append((card.totals[0] - worked) / (after.seconds - before.seconds))
                costs.append(1e6 * cpu / done)
                serial.append(1e6 * own / done)
                batches.append((after.evaluations - before.evaluations) / number)
        evaluator.close()
        rate = statistics.median(rates)
        yield {
            "cores": cores(),
            "ms": ms,
            "rows a batch": statistics.median(batches),
            "evaluator alone/s": alone,
            "simulations/s": rate,
            "ratio": rate / alone,
            "busy": statistics.median(busy),
            "core-us a simulation": statistics.median(costs),
            "least": min(costs),
            "serial": statistics.median(serial),
            "load": os.getloadavg()[0],
        }


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("--ms", type=float, nargs="+", default=[1.0, 2.0, 4.0, 8.0])
    parser.add_argument("--games", type=int, default=1024)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0, help="of a round")
    parser.add_argument("--players", type=int, default=0, help="processes that play; 0: this one, on threads")
    parser.add_argument("--request", type=int, default=1024, help="rows of a request of players who only ask")
    options = parser.parse_args()
    show((rows_of_processes if options.players else rows)(options), options.json)


if __name__ == "__main__":
    main()
