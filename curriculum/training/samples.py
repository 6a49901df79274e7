"""Samples that nets learn from: positions, policy targets and value targets, in memory and on disk."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import BadDataError
from core.evaluation import PositionBatch, transform_policies
from core.files.atomic import atomic_path, require_file
from core.files.json_text import parse_json, values_at
from core.limits import MAX_BOARD_SIZE, MAX_JSON_BYTES, MAX_REASON, MIN_BOARD_SIZE, shortened
from core.rules import BLACK, NO_CELL, WHITE, Colour
from curriculum.training.archives import BROKEN, ArrayArchive
from nets.targets import AUXILIARY, POLICY, VALUE, FinishedGame, Target, all_targets
from nets.tensor_file import NotFiniteError


class SamplesError(BadDataError, ValueError):
    """A file without usable samples; the message names the file and the fault."""


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

    def of_colour(self, colour: Colour | None) -> "Samples":
        """Return the samples with `colour` to move; None stands for both."""
        return self if colour is None else self.rows(self.positions.to_move == colour)

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


_KINDS: dict[str, type[np.generic]] = {
    "stones": np.int8,
    "to_move": np.int8,
    "last_moves": np.int16,
    "metadata": np.uint8,
}
"""The arrays of a file besides its targets."""


def check_targets(path: Path, samples: Samples) -> None:
    """Raise `NotFiniteError` for samples that `path` may not hold: targets that are not finite."""
    for target in all_targets():
        if not np.isfinite(samples.targets.get(target.name, 0.0)).all():
            raise NotFiniteError(
                f"{path} would hold {target.array} that are not finite: those of the player of its games"
            )


def write_samples(path: Path, samples: Samples, metadata: Mapping[str, Any]) -> None:
    """Write a compressed .npz, whole or not at all; `metadata` must be JSON. Equal samples give equal bytes.

    Raises `NotFiniteError`.
    """
    check_targets(path, samples)
    arrays = {
        "stones": samples.positions.stones,
        "to_move": samples.positions.to_move,
        "last_moves": samples.positions.last_moves,
        **{each.array: samples.targets[each.name] for each in all_targets() if each.name in samples.targets},
        "metadata": np.frombuffer(json.dumps(dict(metadata), sort_keys=True).encode(), dtype=np.uint8),
    }
    arrays = {name: np.ascontiguousarray(array, _KINDS.get(name, np.float32)) for name, array in arrays.items()}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # its stub takes the names for options


def read_samples(path: Path, cells: int | None = None) -> tuple[Samples, dict[str, Any]]:
    """Return the samples of a file, and its metadata. `cells`: those of the board, where they are known.

    Raises `SamplesError` for anything but a whole file of `write_samples`, of any author: sizes are checked before an
    array is unpacked, and its values after.
    """
    try:
        require_file(path)
        with path.open("rb") as file:
            needed, optional = ({each.array: np.float32 for each in part} for part in ((POLICY, VALUE), AUXILIARY))
            samples, metadata = _unpacked(ArrayArchive(file, _KINDS | needed, optional), cells)
    except FileNotFoundError as error:
        raise SamplesError(f"there is no file {path}") from error
    except BROKEN as error:
        reason = shortened(" ".join(str(error).split()), MAX_REASON) or type(error).__name__
        raise SamplesError(f"{path} holds no samples, or is damaged: {reason}") from error
    return samples, metadata


def _unpacked(archive: ArrayArchive, cells: int | None) -> tuple[Samples, dict[str, Any]]:
    """Return the samples and the metadata of an archive. Raises one of `BROKEN`."""
    shapes = archive.shapes
    cells = _check_shapes(shapes, cells)
    if shapes["metadata"][0] > MAX_JSON_BYTES:
        raise ValueError(f"its metadata is larger than the limit of {MAX_JSON_BYTES:,} bytes")
    # The policies come first: random or empty data is refused there, before the rest is unpacked.
    checks = _checks(cells)
    arrays = {name: archive.read(name, checks[name]) for name in sorted(shapes, key=lambda name: name != POLICY.array)}
    metadata = parse_json(arrays["metadata"].tobytes())
    if not isinstance(metadata, dict):
        raise ValueError("its metadata is no JSON object")
    positions = PositionBatch(arrays["stones"], arrays["to_move"], arrays["last_moves"])
    return Samples(
        positions, {each.name: arrays[each.array] for each in all_targets() if each.array in arrays}
    ), metadata


def _check_shapes(shapes: Mapping[str, tuple[int, ...]], cells: int | None) -> int:
    """Return the number of cells of the boards. Raises `ValueError`."""
    if len(shapes["stones"]) != 2 or len(shapes["metadata"]) != 1:
        raise ValueError("its arrays have other shapes than samples")
    count, found = shapes["stones"]
    size = math.isqrt(found)
    if size**2 != found or not MIN_BOARD_SIZE <= size <= MAX_BOARD_SIZE:
        raise ValueError(f"no board has {found:,} cells")
    if cells is not None and cells != found:
        raise ValueError(f"its boards have {found} cells, and those of the run have {cells}")
    right = {"to_move": (count,), "last_moves": (count, 2)}
    right |= {target.array: (count, *target.shape(found)) for target in all_targets() if target.array in shapes}
    if any(shapes[name] != shape for name, shape in right.items()):
        raise ValueError("its arrays do not belong together")
    return found


def _checks(cells: int) -> dict[str, Callable[[NDArray[Any]], bool]]:
    """Return the check of some rows of each array."""
    return {
        **{target.array: target.is_right for target in all_targets()},
        "metadata": lambda rows: True,
        "stones": lambda rows: bool(((rows >= WHITE) & (rows <= BLACK)).all()),
        "to_move": lambda rows: bool(((rows == WHITE) | (rows == BLACK)).all()),
        "last_moves": lambda rows: bool(((rows >= NO_CELL) & (rows < cells)).all()),
    }


class KeptGames(NamedTuple):
    """The samples of whole games, one game after the other."""

    samples: Samples
    lengths: list[int]
    """The number of samples of each game."""
    metadata: dict[str, Any]


def read_kept_games(path: Path, cells: int) -> KeptGames:
    """Return the games in a file whose metadata holds their `lengths`. Raises `SamplesError`."""
    samples, metadata = read_samples(path, cells)
    with naming_metadata(path):
        lengths = values_at(metadata, "lengths", int, low=0)
        if sum(lengths) != len(samples):
            raise ValueError(f"lengths are those of {sum(lengths):,} samples, and there are {len(samples):,}")
    return KeptGames(samples, lengths, metadata)


@contextmanager
def naming_metadata(path: Path) -> Iterator[None]:
    """Raise `SamplesError` with the path of the file for a `ValueError` of the block."""
    try:
        yield
    except ValueError as error:
        raise SamplesError(f"{path}: its metadata cannot be used: {error}") from error
