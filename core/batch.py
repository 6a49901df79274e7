"""Positions as arrays: what passes through the seam between a search and its evaluator."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

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
