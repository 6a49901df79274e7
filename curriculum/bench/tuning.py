"""The measurement behind `nets.tuning`: OpenVINO at several batch sizes and numbers of threads."""

import threading
import time
from collections.abc import Mapping
from functools import partial

import numpy as np

from core.cores import cores
from core.evaluation import PositionBatch
from curriculum.bench.rounds import median_rates
from curriculum.reporting import Context
from nets.checkpoint import BUILT_IN
from nets.runtimes.loading import open_model
from nets.runtimes.openvino import OpenVinoRuntime
from nets.runtimes.runtime import Piece
from nets.tuning import LARGEST_BATCHES, Tuning, keep_tuning, kept_tuning

_ROUNDS = 5
_SECONDS = 0.6
"""Time for each setting."""
_MIN_GAIN = 1.05
"""A larger batch, or fewer threads than cores, must be so many times as fast: they have costs of their own."""
_MIN_SHARED_CORES = 4
"""From so many cores on, two may be one core's hyper-threads, and half of the threads may be faster."""


def tune(context: Context) -> Tuning | None:
    """Measure this machine with the built-in model `paper` and keep the result, unless it is kept already; return it.

    None where OpenVINO does not run the model, or nothing can be kept. Raises `Interrupted`.
    """
    evaluator = open_model(BUILT_IN["paper"])
    try:
        runtime = evaluator.runtime
        if not isinstance(runtime, OpenVinoRuntime):
            return None
        if (kept := kept_tuning(runtime.version, runtime.precision)) is not None:
            return kept
        found = best_tuning(_rates(runtime, context), cores())
        return found if keep_tuning(runtime.version, runtime.precision, found) else None
    finally:
        evaluator.close()


def best_tuning(rates: Mapping[Tuning, float], all_cores: int) -> Tuning:
    """Return the fastest of some settings, of those that are nearly equal the one with the smallest batch."""

    def key(tuning: Tuning) -> tuple[bool, int]:
        return tuning.threads not in (None, all_cores), tuning.largest_batch

    best = min(rates, key=key)
    for tuning in sorted(rates, key=key):
        if rates[tuning] >= _MIN_GAIN * rates[best]:
            best = tuning
    return best


def _rates(runtime: OpenVinoRuntime, context: Context) -> dict[Tuning, float]:
    numbers = [None, (cores() + 1) // 2] if cores() >= _MIN_SHARED_CORES else [None]
    settings = [Tuning(size, threads) for size in LARGEST_BATCHES for threads in numbers]
    rates = {tuning: partial(_rate, runtime.tuned(tuning)) for tuning in settings}
    return median_rates("measuring batches and threads", rates, _SECONDS, _ROUNDS, context)


def _rate(runtime: OpenVinoRuntime, seconds: float) -> float:
    """Return positions a second with all threads of the runtime at its largest batch size."""
    size, counts = runtime.sizes[-1], [0] * runtime.threads
    start = time.perf_counter()

    def work(index: int) -> None:
        batch = PositionBatch.empty(size, runtime.cells)
        piece = Piece(np.arange(size), batch, np.empty(batch.stones.shape, np.float32), np.empty(size, np.float32))
        while not counts[index] or time.perf_counter() - start < seconds:
            runtime.evaluate(runtime.nets[index % len(runtime.nets)], [piece])
            counts[index] += size

    threads = [threading.Thread(target=work, args=(index,)) for index in range(runtime.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)
