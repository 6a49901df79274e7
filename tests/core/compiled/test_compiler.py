"""Kernels that call kernels: one version of each, the results of plain Python, and machine code for the outermost."""

import os

import numpy as np
import pytest

from core.compiled.compiler import Kernel

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")


def kernel(function):  # type: ignore[no-untyped-def]
    return Kernel(function, targetoptions={"nogil": True})


@kernel
def doubled(number, factor):  # type: ignore[no-untyped-def]
    return number * factor


@kernel
def summed(numbers, small):  # type: ignore[no-untyped-def]
    """Call `doubled` with a literal, an int8, an int16, and floats."""
    total = doubled(3, 2) + doubled(small[0], 2)
    for number in numbers:
        total += doubled(number, small[0])
    return total, doubled(0.5, 2)


@kernel
def nested(numbers, small):  # type: ignore[no-untyped-def]
    return summed(numbers, small)[0] + doubled(1, 1)


NUMBERS = np.arange(5, dtype=np.int16)
SMALL = np.array([100], dtype=np.int8)


def test_a_called_kernel_has_one_version_for_all_integers_and_one_for_floats() -> None:
    assert summed(NUMBERS, SMALL) == (6 + 200 + 1000, 1.0)
    assert len(doubled._part.signatures) == 2


def test_small_integers_do_not_overflow_in_a_called_kernel() -> None:
    assert nested(np.array([30_000], dtype=np.int16), np.array([127], dtype=np.int8)) == 6 + 254 + 30_000 * 127 + 1


def test_python_may_call_a_kernel_that_was_part_of_another() -> None:
    assert nested(NUMBERS, SMALL) == 1206 + 1
    assert doubled(4, 5) == 20
    assert doubled(4.0, 5) == 20.0
    assert nested(NUMBERS, SMALL) == 1206 + 1


def test_a_kernel_may_call_one_that_python_called_before() -> None:
    @kernel
    def first(number):  # type: ignore[no-untyped-def]
        return number + 1

    @kernel
    def second(number):  # type: ignore[no-untyped-def]
        return first(number) + first(number)

    assert first(1) == 2
    assert second(1) == 4


def test_an_error_of_a_called_kernel_reaches_python() -> None:
    @kernel
    def checked(number):  # type: ignore[no-untyped-def]
        if number < 0:
            raise ValueError("it is negative")
        return number

    @kernel
    def outer(number):  # type: ignore[no-untyped-def]
        return checked(number)

    assert outer(3) == 3
    with pytest.raises(ValueError, match="it is negative"):
        outer(-1)


def test_kernels_and_other_functions_of_numba_may_call_each_other() -> None:
    import numba

    @numba.njit
    def foreign(number):  # type: ignore[no-untyped-def]
        return doubled(number, 3) + 1

    @kernel
    def outer(number):  # type: ignore[no-untyped-def]
        return foreign(number) + max(number, 7)

    assert foreign(2) == 7
    assert outer(2) == 14
