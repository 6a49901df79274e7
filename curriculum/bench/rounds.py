"""Several rates side by side: they take turns, so that what slows the machine down for a while slows all of them."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from curriculum.reporting import Context

Key = TypeVar("Key")


def rate_of(work: Callable[[], int], seconds: float) -> float:
    """Return the units a second of a `work`, each call of which returns its units; it is called for some seconds."""
    done, start = 0, time.perf_counter()
    while not done or time.perf_counter() - start < seconds:
        done += work()
    return done / (time.perf_counter() - start)


def median_rates(
    name: str, rates: Mapping[Key, Callable[[float], float]], seconds: float, rounds: int, context: Context
) -> dict[Key, float]:
    """Return the median of each rate over some rounds, after one call that does not count.

    `rates`: functions that measure for a number of seconds, each `seconds` in all. Raises `Interrupted`.
    """
    found: dict[Key, list[float]] = {key: [] for key in rates}
    with context.reporter.task(name, rounds, "rounds") as task:
        for done in range(rounds):
            for key, rate in rates.items():
                context.check()
                if not done:
                    rate(0.0)  # it prepares what the first use prepares
                found[key].append(rate(seconds / rounds))
            task.update(done + 1)
    return {key: statistics.median(each) for key, each in found.items()}
