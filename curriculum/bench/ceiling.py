"""The forward ceiling: the evaluation speed of the nets alone, which never wait for a search."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from core.evaluation import Evaluator, PositionBatch, Slot, Ticket
from core.position import Position
from curriculum.bench.positions import mixed_positions
from curriculum.bench.rounds import median_rates, rate_of
from curriculum.reporting import Context
from nets.runtimes.net_evaluator import NetEvaluator

_MAX_BATCHES = 4
"""The largest measured batch, in batches of the largest size that the runtime evaluates at once."""
_ROUNDS = 5


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
        """Return evaluated positions a second, between two moments with equally many batches in flight."""
        flying: deque[tuple[Slot, Ticket]] = deque((slot, self._evaluator.submit(slot)) for slot in self._slots)

        def pass_on() -> int:
            slot, ticket = flying.popleft()
            ticket.result()
            flying.append((slot, self._evaluator.submit(slot)))
            return self.batch

        for _ in self._slots:
            pass_on()
        rate = rate_of(pass_on, seconds)
        for _, ticket in flying:
            ticket.result()
        return rate


def rates_by_batch(
    evaluator: Evaluator, positions: PositionBatch, max_batch: int, seconds: float, context: Context
) -> dict[int, float]:
    """Return evaluated positions a second in batches of 2, 4, … up to `max_batch`, each measured for `seconds`."""
    ceilings = (Ceiling(evaluator, positions, 2**power) for power in range(1, max_batch.bit_length()))
    return median_rates("the nets alone", {each.batch: each.rate for each in ceilings}, seconds, _ROUNDS, context)


def find_ceiling(
    evaluator: NetEvaluator, games: Sequence[Position], seconds: float, context: Context
) -> tuple[Ceiling, dict[int, float]]:
    """Return the nets alone at their best batch size, and positions a second at each size, measured for `seconds`."""
    positions = mixed_positions(games)
    rates = rates_by_batch(evaluator, positions, _MAX_BATCHES * evaluator.runtime.sizes[-1], seconds, context)
    return Ceiling(evaluator, positions, max(rates, key=lambda batch: rates[batch])), rates
