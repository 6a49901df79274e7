"""Files of samples (.npz): packed arrays, stored without compression, so that a large file can be mapped."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import BadDataError
from core.files.atomic import atomic_path, require_file
from core.files.json_text import parse_json, values_at
from core.input_limits import MAX_BOARD_SIZE, MAX_JSON_BYTES, MAX_REASON, MIN_BOARD_SIZE, shortened
from curriculum.training.archives import BROKEN, read_arrays
from curriculum.training.packed import KINDS, Packed, auxiliary_targets, pack
from curriculum.training.samples import Samples
from nets.targets import all_targets
from nets.tensor_file import NotFiniteError

_METADATA = {"metadata": np.uint8}


class SamplesError(BadDataError, ValueError):
    """A file without usable samples; the message names the file and the fault."""


def check_targets(path: Path, samples: Samples) -> None:
    """Raise `NotFiniteError` for samples that `path` may not hold: targets that are not finite."""
    for target in all_targets():
        if not np.isfinite(samples.targets.get(target.name, 0.0)).all():
            raise NotFiniteError(
                f"{path} would hold {target.array} that are not finite: those of the player of its games"
            )


def write_samples(path: Path, samples: Samples | Packed, metadata: Mapping[str, Any]) -> None:
    """Write a file, whole or not at all; `metadata` must be JSON. Equal samples give equal bytes.

    Raises `NotFiniteError`.
    """
    if isinstance(samples, Samples):
        check_targets(path, samples)
        samples = pack(samples)
    text = np.frombuffer(json.dumps(dict(metadata), sort_keys=True).encode(), dtype=np.uint8)
    arrays = {name: np.ascontiguousarray(array) for name, array in samples.arrays.items()}
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays, metadata=text)  # type: ignore[arg-type]  # its stub takes the names for options


def read_samples(path: Path, cells: int | None = None) -> tuple[Samples, dict[str, Any]]:
    """Return the samples of a file, and its metadata: see `read_packed`."""
    samples, metadata = read_packed(path, cells)
    return samples.all, metadata


def read_packed(path: Path, cells: int | None = None, *, mapped: bool = False) -> tuple[Packed, dict[str, Any]]:
    """Return the samples of a file, and its metadata. `cells`: those of the board, where they are known.

    `mapped`: arrays stay in the file, which must not change while they are in use.

    Raises `SamplesError` for anything but a whole file of `write_samples`, of any author: sizes are checked before an
    array is unpacked, and its values after.
    """
    try:
        require_file(path)
        auxiliary = auxiliary_targets()
        with path.open("rb") as file:
            arrays = read_arrays(file, KINDS | _METADATA, {each.array: np.float32 for each in auxiliary}, mapped=mapped)
        metadata = _metadata(arrays.pop("metadata"))
        if any(arrays[name].ndim != 1 for name in KINDS) or len(arrays["board"]) != 1:
            raise ValueError("its arrays have other shapes than samples")
        board, count = int(arrays["board"][0]), len(arrays["facts"])
        _check_board(board, cells)
        for each in auxiliary:
            if (rows := arrays.get(each.array)) is not None:
                if rows.shape != (count, *each.shape(board)):
                    raise ValueError("its arrays do not belong together")
                if not each.is_right(rows):
                    raise ValueError(f"{each.array} has values that no sample has")
        return Packed(arrays), metadata
    except FileNotFoundError as error:
        raise SamplesError(f"there is no file {path}") from error
    except BROKEN as error:
        reason = shortened(" ".join(str(error).split()), MAX_REASON) or type(error).__name__
        raise SamplesError(f"{path} holds no samples, or is damaged: {reason}") from error


def _metadata(text: NDArray[np.uint8]) -> dict[str, Any]:
    """Return the metadata of a file. Raises `ValueError`."""
    if text.ndim != 1:
        raise ValueError("its arrays have other shapes than samples")
    if len(text) > MAX_JSON_BYTES:
        raise ValueError(f"its metadata is larger than the limit of {MAX_JSON_BYTES:,} bytes")
    metadata = parse_json(text.tobytes())
    if not isinstance(metadata, dict):
        raise ValueError("its metadata is no JSON object")
    return metadata


def _check_board(found: int, cells: int | None) -> None:
    """Raise `ValueError` for a number of cells that no board has, or not that of the run."""
    size = math.isqrt(found)
    if size**2 != found or not MIN_BOARD_SIZE <= size <= MAX_BOARD_SIZE:
        raise ValueError(f"no board has {found:,} cells")
    if cells is not None and cells != found:
        raise ValueError(f"its boards have {found} cells, and those of the run have {cells}")


def read_kept_games(path: Path, cells: int) -> tuple[Packed, list[int], dict[str, Any]]:
    """Return the samples of the whole games in a file, the number of samples of each, and the metadata of the file.

    The games are in order. Raises `SamplesError`, also for metadata without these `lengths`.
    """
    samples, metadata = read_packed(path, cells)
    with naming_metadata(path):
        lengths = values_at(metadata, "lengths", int, low=0)
        if sum(lengths) != len(samples):
            raise ValueError(f"lengths are those of {sum(lengths):,} samples, and there are {len(samples):,}")
    return samples, lengths, metadata


@contextmanager
def naming_metadata(path: Path) -> Iterator[None]:
    """Raise `SamplesError` with the path of the file for a `ValueError` of the block."""
    try:
        yield
    except ValueError as error:
        raise SamplesError(f"{path}: its metadata cannot be used: {error}") from error
