"""The host's side of a GPU, without one: `python -m benchmarks.host`.

Real self-play with an evaluator whose nets cost the processor nothing: it copies positions in and evaluations out, as
the runtime for GPUs does, and between them sleeps as long as a card might compute (`--ms` for 2,048 rows, a padded
batch after the other). Prints for each latency: simulations a second, the evaluator's own rate, their ratio, the share
of time in which the card was busy, and the processor time of a simulation, all Python included: of all threads together
(median and least of the rounds), and of the thread that more cores do not help (`serial`; on one core it does
everything).
"""

import argparse
import os
import statistics
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import closing
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

    def __init__(self, cells: int, ms: float) -> None:
        """`ms`: milliseconds for 2,048 rows."""
        self._second = ms / 1000.0
        self._cells = cells
        self._own = threading.local()
        self._lock = threading.Lock()
        self._free_at = 0.0
        self.worked = 0.0
        """Seconds of work so far."""

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
            self.worked += duration
            self._free_at = until = max(self._free_at, time.perf_counter()) + duration
        time.sleep(max(0.0, until - time.perf_counter()))
        scatter(pieces, buffers.logits, buffers.values)


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each latency."""
    rules = Rules()
    games = long_games(rules, _GAMES_OF_STARTS)
    for ms in options.ms:
        card = SleepingCard(rules.cells, ms)
        evaluator = RuntimeEvaluator(card, NetConfig(), rules.cells, 1, helped=True)
        alone = Ceiling(evaluator, mixed_positions(games), _ROWS).rate(1.0)
        config = selfplay_config(rules, NetConfig(), options.simulations, options.games)
        player = SelfPlay(config, evaluator, iteration=0, balanced=openings(games))
        rates, costs, serial, batches, busy = [], [], [], [], []
        with closing(player.play(range(10_000_000))) as playing:
            while player.progress.simulations < options.games * options.simulations:
                next(playing)
            for _ in range(options.rounds):
                before, cpu, own, number = player.progress, time.process_time(), time.thread_time(), 0
                worked = card.worked
                while time.perf_counter() - before.seconds < options.seconds:
                    number += next(playing) is None
                after, cpu, own = player.progress, time.process_time() - cpu, time.thread_time() - own
                done = after.simulations - before.simulations
                rates.append(done / (after.seconds - before.seconds))
                busy.append((card.worked - worked) / (after.seconds - before.seconds))
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
    options = parser.parse_args()
    show(rows(options), options.json)


if __name__ == "__main__":
    main()
