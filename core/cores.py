"""The processor cores that this process may use."""

import os

_max_cores: int | None = None


def cores() -> int:
    """Return their number: a container, `taskset` or `limit_cores` may leave fewer than the machine has."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return within_limit(count)


def within_limit(count: int) -> int:
    """Return a number of cores, or the maximum of `limit_cores` if that is lower."""
    return count if _max_cores is None else min(count, _max_cores)


def limit_cores(count: int | None) -> None:
    """Set a maximum of 1 or more for the models loaded and the searches begun from now on; None sets none."""
    global _max_cores
    _max_cores = count
