"""Memory settings: the C library keeps the nets' freed memory instead of a return to the system after every tensor.

By default glibc maps each block above some 128 KiB afresh and unmaps it when it is freed. Every activation of a batch
then costs a page fault for each of its pages: half of the time of a net this small.
"""

import ctypes
import platform

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_KEPT = 1 << 30


def keep_freed_memory() -> None:
    """Make malloc reuse freed memory; does nothing if the C library is not glibc."""
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    for option in (_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD):
        libc.mallopt(option, _KEPT)
