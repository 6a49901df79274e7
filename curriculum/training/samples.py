"""Samples that nets learn from: positions, policy targets and value targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.evaluation import PositionBatch, transform_policies
from core.rules import Colour
from nets.targets import POLICY, VALUE, FinishedGame, Target, all_targets


@dataclass(frozen=True, slots=True)
class Samples:
    """`B` samples {s, pi, z} (A eq. 11), and what else heads learn of a position (`nets.targets`)."""

    positions: PositionBatch
    """[B]"""
    targets: Mapping[str, NDArray[np.float32]]
    """By name: `policy` [B, A], `value` [B], and auxiliary ones of some samples."""

    @staticmethod
    def plain(positions: PositionBatch, policies: NDArray[np.float32], values: NDArray[np.float32]) -> "Samples":
        """Return samples that belong to no game: of policies [B, A] and values [B] alone."""
        return Samples(positions, {POLICY.name: policies, VALUE.name: values})

    @staticmethod
    def of_game(positions: PositionBatch, game: FinishedGame, targets: Sequence[Target]) -> "Samples":
        """Return the samples of a game: those of its T positions, in order."""
        return Samples(positions, {target.name: np.asarray(target.of_game(game), np.float32) for target in targets})

    @property
    def policies(self) -> NDArray[np.float32]:
        """[B, A] the policy target, which sums to 1."""
        return self.targets[POLICY.name]

    @property
    def values(self) -> NDArray[np.float32]:
        """[B] the value target for the side to move, -1 to 1."""
        return self.targets[VALUE.name]

    @property
    def to_move(self) -> NDArray[np.int8]:
        """[B] the side to move."""
        return self.positions.to_move

    def __len__(self) -> int:
        return len(self.values)

    def target(self, target: Target) -> NDArray[np.float32]:
        """Return a target of all samples; rows of zeros where they have none."""
        found = self.targets.get(target.name)
        return np.zeros((len(self), *target.shape(self.policies.shape[1])), np.float32) if found is None else found

    @staticmethod
    def none(cells: int) -> "Samples":
        """Return an empty set of samples."""
        return Samples.plain(PositionBatch.empty(0, cells), np.empty((0, cells), np.float32), np.empty(0, np.float32))

    @staticmethod
    def concatenate(parts: Sequence["Samples"]) -> "Samples":
        """Return all samples of `parts`, in order; at least one part is required."""
        targets = [target for target in all_targets() if any(target.name in part.targets for part in parts)]
        return Samples(
            PositionBatch.concatenate([part.positions for part in parts]),
            {target.name: np.concatenate([part.target(target) for part in parts]) for target in targets},
        )

    def rows(self, which: slice | NDArray[np.intp] | NDArray[np.bool_]) -> "Samples":
        """Return some of the samples."""
        return Samples(self.positions.rows(which), {name: rows[which] for name, rows in self.targets.items()})

    def transformed(self, symmetries: NDArray[np.intp]) -> "Samples":
        """Return the samples with row `b` under symmetry `symmetries[b]` (0 to 7), which moves targets of cells."""
        turned = {target.name for target in all_targets() if target.units is None}
        return Samples(
            self.positions.transformed(symmetries),
            {
                name: transform_policies(rows, symmetries) if name in turned else rows
                for name, rows in self.targets.items()
            },
        )


def decayed_results(winner: Colour | None, to_move: NDArray[np.int8], decay: float) -> NDArray[np.float32]:
    """Return z [T] of a game's positions before its last T moves: ±decay^(T-1-i), 0 after a draw (A III-C).

    `to_move` [T]: the side to move at each position; z is its result.
    """
    if winner is None:
        return np.zeros(len(to_move), dtype=np.float32)
    left = np.arange(len(to_move) - 1, -1, -1)
    return np.where(to_move == winner, 1.0, -1.0).astype(np.float32) * (decay**left).astype(np.float32)
