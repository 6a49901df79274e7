"""The seam between a search and its evaluator: batches of positions, slots and tickets.

A search fills a `Slot` with positions and submits it; the evaluator writes policy logits and values into the same
slot. `nets` and `search` both import this module, so that neither imports the other. `write_planes` writes positions as
the input planes of a net.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from core.compiled.symmetry import sources, targets
from core.position import Position
from core.rules import BLACK, NO_CELL, Rules


@dataclass(frozen=True, slots=True)
class PositionBatch:
    """`B` positions of one board size as a struct of arrays.

    >>> batch = gomoku.PositionBatch.from_positions([gomoku.Position()] * 3, gomoku.Rules())
    >>> batch.stones.shape, batch.to_move.tolist()
    ((3, 225), [1, 1, 1])
    """

    stones: NDArray[np.int8]
    """[B, A] `BLACK`, `WHITE` or `EMPTY`."""
    to_move: NDArray[np.int8]
    """[B] the side to move."""
    last_moves: NDArray[np.int16]
    """[B, 2] the last move and the one before it; `NO_CELL` where there is none."""

    @classmethod
    def empty(cls, capacity: int, cells: int) -> Self:
        """Return room for `capacity` positions of `cells` cells, without stones or moves."""
        return cls(
            stones=np.zeros((capacity, cells), dtype=np.int8),
            to_move=np.ones(capacity, dtype=np.int8),
            last_moves=np.full((capacity, 2), NO_CELL, dtype=np.int16),
        )

    @classmethod
    def from_positions(cls, positions: Sequence[Position], rules: Rules) -> Self:
        """Return the batch of `positions`, in order."""
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
        """Cells along an edge of the board."""
        return math.isqrt(self.stones.shape[1])

    def rows(self, which: slice | NDArray[np.intp] | NDArray[np.bool_]) -> "PositionBatch":
        """Return the batch of some rows: a view for a slice, a copy for indices or a mask."""
        return PositionBatch(self.stones[which], self.to_move[which], self.last_moves[which])

    @staticmethod
    def concatenate(batches: Sequence["PositionBatch"]) -> "PositionBatch":
        """Return one batch of all rows, in order."""
        return PositionBatch(
            np.concatenate([batch.stones for batch in batches]),
            np.concatenate([batch.to_move for batch in batches]),
            np.concatenate([batch.last_moves for batch in batches]),
        )

    def transformed(self, symmetries: NDArray[np.intp]) -> "PositionBatch":
        """Return the batch with row `b` under symmetry `symmetries[b]`. `symmetries`: [B], 0 to 7."""
        size = self.size
        stones = np.take_along_axis(self.stones, sources(size)[symmetries], axis=1)
        moved = np.take_along_axis(targets(size)[symmetries], np.maximum(self.last_moves, 0).astype(np.intp), axis=1)
        last_moves = np.where(self.last_moves == NO_CELL, NO_CELL, moved).astype(np.int16)
        return PositionBatch(stones, self.to_move.copy(), last_moves)


def transform_policies(policies: NDArray[np.float32], symmetries: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return policies [B, A] with row `b` under symmetry `symmetries[b]`, like the stones of `transformed`."""
    size = math.isqrt(policies.shape[1])
    return np.take_along_axis(policies, sources(size)[symmetries], axis=1)


@dataclass(slots=True)
class Slot:
    """Arrays of one batch in flight. Their owner, the caller, must not touch them before the ticket's result."""

    positions: PositionBatch
    """[capacity] room for positions; the evaluator reads the first `count`."""
    logits: NDArray[np.float32]
    """[capacity, A] written by the evaluator: policy logits of the side to move, occupied cells not masked."""
    values: NDArray[np.float32]
    """[capacity] written by the evaluator: expected result for the side to move, -1 to 1."""
    count: int = 0
    """Positions to evaluate."""

    @property
    def capacity(self) -> int:
        """Maximum of positions."""
        return len(self.values)

    @classmethod
    def with_capacity(cls, capacity: int, cells: int) -> Self:
        """Return a slot with room for `capacity` positions of `cells` cells."""
        return cls(
            PositionBatch.empty(capacity, cells),
            np.zeros((capacity, cells), dtype=np.float32),
            np.zeros(capacity, dtype=np.float32),
        )


class Ticket(Protocol):
    """A submitted slot. `concurrent.futures.Future` is one."""

    def result(self) -> None:
        """Wait until the slot's logits and values are written. Raises the error of the evaluation."""


class Evaluator(Protocol):
    """Evaluates positions, a batch at a time: policy logits and a value for each."""

    @property
    def lanes(self) -> int:
        """Number of batches that it evaluates at the same time."""

    @property
    def free_cores(self) -> int:
        """Number of threads that it leaves to the search."""

    @property
    def version(self) -> int:
        """Number of its weights, 0 to 2^63 - 1: evaluations of different versions may differ."""

    @property
    def last_moves(self) -> int:
        """Number of last moves on which its evaluation depends, 0 to 2."""

    def submit(self, slot: Slot) -> Ticket:
        """Start evaluating the first `slot.count` positions; may return at once or after the evaluation."""


@runtime_checkable
class Prepares(Evaluator, Protocol):
    """An evaluator with preparations that it otherwise makes at their first use."""

    def prepare(self, rows: int) -> None:
        """Prepare the evaluation of up to `rows` positions at once; may run during submissions."""


class Done:
    """The ticket of an evaluation that finished before `submit` returned."""

    def result(self) -> None:
        """Return at once."""


DONE = Done()


_MAX_VALUE = 1.001
"""Room for rounding."""


class BatchEvaluator(ABC):
    """An evaluator in Python: a subclass writes `evaluate`, which runs on the thread of the search.

    >>> class Flat(gomoku.BatchEvaluator):
    ...     def evaluate(self, positions):
    ...         count, cells = positions.stones.shape
    ...         return np.zeros((count, cells)), np.zeros(count)
    >>> settings = gomoku.SearchSettings(simulations=30)
    >>> gomoku.MctsPlayer(Flat(), gomoku.Rules(), settings).choose(gomoku.Position()).simulations
    30
    """

    lanes = 1
    free_cores = 1
    version = 0
    """Another number for other weights: a search may keep evaluations of one version."""
    last_moves = 2

    @abstractmethod
    def evaluate(self, positions: PositionBatch) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return policy logits [B, A] and expected results [B], -1 to 1, for the side to move of each position.

        Logits of occupied cells are not used. The arrays of `positions` may change after the call.
        """

    def submit(self, slot: Slot) -> Ticket:
        """See `Evaluator`. Raises `ValueError` for answers of other shapes, and for values that are no results."""
        logits, values = self.evaluate(slot.positions.rows(slice(slot.count)))
        for name, answer, room in (("logits", logits, slot.logits), ("values", values, slot.values)):
            if np.shape(answer) != room[: slot.count].shape:
                raise ValueError(f"evaluate returned {name} of {np.shape(answer)}, not {room[: slot.count].shape}")
            room[: slot.count] = answer
        farthest = float(np.abs(slot.values[: slot.count]).max(initial=0.0))
        if farthest > _MAX_VALUE:
            raise ValueError(f"evaluate returned a value of {farthest:g} or minus that; values lie between -1 and 1")
        return DONE


@lean_kernel
def write_planes(
    stones: NDArray[np.int8],
    to_move: NDArray[np.int8],
    last_moves: NDArray[np.int16],
    rows: NDArray[np.intp],
    planes: NDArray[np.uint16] | NDArray[np.float32],
    first: int,
    kinds: tuple[int, int, int],
    one: np.uint16 | np.float32,
) -> None:
    """Write the planes of some rows of a batch of positions to `planes` [n, A, C], from row `first` on.

    The positions are as in `PositionBatch`; `rows` are indices into them. From the side to move: own
    stones, the opponent's, then `kinds` = (number of last moves, a plane each; 1 for a plane of ones where Black is to
    move, else 0; copies of all planes). `one` stands for one, in the number format of `planes`; all else becomes zero.
    """
    lasts, colour, copies = kinds
    count = 2 + lasts + colour
    for index in range(len(rows)):
        row, target = rows[index], first + index
        side = to_move[row]
        for cell in range(planes.shape[1]):
            for plane in range(planes.shape[2]):
                planes[target, cell, plane] = 0
        for start in range(0, copies * count, count):
            for cell in range(planes.shape[1]):
                stone = stones[row, cell]
                if stone != 0:
                    planes[target, cell, start + (0 if stone == side else 1)] = one
            for back in range(lasts):
                cell = last_moves[row, back]
                if 0 <= cell < planes.shape[1]:
                    planes[target, cell, start + 2 + back] = one
            if colour and side == BLACK:
                for cell in range(planes.shape[1]):
                    planes[target, cell, start + 2 + lasts] = one
