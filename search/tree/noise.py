"""Random numbers of kernels, and Dirichlet noise drawn from them at every selection (Y 3.2.1).

A tree's stream is a key of 32 bits and the number of draws so far; each number is a hash of the two. So numbers depend
neither on threads nor on timing, and those of all cells come from one loop of vector instructions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel
from search.tree.softmax import HALF, LOG2_E, MANTISSA_BITS, ONE, SMALLEST_EXPONENT, Scratch, power_of_two, sum_legal

_WORD = 0xFFFFFFFF
_FACTOR = 0x45D9F3B
"""A factor of 27 bits mixes words of 32 bits well (T. Mueller), within 64 bits."""
_UNIT = 2.0**-32
_ROOT_HALF = np.int32(0x3F3504F3)
"""The bits of sqrt(1/2)."""
_MANTISSA = np.int32(0x7FFFFF)
# log(1 + x) = x - x**2 / 2 + x**3 * (L0 + L1 x + ...) for 1 + x from sqrt(1/2) to sqrt(2) (Cephes, `logf`).
_L0, _L1, _L2 = np.float32(3.3333331174e-1), np.float32(-2.4999993993e-1), np.float32(2.0000714765e-1)
_L3, _L4, _L5 = np.float32(-1.6668057665e-1), np.float32(1.4249322787e-1), np.float32(-1.2420140846e-1)
_L6, _L7, _L8 = np.float32(1.1676998740e-1), np.float32(-1.1514610310e-1), np.float32(7.0376836292e-2)
_TINY = 1e-30
"""A sum of weights below which they are taken relative to the largest, since they underflow."""


@lean_kernel
def random_word(key: int, index: int) -> int:
    """Return number `index` of the stream `key`: an integer from 0 to 2**32 - 1; `key` has 32 bits."""
    word = index & _WORD
    word = (((word >> 16) ^ word) * _FACTOR) & _WORD
    word = ((((word >> 16) ^ word) * _FACTOR) & _WORD) ^ key
    word = (((word >> 16) ^ word) * _FACTOR) & _WORD
    word = (((word >> 16) ^ word) * _FACTOR) & _WORD
    return (word >> 16) ^ word


@lean_kernel
def random_share(key: int, index: int) -> float:
    """Return number `index` of the stream `key` as a float from 0 up to 1."""
    return _UNIT * random_word(key, index)


@lean_kernel
def write_dirichlet(
    legal: NDArray[np.bool_], noise: NDArray[np.float32], alpha: float, key: int, first: int, memory: Scratch
) -> int:
    """Write a draw of Dir(alpha) over the `legal` moves [A] into `noise` [A], 0 elsewhere.

    `alpha` is within `search.tree.settings.NODE_ALPHA`. Numbers of the stream `key` from `first` on are used; return
    the index of the next one. The noise is a Gamma(alpha) a cell, divided by their sum: with b = 1 + alpha / e and P
    uniform up to b, X = P**(1 / alpha) with the probability exp(-X) >= 1 - X if P <= 1 (Ahrens and Dieter 1974, GS).
    Nearly every X is taken, so vector instructions do the work for all cells and few are looked at one by one.
    """
    cells = noise.shape[0]
    powers, chances, scratch = memory.numbers[0], memory.numbers[1], memory.exponents
    bound = 1.0 + alpha / math.e
    _write_uniform(powers, key, first, bound)
    _write_uniform(chances, key, first + cells, 1.0)
    used: int = first + 2 * cells
    for cell in range(cells):
        noise[cell] = powers[cell]
    _raise(noise, np.float32(1.0 / alpha), scratch)
    for cell in range(cells):
        at_once = (powers[cell] <= ONE) & (chances[cell] <= ONE - noise[cell])
        scratch[cell] = np.int32(legal[cell] & (not at_once))
    for cell in range(cells):
        if scratch[cell] != 0:
            power, used = _gamma_power(alpha, bound, float(powers[cell]), float(chances[cell]), key, used)
            powers[cell], noise[cell] = power, power ** (1.0 / alpha)
    total = sum_legal(legal, noise)
    if total < _TINY:
        largest = np.float32(0.0)
        for cell in range(cells):
            largest = max(largest, powers[cell] if legal[cell] else np.float32(0.0))
        scale = ONE / largest
        for cell in range(cells):
            noise[cell] = powers[cell] * scale if legal[cell] else np.float32(0.0)
        _raise(noise, np.float32(1.0 / alpha), scratch)
        total = sum_legal(legal, noise)
    scale = ONE / total
    for cell in range(cells):
        noise[cell] = noise[cell] * scale if legal[cell] else np.float32(0.0)
    return used


@lean_kernel
def _write_uniform(row: NDArray[np.float32], key: int, first: int, bound: float) -> None:
    """Write numbers of a stream, from `first` on, into `row` [A]: uniform, above 0 and up to `bound`."""
    scale = np.float32(bound * 2.0 * _UNIT)
    for cell in range(row.shape[0]):
        row[cell] = (np.float32(np.int32(random_word(key, first + cell) >> 1)) + HALF) * scale


@lean_kernel
def _raise(row: NDArray[np.float32], exponent: np.float32, scratch: NDArray[np.int32]) -> None:
    """Raise each of `row` [A], 0 to 2, to a power of 1 or more; results below 2**-126 become that."""
    bits = row.view(np.int32)
    for cell in range(row.shape[0]):
        bits[cell] -= _ROOT_HALF
    for cell in range(row.shape[0]):
        scratch[cell] = bits[cell] >> MANTISSA_BITS
        bits[cell] = (bits[cell] & _MANTISSA) + _ROOT_HALF
    for cell in range(row.shape[0]):
        x = row[cell] - ONE
        series = _L3 + x * (_L4 + x * (_L5 + x * (_L6 + x * (_L7 + x * _L8))))
        series = x * (_L0 + x * (_L1 + x * (_L2 + x * series)))
        logarithm = x + x * x * (series - HALF)
        power = (np.float32(scratch[cell]) + LOG2_E * logarithm) * exponent
        power = SMALLEST_EXPONENT if power < SMALLEST_EXPONENT else power
        whole = np.floor(power + HALF)
        row[cell] = power_of_two(power - whole)
        scratch[cell] = np.int32(whole)
    for cell in range(row.shape[0]):
        bits[cell] += scratch[cell] << MANTISSA_BITS


@lean_kernel
def _gamma_power(alpha: float, bound: float, power: float, chance: float, key: int, index: int) -> tuple[float, int]:
    """Return the power `alpha` of a Gamma(alpha), which does not underflow, and the next index of the stream.

    The first try is with `power` and `chance`.
    """
    while True:
        if power <= 1.0:
            if chance <= math.exp(-(power ** (1.0 / alpha))):
                return power, index
        else:
            weight = -math.log((bound - power) / alpha)
            if chance <= weight ** (alpha - 1.0):
                return weight**alpha, index
        power = bound * random_share(key, index)
        chance = random_share(key, index + 1)
        index += 2
