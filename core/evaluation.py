"""The seam between a search and its evaluator: batches of positions, slots and tickets.

A search fills a `Slot` with positions and submits it; the evaluator writes policy logits and values into the same
slot. `nets` and `search` both import this module, and neither imports the other.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import NO_CELL, Rules
from core.symmetry import sources, targets


@dataclass(frozen=True, slots=True)
class PositionBatch:
    """`B` positions of one board size, as a struct of arrays."""

    stones: NDArray[np.int8]
    """[B, A] `BLACK`, `WHITE` or `EMPTY` a cell."""
    to_move: NDArray[np.int8]
    """[B] the side to move."""
    last_moves: NDArray[np.int16]
    """[B, 2] the last move and the one before it; `NO_CELL` where there is none."""

    @classmethod
    def empty(cls, capacity: int, cells: int) -> Self:
        """Room for `capacity` positions of `cells` cells; the stones and moves are blank."""
        return cls(
            stones=np.zeros((capacity, cells), dtype=np.int8),
            to_move=np.ones(capacity, dtype=np.int8),
            last_moves=np.full((capacity, 2), NO_CELL, dtype=np.int16),
        )

    @classmethod
    def from_positions(cls, positions: Sequence[Position], rules: Rules) -> Self:
        """The batch of `positions`, in order."""
        batch = cls.empty(len(positions), rules.cells)
        for row, position in enumerate(positions):
            batch.stones[row] = position.stones
            batch.to_move[row] = position.side_to_move
            batch.last_moves[row] = position.last_moves
        return batch

    def __len__(self) -> int:
        return len(self.to_move)

    @property
    def size(self) -> int:
        """The board's edge."""
        return math.isqrt(self.stones.shape[1])

    def rows(self, which: slice | NDArray[np.intp] | NDArray[np.bool_]) -> "PositionBatch":
        """The batch of some rows: a view for a slice, a copy for indices or a mask."""
        return PositionBatch(self.stones[which], self.to_move[which], self.last_moves[which])

    @staticmethod
    def concatenate(batches: Sequence["PositionBatch"]) -> "PositionBatch":
        """One batch of all rows, in order."""
        return PositionBatch(
            np.concatenate([batch.stones for batch in batches]),
            np.concatenate([batch.to_move for batch in batches]),
            np.concatenate([batch.last_moves for batch in batches]),
        )

    def transformed(self, symmetries: NDArray[np.intp]) -> "PositionBatch":
        """The batch with row `b` seen under symmetry `symmetries[b]`. `symmetries`: [B], 0 to 7."""
        size = self.size
        stones = np.take_along_axis(self.stones, sources(size)[symmetries], axis=1)
        moved = np.take_along_axis(targets(size)[symmetries], np.maximum(self.last_moves, 0).astype(np.intp), axis=1)
        last_moves = np.where(self.last_moves == NO_CELL, NO_CELL, moved).astype(np.int16)
        return PositionBatch(stones, self.to_move.copy(), last_moves)


def transform_policies(policies: NDArray[np.float32], symmetries: NDArray[np.intp]) -> NDArray[np.float32]:
    """Policies [B, A] with row `b` carried along by symmetry `symmetries[b]`, like the stones they belong to."""
    size = math.isqrt(policies.shape[1])
    return np.take_along_axis(policies, sources(size)[symmetries], axis=1)


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
