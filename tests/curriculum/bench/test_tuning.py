"""The choice of the batch size and the threads from measured rates."""

import pytest

from curriculum.bench.tuning import best_tuning
from nets.tuning import Tuning

SMALL, MIDDLE, LARGE = Tuning(128), Tuning(256), Tuning(512)
HALF = Tuning(128, 4)


@pytest.mark.parametrize(
    ("rates", "best"),
    [
        ({SMALL: 100.0, MIDDLE: 101.0, LARGE: 104.0}, SMALL),
        ({SMALL: 100.0, MIDDLE: 106.0, LARGE: 108.0}, MIDDLE),
        ({SMALL: 100.0, MIDDLE: 103.0, LARGE: 106.0}, LARGE),
        ({SMALL: 100.0, HALF: 104.0}, SMALL),
        ({SMALL: 100.0, HALF: 130.0}, HALF),
    ],
)
def test_larger_batches_and_fewer_threads_must_pay(rates: dict[Tuning, float], best: Tuning) -> None:
    assert best_tuning(rates, all_cores=8) == best
    assert best_tuning(dict(reversed(rates.items())), all_cores=8) == best
