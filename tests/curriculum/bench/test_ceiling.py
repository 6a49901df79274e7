"""The forward ceiling: positions that an evaluator evaluates while it waits for nothing."""

from collections import Counter

import pytest

from core.evaluation import Slot, Ticket
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from curriculum.bench.ceiling import Ceiling, rates_by_batch
from curriculum.bench.positions import long_games, mixed_positions
from curriculum.reporting import Context
from tests.support.evaluators import ScriptedEvaluator


@pytest.fixture(scope="module")
def games() -> list[Position]:
    return long_games(Rules(), 6)


class Clock:
    """Time that passes only when a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: self.now)


class SlowEvaluator(ScriptedEvaluator):
    """An evaluator of one batch at a time; each takes the same time, at any size."""

    lanes = 2

    def __init__(self, clock: Clock, batch_s: float) -> None:
        super().__init__(Rules())
        self.in_flight = self.max_in_flight = 0
        self.sides: Counter[int] = Counter()
        self._clock, self._batch_s = clock, batch_s

    def submit(self, slot: Slot) -> Ticket:
        self.batches.append(slot.count)
        self.sides.update(slot.positions.to_move[: slot.count].tolist())
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        return self

    def result(self) -> None:
        self.in_flight -= 1
        self._clock.now += self._batch_s


def test_the_ceiling_is_the_rate_of_the_evaluator(monkeypatch: pytest.MonkeyPatch, games: list[Position]) -> None:
    evaluator = SlowEvaluator(Clock(monkeypatch), batch_s=0.25)
    ceiling = Ceiling(evaluator, mixed_positions(games), 8)
    assert ceiling.rate(seconds=10.0) == pytest.approx(8 / 0.25)
    assert set(evaluator.batches) == {8}
    assert evaluator.sides[BLACK] == evaluator.sides[WHITE]
    assert evaluator.max_in_flight == evaluator.lanes + 1
    assert evaluator.in_flight == 0


def test_every_batch_size_is_measured(monkeypatch: pytest.MonkeyPatch, games: list[Position]) -> None:
    evaluator = SlowEvaluator(Clock(monkeypatch), batch_s=0.5)
    rates = rates_by_batch(evaluator, mixed_positions(games), 32, 6.0, Context())
    assert rates == {batch: pytest.approx(2 * batch) for batch in (2, 4, 8, 16, 32)}
