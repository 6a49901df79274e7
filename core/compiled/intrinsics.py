"""Functions of kernels that numba has no words for: written in the compiler's own language, with a twin in Python."""

import inspect
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_INTERPRETED = numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # numba makes its settings at import


def written(plain: Callable[..., Any], write: Callable[[Any, list[Any]], Any], returns: Any = types.void) -> Any:
    """Return a function for kernels with the arguments of `plain`, which takes its place without compilation.

    `write(builder, arguments)` writes its body with llvmlite's builder and returns the result of the type `returns`;
    arrays are pointers to their first element, and pairs of an array and an index pointers to that element.
    """
    if _INTERPRETED:
        return plain

    def typed(_: Any, *kinds: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = zip(signature.args, arguments, strict=True)
            result = write(builder, [_pointer_or_number(context, builder, *each) for each in values])
            return context.get_dummy_value() if returns is types.void else result

        return returns(*kinds), code

    # numba takes the number of the arguments from the signature.
    names = ("_", *inspect.signature(plain).parameters)
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    typed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(typed)


def _pointer_or_number(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        array, index = (builder.extract_value(value, part) for part in range(2))
        return builder.gep(_pointer_or_number(context, builder, parts[0], array), [index])
    return context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value


def _plain_prefetch(array: Any, index: int) -> None:
    pass


def _write_prefetch(builder: Any, arguments: list[Any]) -> None:
    array, index = arguments
    place, number = ir.PointerType(ir.IntType(8)), ir.IntType(32)
    prefetch = builder.module.declare_intrinsic(
        "llvm.prefetch", (place,), ir.FunctionType(ir.VoidType(), [place, number, number, number])
    )
    is_write, locality, is_data = number(0), number(3), number(1)
    builder.call(prefetch, [builder.bitcast(builder.gep(array, [index]), place), is_write, locality, is_data])


prefetch = written(_plain_prefetch, _write_prefetch)
"""Let the processor fetch the line with the element `index` of a contiguous array, counted over all its dimensions."""
