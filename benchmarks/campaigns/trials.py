"""Trials of inputs that hypothesis draws: counted by their fates, and the first failure made small."""

import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from benchmarks.measuring import progress


def try_all(inputs: SearchStrategy[Any], check: Callable[[Any], str], count: int, number: int) -> int:
    """Check `count` inputs and print how many had each fate; print a failure and return 1 if there is one.

    `check` returns the fate of an input, or raises `AssertionError`. The same `number` draws the same inputs.
    """
    fates: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=max(1, count),
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def run(data: Any) -> None:
        fates[check(data)] += 1
        if fates.total() % 1000 == 0:
            progress(f"{fates.total():,} inputs: {dict(fates)}")

    try:
        run()
    except AssertionError:
        traceback.print_exc()
        return 1
    print(", ".join(f"{fate}: {found:,}" for fate, found in sorted(fates.items())), flush=True)
    return 0
