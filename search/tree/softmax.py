"""Softmax of a node's logits over its legal moves, in passes that compile to vector instructions.

With `math.exp` a cell it took half of a simulation's time without the net. Priors are stored as words of 16 bits, the
upper half of a float32 (bfloat16): exact to one part in 256, half the memory, and in the order of their integers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_kernel, reassociating_kernel
from core.rules import NO_CELL


class Scratch(NamedTuple):
    """Memory of a thread that descends and expands."""

    numbers: NDArray[np.float32]
    """[2, A] logits or random numbers, and weights of a softmax or more of these."""
    exponents: NDArray[np.int32]
    """[A] of a softmax, or marks."""
    legal: NDArray[np.bool_]
    """[A] the mask of the legal moves of a position."""
    collided: NDArray[np.int32]
    """[L] nodes at which descents met."""


def make_scratch(cells: int, leaves: int = 0) -> Scratch:
    """Return memory for boards of `cells` cells and `leaves` leaves of a tree in flight."""
    return Scratch(
        numbers=np.empty((2, cells), dtype=np.float32),
        exponents=np.empty(cells, dtype=np.int32),
        legal=np.empty(cells, dtype=np.bool_),
        collided=np.empty(leaves, dtype=np.int32),
    )


_NO_PRIOR = np.int16(-1)
"""The word of a move without a prior."""
_HALF_BITS = np.int32(16)
_ROUNDING = np.int32(1 << 15)
_LOWEST = np.float32(-1.0e38)
LOG2_E = np.float32(1.4426950408889634)
HALF = np.float32(0.5)
ONE = np.float32(1.0)
SMALLEST_EXPONENT = np.float32(-126.0)
# Taylor's ln(2)**k / k!
_C1 = np.float32(6.931471805599453e-1)
_C2 = np.float32(2.402265069591007e-1)
_C3 = np.float32(5.550410866482158e-2)
_C4 = np.float32(9.618129107628477e-3)
_C5 = np.float32(1.3333558146428443e-3)
_C6 = np.float32(1.5403530393381608e-4)
MANTISSA_BITS = np.int32(23)
_SIGN_SHIFT = np.int32(31)
_ALL_BUT_SIGN = np.int32(0x7FFFFFFF)


@lean_kernel
def prior_of(word: int) -> float:
    """Return the prior of a word, which is the upper half of a float32's bits."""
    return float(np.int32(word << _HALF_BITS).view(np.float32))


def priors_of(row: NDArray[np.int16]) -> NDArray[np.float32]:
    """Return the priors [A] of a row of words, 0 for moves without one."""
    priors: NDArray[np.float32] = (np.maximum(row, 0).astype(np.int32) << _HALF_BITS).view(np.float32)
    return priors


@lean_kernel
def word_of(prior: float) -> int:
    """Return the word nearest to a prior."""
    return int((np.float32(prior).view(np.int32) + _ROUNDING) >> _HALF_BITS)


@lean_kernel
def power_of_two(exponent: np.float32) -> np.float32:
    """Return 2**exponent for exponents from -1/2 to 1/2, to the last bit of a float32."""
    f = exponent
    power: np.float32 = ONE + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return power


@lean_kernel
def scan_best(row: NDArray[np.int16]) -> int:
    """Return the cell of a row [A] with the largest prior, of equals the lowest; `NO_CELL` without any prior."""
    # The bits of floats that are not negative have the floats' order as integers, and integers reduce in vectors.
    best = np.int16(-1)
    for cell in range(row.shape[0]):
        best = max(best, row[cell])
    if best < 0:
        return NO_CELL
    for cell in range(row.shape[0]):
        if row[cell] == best:
            return cell
    return NO_CELL


@lean_kernel
def best_with_noise(row: NDArray[np.int16], noise: NDArray[np.float32], share: np.float32) -> tuple[int, np.float32]:
    """Return the cell of a row [A] with the largest prior after mixing `share` of `noise` [A] into all, and that prior.

    Of equals the lowest cell; a row without a prior is not allowed.
    """
    kept = ONE - share
    best = np.int32(-1)
    for cell in range(row.shape[0]):
        mixed = kept * np.int32(row[cell] << _HALF_BITS).view(np.float32) + share * noise[cell]
        bits = np.float32(mixed).view(np.int32) if row[cell] >= 0 else np.int32(-1)
        best = max(best, bits)
    for cell in range(row.shape[0]):
        mixed = kept * np.int32(row[cell] << _HALF_BITS).view(np.float32) + share * noise[cell]
        if row[cell] >= 0 and np.float32(mixed).view(np.int32) == best:
            return cell, mixed
    return NO_CELL, np.float32(0.0)


@lean_kernel
def _largest(values: NDArray[np.float32]) -> np.float32:
    """Return the largest of `values` [A]; a NaN with a minus sign is ignored."""
    bits = values.view(np.int32)
    best = np.int32(-(1 << 31))
    for cell in range(bits.shape[0]):
        word = bits[cell]
        # Negative floats have the opposite order: all bits but the sign are inverted.
        best = max(best, word ^ ((word >> _SIGN_SHIFT) & _ALL_BUT_SIGN))
    largest: np.float32 = np.int32(best ^ ((best >> _SIGN_SHIFT) & _ALL_BUT_SIGN)).view(np.float32)
    return largest


@reassociating_kernel
def sum_legal(legal: NDArray[np.bool_], row: NDArray[np.float32]) -> np.float32:
    """Return the sum of `row` [A] over the `legal` moves [A]."""
    total = np.float32(0.0)
    for cell in range(row.shape[0]):
        total += row[cell] if legal[cell] else np.float32(0.0)
    return total


@lean_kernel
def write_priors(
    legal: NDArray[np.bool_], logits: NDArray[np.float32], row: NDArray[np.int16], scratch: Scratch
) -> float:
    """Write the softmax of `logits` [A] over the `legal` moves [A] into `row` [A] as words, -1 elsewhere.

    `row`, which is far away in memory, is written once. Return the sum before scaling, which is not finite if a logit
    is not.
    """
    cells = row.shape[0]
    weights, exponents = scratch.numbers[1], scratch.exponents
    for cell in range(cells):
        weights[cell] = logits[cell] if legal[cell] else _LOWEST
    highest = _largest(weights)
    for cell in range(cells):
        power = (weights[cell] - highest) * LOG2_E
        power = SMALLEST_EXPONENT if power < SMALLEST_EXPONENT else power  # a NaN stays
        whole = np.floor(power + HALF)
        weights[cell] = power_of_two(power - whole)
        exponents[cell] = np.int32(whole)
    bits = weights.view(np.int32)
    for cell in range(cells):
        bits[cell] += exponents[cell] << MANTISSA_BITS
    total = sum_legal(legal, weights)
    scale = ONE / total
    for cell in range(cells):
        weights[cell] *= scale
    for cell in range(cells):
        row[cell] = (bits[cell] + _ROUNDING) >> _HALF_BITS if legal[cell] else _NO_PRIOR
    return float(total)
