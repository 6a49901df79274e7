"""The seam between a search and whoever judges its leaves.

A search fills a `Slot` with positions and submits it; the evaluator writes policy logits and values into the same
slot. `nets` satisfies the protocol without importing this module.
"""

from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.batch import PositionBatch


@dataclass(slots=True)
class Slot:
    """Arrays of one batch in flight. The caller owns them and leaves them alone until the ticket's result is there."""

    positions: PositionBatch
    """Room for [capacity] positions; the first `count` are to be judged."""
    logits: NDArray[np.float32]
    """[capacity, A] written by the evaluator: policy logits, side to move, occupied cells not masked."""
    values: NDArray[np.float32]
    """[capacity] written by the evaluator: expected result for the side to move, -1 to 1."""
    count: int = 0

    @property
    def capacity(self) -> int:
        """Positions there is room for."""
        return len(self.values)

    @classmethod
    def with_capacity(cls, capacity: int, cells: int) -> Self:
        """A slot with room for `capacity` positions of `cells` cells."""
        return cls(
            PositionBatch.empty(capacity, cells),
            np.zeros((capacity, cells), dtype=np.float32),
            np.zeros(capacity, dtype=np.float32),
        )


class Ticket(Protocol):
    """A submitted slot. `concurrent.futures.Future` is one."""

    def result(self) -> None:
        """Waits until the slot's logits and values are written. Raises what the evaluation raised."""


class Evaluator(Protocol):
    """Judges positions, a batch at a time."""

    @property
    def lanes(self) -> int:
        """Batches that it can work on at the same time."""

    @property
    def free_cores(self) -> int:
        """Threads that it leaves to the search."""

    @property
    def version(self) -> int:
        """A number of what it judges by: another version may judge otherwise. 0 to 2^63 - 1."""

    @property
    def last_moves(self) -> int:
        """How many last moves its judgement depends on, 0 to 2."""

    def submit(self, slot: Slot) -> Ticket:
        """Starts judging the first `slot.count` positions and returns at once or when done, as it likes."""


@runtime_checkable
class Prepares(Evaluator, Protocol):
    """An evaluator that makes some things when it first needs them, and can do so ahead."""

    def prepare(self, rows: int) -> None:
        """Makes what judging up to `rows` positions at once needs; may run beside submissions."""


class Done:
    """The ticket of an evaluation that finished before `submit` returned."""

    def result(self) -> None:
        """Returns at once."""


DONE = Done()
