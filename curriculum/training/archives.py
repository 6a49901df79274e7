"""Archives of arrays (.npz) from outside: all sizes are checked before an array is unpacked, values while it is."""

import math
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.input_limits import MAX_SAMPLES_BYTES

BROKEN = (
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
"""Errors of `zipfile` for archives that are broken in one way or another, and of this module."""

NO_SAMPLE = "values that no sample has"

_HEADER = re.compile(r"\{'descr': '(\S{2,5})', 'fortran_order': False, 'shape': \(([\d, ]{1,60})\), \} *\n")
_PREFIX = struct.Struct("<8sH")
_MAGIC = b"\x93NUMPY\x01\x00"
_LOCAL = struct.Struct("<26x2H")
"""The entry in front of a member, with the lengths of its name and of what follows that."""
_DIRECTORY_END = struct.Struct("<4s4H2LH")
_DIRECTORY_MAGIC = b"PK\5\6"
_MOST_UNPACKED = 1040
"""Bytes that deflate can make of one, and a few more."""
_CHUNK_BYTES = 4 << 20


class ArrayArchive:
    """The arrays of an open .npz file that `numpy.savez_compressed` wrote; a context manager is not needed."""

    def __init__(
        self,
        file: BinaryIO,
        formats: Sequence[Mapping[str, type[np.generic]]],
        optional: Mapping[str, type[np.generic]],
    ) -> None:
        """Read the names, types and shapes of all arrays: those of one of the `formats`, and perhaps `optional` ones.

        Raises one of `BROKEN`.
        """
        sizes = [len(each) for each in formats]
        _check_directory(file, range(min(sizes), max(sizes) + len(optional) + 1))
        self._file = file
        self._archive = zipfile.ZipFile(file)
        members = self._archive.infolist()
        self._members = {info.filename.removesuffix(".npy"): info for info in members}
        fitting = [each for each in formats if each.keys() <= self._members.keys() <= {**each, **optional}.keys()]
        if len(members) > len(self._members) or not fitting:
            raise ValueError("its arrays are others")
        self._kinds = {**fitting[0], **optional}
        unpacked = sum(info.file_size for info in self._members.values())
        if unpacked > MAX_SAMPLES_BYTES:
            raise ValueError(f"it unpacks to {unpacked:,} bytes; the limit is {MAX_SAMPLES_BYTES:,} bytes")
        for info in self._members.values():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{info.filename} is compressed in another way")
            if info.file_size > _MOST_UNPACKED * (info.compress_size + 16):
                raise ValueError(f"{info.filename} cannot unpack to the size of its entry")
        self.shapes = {name: self._header(name)[0] for name in self._members}
        """The shape of each array."""

    @property
    def is_compressed(self) -> bool:
        """True if an array is not stored as it is."""
        return any(info.compress_type != zipfile.ZIP_STORED for info in self._members.values())

    def _header(self, name: str) -> tuple[tuple[int, ...], int]:
        """Return the shape of an array, and the length of its header in bytes."""
        kind, info = np.dtype(self._kinds[name]), self._members[name]
        with self._archive.open(info) as member:
            magic, length = _PREFIX.unpack(member.read(_PREFIX.size))
            match = _HEADER.fullmatch(member.read(length).decode("latin-1"))
        if magic != _MAGIC or match is None:
            raise ValueError(f"{name} has another header than numpy writes")
        shape = tuple(int(number) for number in match[2].split(",") if number.strip())
        if match[1] != kind.str:
            raise ValueError(f"{name} has the type {match[1]}, not {kind.str}")
        header = _PREFIX.size + length
        if header + kind.itemsize * math.prod(shape) != info.file_size:
            raise ValueError(f"{name} has the shape {shape}, which is not that of its data")
        return shape, header

    def read(self, name: str, is_right: Callable[[NDArray[Any]], bool], mapped: bool = False) -> NDArray[Any]:
        """Return an array. Raises one of `BROKEN`, also for some rows for which `is_right` returns False.

        `mapped`: it stays in the file, if it is stored there without compression.
        """
        info, header = self._members[name], self._header(name)[1]
        if mapped and info.compress_type == zipfile.ZIP_STORED and math.prod(self.shapes[name]) > 0:
            array = self._mapped(name, header)
        else:
            array, mapped = np.empty(self.shapes[name], dtype=self._kinds[name]), False
        rows = max(1, _CHUNK_BYTES * len(array) // max(1, array.nbytes))
        with self._archive.open(info) as member:
            member.read(header)
            for first in range(0, len(array), rows):
                chunk = array[first : first + rows]
                data = member.read(chunk.nbytes)
                if len(data) != chunk.nbytes:
                    raise EOFError(f"{name} ends too early")
                if not mapped:
                    chunk[...] = np.frombuffer(data, dtype=array.dtype).reshape(chunk.shape)
                if not is_right(chunk):
                    raise ValueError(f"{name} has {NO_SAMPLE}")
            if member.read(1):  # the end is where the checksum is compared
                raise ValueError(f"{name} is too long")
        return array

    def _mapped(self, name: str, header: int) -> NDArray[Any]:
        """Return an array in the memory of its file. `header`: the length of its header."""
        place = self._members[name].header_offset
        self._file.seek(place)
        lengths = _LOCAL.unpack(self._file.read(_LOCAL.size))
        offset = place + _LOCAL.size + sum(lengths) + header
        return np.asarray(np.memmap(self._file, self._kinds[name], "r", offset, self.shapes[name]))


def _check_directory(file: BinaryIO, entries: range) -> None:
    """Check the number of entries, which `ZipFile` would all read. Raises `ValueError`."""
    size = file.seek(0, 2)
    if size < _DIRECTORY_END.size:
        raise ValueError("it is cut short")
    file.seek(size - _DIRECTORY_END.size)
    magic, _, _, _, count, length, _, _ = _DIRECTORY_END.unpack(file.read())
    if magic != _DIRECTORY_MAGIC:
        raise ValueError("it has no directory at its end")
    file.seek(max(0, size - _DIRECTORY_END.size - 20))
    if count not in entries or length > 1000 * count or file.read(4) == b"PK\6\7":
        raise ValueError("its directory is of other files")
    file.seek(0)
