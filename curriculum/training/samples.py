"""Samples that nets learn from: positions, policy targets and value targets, in memory and on disk."""

import json
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import BadDataError
from core.evaluation import PositionBatch, transform_policies
from core.files import atomic_path
from core.rules import Colour


class SamplesError(BadDataError, ValueError):
    """A file without usable samples; the message names the fault."""


@dataclass(frozen=True, slots=True)
class Samples:
    """`B` samples {s, pi, z} (A eq. 11)."""

    positions: PositionBatch
    """[B]"""
    policies: NDArray[np.float32]
    """[B, A] policy target, sums to 1."""
    values: NDArray[np.float32]
    """[B] value target for the side to move, -1 to 1."""

    def __len__(self) -> int:
        return len(self.values)

    @staticmethod
    def none(cells: int) -> "Samples":
        """Return an empty set of samples."""
        return Samples(PositionBatch.empty(0, cells), np.empty((0, cells), np.float32), np.empty(0, np.float32))

    @staticmethod
    def concatenate(parts: Sequence["Samples"]) -> "Samples":
        """Return all samples of `parts`, in order; at least one part is required."""
        return Samples(
            PositionBatch.concatenate([part.positions for part in parts]),
            np.concatenate([part.policies for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def rows(self, which: slice | NDArray[np.intp] | NDArray[np.bool_]) -> "Samples":
        """Return some of the samples."""
        return Samples(self.positions.rows(which), self.policies[which], self.values[which])

    def of_colour(self, colour: Colour) -> "Samples":
        """Return the samples with `colour` to move."""
        return self.rows(self.positions.to_move == colour)

    def transformed(self, symmetries: NDArray[np.intp]) -> "Samples":
        """Return the samples with row `b` under symmetry `symmetries[b]` (0 to 7); values do not change."""
        return Samples(
            self.positions.transformed(symmetries), transform_policies(self.policies, symmetries), self.values
        )


def decayed_results(winner: Colour | None, to_move: NDArray[np.int8], decay: float) -> NDArray[np.float32]:
    """Return z [T] of a game's positions before its last T moves: ±decay^(T-1-i), 0 after a draw (A III-C).

    `to_move` [T]: the side to move at each position; z is its result.
    """
    if winner is None:
        return np.zeros(len(to_move), dtype=np.float32)
    left = np.arange(len(to_move) - 1, -1, -1)
    return np.where(to_move == winner, 1.0, -1.0).astype(np.float32) * (decay**left).astype(np.float32)


def write_samples(path: Path, samples: Samples, metadata: Mapping[str, Any]) -> None:
    """Write a compressed .npz, whole or not at all; `metadata` must be JSON. Equal samples give equal bytes."""
    arrays = {
        "stones": samples.positions.stones,
        "to_move": samples.positions.to_move,
        "last_moves": samples.positions.last_moves,
        "policies": samples.policies,
        "values": samples.values,
        "metadata": np.frombuffer(json.dumps(dict(metadata), sort_keys=True).encode(), dtype=np.uint8),
    }
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stub takes the names for options


def read_samples(path: Path) -> tuple[Samples, dict[str, Any]]:
    """Return the samples of a file, and its metadata. Raises `SamplesError`."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        samples = Samples(
            PositionBatch(arrays["stones"], arrays["to_move"], arrays["last_moves"]),
            arrays["policies"],
            arrays["values"],
        )
        metadata = json.loads(arrays["metadata"].tobytes())
    except FileNotFoundError as error:
        raise SamplesError(f"there is no file {path}") from error
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise SamplesError(f"{path} holds no samples, or was cut short: {error}") from error
    count = len(samples)
    shapes_agree = (
        samples.positions.stones.shape == samples.policies.shape
        and samples.positions.to_move.shape == (count,)
        and samples.positions.last_moves.shape == (count, 2)
    )
    if not shapes_agree:
        raise SamplesError(f"{path}: its arrays do not belong together")
    return samples, metadata
