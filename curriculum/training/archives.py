"""Archives of arrays (.npz) from outside: all sizes are checked before an array is read."""

import math
import re
import struct
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from core.input_limits import MAX_SAMPLES_BYTES

BROKEN = (
    *(OSError, EOFError, ValueError, LookupError, ArithmeticError, RuntimeError),
    *(zipfile.BadZipFile, struct.error),
)
"""Errors of `zipfile` for archives that are broken in one way or another, and of this module."""

_HEADER = re.compile(r"\{'descr': '(\S{2,5})', 'fortran_order': False, 'shape': \(([\d, ]{1,60})\), \} *\n")
_PREFIX = struct.Struct("<8sH")
_MAGIC = b"\x93NUMPY\x01\x00"
_LOCAL = struct.Struct("<26x2H")
"""The entry in front of a member, with the lengths of its name and of what follows that."""
_DIRECTORY_END = struct.Struct("<4s4H2LH")
_DIRECTORY_MAGIC = b"PK\5\6"
_CHUNK_BYTES = 4 << 20

Kinds = Mapping[str, type[np.generic]]


def read_arrays(file: BinaryIO, kinds: Kinds, optional: Kinds, *, mapped: bool) -> dict[str, NDArray[Any]]:
    """Return the arrays of an open .npz file that `numpy.savez` wrote: those of `kinds`, and perhaps `optional` ones.

    `mapped`: they stay in the file, which must not change while they are in use. Raises one of `BROKEN`.
    """
    _check_directory(file, range(len(kinds), len(kinds) + len(optional) + 1))
    archive = zipfile.ZipFile(file)
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    known = {**kinds, **optional}
    if len(archive.infolist()) > len(members) or not kinds.keys() <= members.keys() <= known.keys():
        raise ValueError("its arrays are others")
    if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):  # a small one may unpack to any size
        raise ValueError("its arrays are compressed")
    size = sum(info.file_size for info in members.values())
    if size > MAX_SAMPLES_BYTES:
        raise ValueError(f"its arrays have {size:,} bytes; the limit is {MAX_SAMPLES_BYTES:,} bytes")
    return {name: _array(file, archive, name, info, np.dtype(known[name]), mapped) for name, info in members.items()}


def _array(
    file: BinaryIO, archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo, kind: np.dtype[Any], mapped: bool
) -> NDArray[Any]:
    with archive.open(info) as member:
        magic, length = _PREFIX.unpack(member.read(_PREFIX.size))
        match = _HEADER.fullmatch(member.read(length).decode("latin-1"))
        if magic != _MAGIC or match is None:
            raise ValueError(f"{name} has another header than numpy writes")
        if match[1] != kind.str:
            raise ValueError(f"{name} has the type {match[1]}, not {kind.str}")
        shape = tuple(int(number) for number in match[2].split(",") if number.strip())
        header, items = _PREFIX.size + length, math.prod(shape)
        if header + kind.itemsize * items != info.file_size:
            raise ValueError(f"{name} has the shape {shape}, which is not that of its data")
        if not (mapped and items):
            return np.frombuffer(member.read(), kind).reshape(shape).copy()
        while member.read(_CHUNK_BYTES):  # the end is where the checksum is compared
            pass
    file.seek(info.header_offset)
    lengths = _LOCAL.unpack(file.read(_LOCAL.size))
    return np.asarray(np.memmap(file, kind, "r", info.header_offset + _LOCAL.size + sum(lengths) + header, shape))


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
