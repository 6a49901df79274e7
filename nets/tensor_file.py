"""Files of tensors in the safetensors format. Of those from outside no byte is believed before it is checked.

The header is checked against its limits and against the size of the file before a tensor is read. Tensors are read into
memory and never mapped: a mapped file that is cut short kills its reader.

Files for others hold finite numbers alone, and equal tensors and metadata give equal bytes: the library writes the
texts of the metadata in an order of chance, and here they are sorted. So a run that was killed has the files of an
undisturbed one, and the hashes by which models name each other.
"""

import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from core.errors import FailedError
from core.files.atomic import atomic_path
from core.files.json_text import parse_json
from core.input_limits import MAX_DIMENSIONS, MAX_MODEL_HEADER_BYTES
from nets.tensor_types import COUNTS, HALVES, WEIGHTS, TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

_LENGTH_BYTES = 8
_ALIGNMENT = 8
_NUMPY_TYPES = {WEIGHTS: "<f4", COUNTS: "<i8", HALVES: "<f2"}
_ITEM_BYTES = {name: int(kind[-1]) for name, kind in _NUMPY_TYPES.items()}


class TensorFileError(ValueError):
    """The file holds no usable tensors; the message says why and does not name the file."""


class TensorFile:
    """An open file of tensors whose header has been checked."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise TensorFileError("it is a folder, a pipe or a device")
        if status.st_size > limit:
            raise TensorFileError(f"it is {status.st_size:,} bytes; the limit is {limit:,}")
        self._file = file
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        self._data_bytes = status.st_size - _LENGTH_BYTES - length
        if status.st_size < _LENGTH_BYTES or self._data_bytes < 0:
            raise TensorFileError("it was cut short, or is no safetensors file")
        if length > MAX_MODEL_HEADER_BYTES:
            raise TensorFileError(f"its header is {length:,} bytes; the limit is {MAX_MODEL_HEADER_BYTES:,}")
        header = _object(_parsed(file.read(length)))
        self.metadata: Mapping[str, str] = _object(header.pop("__metadata__", {}))
        """Texts by name."""
        if not all(isinstance(value, str) for value in self.metadata.values()):
            raise TensorFileError("its metadata is no text")
        self.types: dict[str, TensorType] = {}
        """Type and shape of each tensor by its name."""
        self._starts: dict[str, int] = {}
        self._read_types(header)

    def _read_types(self, header: Mapping[str, Any]) -> None:
        places = []
        for name, entry in header.items():
            fields = _object(entry)
            dtype = fields.get("dtype")
            if not isinstance(dtype, str) or dtype not in _ITEM_BYTES:
                raise TensorFileError(f"{name} is of type {dtype}; tensors are of type {' or '.join(_ITEM_BYTES)}")
            shape, place = _sizes(fields.get("shape")), _sizes(fields.get("data_offsets"))
            if shape is None or len(shape) > MAX_DIMENSIONS or place is None or len(place) != 2:
                raise TensorFileError(f"{name} has no valid shape and place in the file")
            if place[1] - place[0] != math.prod(shape) * _ITEM_BYTES[dtype]:
                raise TensorFileError(f"the bytes of {name} do not fit its shape")
            self.types[name] = TensorType(dtype, tuple(shape))
            self._starts[name] = place[0]
            places.append(place)
        end = 0
        for first, last in sorted(places):
            if first != end:
                raise TensorFileError("its tensors overlap or leave gaps")
            end = last
        if end != self._data_bytes:
            raise TensorFileError(
                f"it was cut short, or is longer than its tensors: {self._data_bytes:,} bytes instead of {end:,}"
            )

    def require(self, needed: Mapping[str, TensorType]) -> None:
        """Raise `TensorFileError` unless the tensors are those of `needed`."""
        if missing := sorted(needed.keys() - self.types.keys()):
            raise TensorFileError(f"it lacks {len(missing)} of the net's tensors, {missing[0]} among them")
        if foreign := sorted(self.types.keys() - needed.keys()):
            raise TensorFileError(f"it holds {len(foreign)} tensors that the net lacks, {foreign[0]} among them")
        for name, kind in needed.items():
            if self.types[name] not in (kind, replace(kind, dtype=HALVES if kind.dtype == WEIGHTS else kind.dtype)):
                raise TensorFileError(f"{name} is {self.types[name]} where the net has {kind}")

    def arrays(self) -> "dict[str, NDArray[Any]]":
        """Read all tensors, which share one block of memory. Raises `TensorFileError` for numbers that are not finite.

        Weights are float32, also those that the file has in half. It costs as much memory as the file is large, or
        three times as much: check the header first.
        """
        import numpy as np  # here, so that reading a header does not need it

        data = np.empty(self._data_bytes, dtype=np.uint8)
        if self._file.readinto(data.data) != self._data_bytes:  # type: ignore[attr-defined]  # an open file has it
            raise TensorFileError("it was cut short while it was read")
        arrays = {}
        for name, kind in self.types.items():
            dtype = np.dtype(_NUMPY_TYPES[kind.dtype])
            start = self._starts[name]
            array = data[start : start + kind.size * dtype.itemsize].view(dtype).reshape(kind.shape)
            # The extremes are NaN if any number is.
            if kind.dtype != COUNTS and array.size and not np.isfinite((array.min(), array.max())).all():
                raise TensorFileError(f"{name} holds numbers that are not finite")
            if kind.dtype == HALVES:
                array = array.astype(_NUMPY_TYPES[WEIGHTS])
            arrays[name] = array if array.flags.aligned else array.copy()
        return arrays


@contextmanager
def open_tensors(path: Path, limit: int) -> Iterator[TensorFile]:
    """Open a file of tensors of at most `limit` bytes. Raises `OSError` and `TensorFileError`; see `TensorFile`."""
    with open(path, "rb", opener=_without_waiting) as file:
        yield TensorFile(file, limit)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe without a writer does not hold up its reader."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _parsed(text: bytes) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise TensorFileError(f"its header is no valid JSON: {error}") from error


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TensorFileError("its header is no table of tensors")
    return value


def _sizes(values: Any) -> list[int] | None:
    # `type` and not `isinstance`: true is an int to Python.
    if isinstance(values, list) and all(type(value) is int and value >= 0 for value in values):
        return values
    return None


class NotFiniteError(FailedError, ArithmeticError):
    """Numbers that are not finite would be written or used; the message names the first of them."""


def check_finite(tensors: "Mapping[str, Tensor]", subject: str) -> None:
    """Raise `NotFiniteError` for tensors with a number that is not finite: `SUBJECT holds ...`."""
    import torch

    if not tensors or bool(torch.stack([tensor.isfinite().all() for tensor in tensors.values()]).all()):
        return
    first = next(name for name, tensor in tensors.items() if not tensor.isfinite().all())
    raise NotFiniteError(f"{subject} holds numbers that are not finite, first in {first}")


def write_tensors(path: Path, tensors: "Mapping[str, Tensor]", metadata: Mapping[str, str]) -> None:
    """Write tensors of the CPU and texts as a safetensors file, whole or not at all. Raises `NotFiniteError`."""
    from safetensors.torch import save

    check_finite(tensors, str(path))
    data = save(dict(tensors), dict(metadata))
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = json.loads(data[_LENGTH_BYTES:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_path(path) as temporary:
        temporary.write_bytes(len(text).to_bytes(_LENGTH_BYTES, "little") + text + data[end:])
