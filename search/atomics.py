"""Operations on shared counters for kernels that several threads run at once on the same arrays.

A counter is a place in an array of int64. Without compilation (`NUMBA_DISABLE_JIT=1`) the interpreter's own lock makes
plain reads and writes do.
"""

import platform
import time
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

_WORD = 8
"""Bytes of a counter."""
_HAS_PAUSE = platform.machine().lower() in ("x86_64", "amd64")
_YIELDS = {"Windows": "SwitchToThread"}.get(platform.system(), "sched_yield")
"""The system's function that lets another thread have the core."""


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _typed_read(_: Any, counters: Any, index: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(context, builder, signature, arguments), "acquire", _WORD)

    return types.int64(counters, index), code


def _typed_write(_: Any, counters: Any, index: Any, value: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], pointer, "release", _WORD)
        return context.get_dummy_value()

    return types.void(counters, index, types.int64), code


def _typed_swap(_: Any, counters: Any, index: Any, old: Any, new: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(context, builder, signature, arguments)
        found = builder.cmpxchg(pointer, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(counters, index, types.int64, types.int64), code


def _typed_give_way(_: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        function = cgutils.get_or_insert_function(builder.module, kind, _YIELDS)  # type: ignore[no-untyped-call]
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), code


def _typed_pause(_: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _HAS_PAUSE:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), code


Counters = NDArray[Any]


def _plain_read(counters: Counters, index: int) -> int:
    return int(counters[index])


def _plain_write(counters: Counters, index: int, value: int) -> None:
    counters[index] = value


def _plain_swap(counters: Counters, index: int, old: int, new: int) -> bool:
    if counters[index] != old:
        return False
    counters[index] = new
    return True


def _plain_pause() -> None:
    time.sleep(0.0)


_INTERPRETED = numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # numba makes its settings at import

read: Any = _plain_read if _INTERPRETED else intrinsic(_typed_read)
"""Return a counter; all that was written before its last `write` is seen afterwards."""

write: Any = _plain_write if _INTERPRETED else intrinsic(_typed_write)
"""Set a counter, after everything that was written before."""

swap: Any = _plain_swap if _INTERPRETED else intrinsic(_typed_swap)
"""Set a counter to a new number if it has the old one; return True if it was set. One of several threads succeeds."""

pause: Any = _plain_pause if _INTERPRETED else intrinsic(_typed_pause)
"""Wait for a moment, in a loop that waits for another thread."""

give_way: Any = _plain_pause if _INTERPRETED else intrinsic(_typed_give_way)
"""Let another thread have the core: the one that is waited for may have none."""
