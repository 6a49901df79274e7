"""Memory that a process with kernels needs only while it compiles or loads them."""

import ctypes
import gc
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_DONT_NEED = 4
"""`MADV_DONTNEED`: pages of a file are dropped, and read from the file again when they are used."""
_CODE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) r-[-x]p .*libllvmlite")
"""A mapping of LLVM that nobody may write."""
_UNCHANGED = re.compile(r"Anonymous: +0 kB")
"""A mapping with no page of its own: before it was protected, nothing was written there either."""


def _compiler_code(mappings: str) -> Iterator[tuple[int, int]]:
    """Yield the addresses, first and end, of LLVM's code and constants. `mappings`: text of `/proc/PID/smaps`."""
    found: tuple[int, int] | None = None
    for line in mappings.splitlines():
        if (mapping := _CODE.match(line)) is not None:
            found = int(mapping[1], 16), int(mapping[2], 16)
        elif found is not None and line.startswith("Anonymous:"):
            if _UNCHANGED.match(line):
                yield found
            found = None


def give_back_memory() -> None:
    """Give the system LLVM's code, which each loading of a kernel reads, and memory that is free here; Linux only."""
    if sys.platform != "linux":
        return
    gc.collect()
    with suppress(OSError, AttributeError):  # no /proc, or a C library without these functions
        libc = ctypes.CDLL(None)
        libc.malloc_trim(0)
        for first, end in _compiler_code(Path("/proc/self/smaps").read_text(encoding="utf-8")):
            libc.madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), _DONT_NEED)
