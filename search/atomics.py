"""Operations on shared counters for kernels that several threads run at once on the same arrays.

A counter is a place in an array of int64. Without compilation (`NUMBA_DISABLE_JIT=1`) the interpreter's own lock makes
plain reads and writes do.
"""

import platform
import time
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from core.compiled.intrinsics import written

_WORD = 8
"""Bytes of a counter."""
_HAS_PAUSE = platform.machine().lower() in ("x86_64", "amd64")
_YIELDS = {"Windows": "SwitchToThread"}.get(platform.system(), "sched_yield")
"""The system's function that lets another thread have the core."""

Counters = NDArray[Any]


def _plain_read(counters: Counters, index: int) -> int:
    return int(counters[index])


def _write_read(builder: Any, arguments: list[Any]) -> Any:
    counters, index = arguments
    return builder.load_atomic(builder.gep(counters, [index]), "acquire", _WORD)


def _plain_write(counters: Counters, index: int, value: int) -> None:
    counters[index] = value


def _write_write(builder: Any, arguments: list[Any]) -> None:
    counters, index, value = arguments
    builder.store_atomic(value, builder.gep(counters, [index]), "release", _WORD)


def _plain_swap(counters: Counters, index: int, old: int, new: int) -> bool:
    if counters[index] != old:
        return False
    counters[index] = new
    return True


def _write_swap(builder: Any, arguments: list[Any]) -> Any:
    counters, index, old, new = arguments
    found = builder.cmpxchg(builder.gep(counters, [index]), old, new, "seq_cst", "seq_cst")
    return builder.extract_value(found, 1)


def _plain_pause() -> None:
    time.sleep(0.0)


def _write_pause(builder: Any, _: list[Any]) -> None:
    if _HAS_PAUSE:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])


def _write_give_way(builder: Any, _: list[Any]) -> None:
    kind = ir.FunctionType(ir.IntType(32), [])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELDS), [])  # type: ignore[no-untyped-call]


read = written(_plain_read, _write_read, types.int64)
"""Return a counter; all that was written before its last `write` is seen afterwards."""

write = written(_plain_write, _write_write)
"""Set a counter, after everything that was written before."""

swap = written(_plain_swap, _write_swap, types.boolean)
"""Set a counter to a new number if it has the old one; return True if it was set. One of several threads succeeds."""

pause = written(_plain_pause, _write_pause)
"""Wait for a moment, in a loop that waits for another thread."""

give_way = written(_plain_pause, _write_give_way)
"""Let another thread have the core: the one that is waited for may have none."""
