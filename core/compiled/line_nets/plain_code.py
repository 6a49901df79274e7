"""The loops of `vector_code` in numpy, for runs without compilation.

A place is an array, used as a flat one, and the index of an element, which counts as the first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets.numbers import LANES, LIFT_BITS, MIX_BITS, REACH, ROWS, TOP
from core.compiled.line_nets.patterns import AFTER, DIRECTIONS

Numbers = NDArray[Any]
Place = tuple[Numbers, int]


def _from(place: Place) -> Numbers:
    array, index = place
    rest: Numbers = array.reshape(-1)[index:]
    return rest


def numbered(digits: Place, step: int, empty: Place, numbers: Place, cells: int) -> None:
    """Write the numbers of the patterns of a row's cells in one direction, and of more up to a multiple of 16.

    Arguments: digits int16 of a board with a margin of `REACH`, at the first cell; step to the next cell in the
    direction; numbers on an empty board int32; numbers int32; number of cells.
    """
    lanes = np.arange(-(-cells // LANES) * LANES)
    flat, first = digits[0].reshape(-1).astype(np.int64), digits[1]
    total = _from(empty)[lanes].astype(np.int64)
    for away in range(REACH + 1):
        total += AFTER * 3**away * flat[first + lanes - away * step]
    for away in range(REACH):
        total += 3**away * flat[first + lanes + (away + 1) * step]
    _from(numbers)[lanes] = total


def gathered(
    numbers: Place, numbers_step: int, table: Numbers, channels: int, lift: int, out: Place, cells: int
) -> None:
    """Write the features of some cells of a row of the board: the sums of four rows of a table, from 0 to `TOP`.

    Arguments: numbers of rows int32, at the first cell's in the first direction; step to the next direction; table
    int16 [..., channels]; number of channels; bits by which the features are shifted to the left; output int16 [cells,
    channels]; number of cells.
    """
    starts = numbers_step * np.arange(len(DIRECTIONS))[:, None] + np.arange(cells)
    total = table[_from(numbers)[starts]].astype(np.int64).sum(0)
    _from(out)[: cells * channels] = (np.clip(total, 0, TOP) << lift).reshape(-1)


def products(x: Numbers, places: Place, weights: Place, bias: Place, sums: Place, sums_step: int, pairs: int) -> None:
    """Write 16 sums for each of `ROWS` rows: bias + inputs times weights.

    Arguments: inputs int16, 2 * `pairs` a row; places of the rows in them int64; weights int16 [pairs, 16, 2]; bias
    int32 [16]; sums int32; step to the next row; `pairs`.
    """
    used = _from(weights)[: 2 * LANES * pairs].reshape(pairs, LANES, 2).astype(np.int64)
    for row in range(ROWS):
        given = x.reshape(-1)[_from(places)[row] :][: 2 * pairs].reshape(pairs, 1, 2)
        _from(sums)[row * sums_step :][:LANES] = _from(bias)[:LANES] + (used * given).sum((0, 2))


def scored(
    x: Numbers,
    places: Numbers,
    channels: int,
    weights: Numbers,
    bias: Numbers,
    sums: Numbers,
    sums_step: int,
    cells: int,
) -> None:
    """Write a sum for each cell: bias + its features times weights.

    Arguments: features int16; places of the cells in them int64; number of channels; weights int16 [channels]; bias
    int32 [1 or more], of which the first counts; sums int32; step to the next cell; number of cells, a multiple of
    `ROWS`.
    """
    near = x.reshape(-1)[places[:cells, None] + np.arange(channels)].astype(np.int64)
    sums.reshape(-1)[: cells * sums_step : sums_step] = bias[0] + near @ weights


def mixed(x: Place, channels: int, weights: Place, bias: Place, out: Place, places: Place, lift: int) -> None:
    """Add to 16 features of each of `ROWS` cells the products of these cells' inputs with weights.

    Arguments: inputs int16 [`ROWS`, channels]; number of channels; weights int16 [channels / 2, 16, 2]; bias int32
    [16]; features int16, shifted by `LIFT_BITS`, from the first of the 16 channels on; places of the cells in them
    int64; bits by which the new features are shifted.
    """
    sums = np.zeros((ROWS, LANES), np.int64)
    starts = x[1] + channels * np.arange(ROWS)
    products(x[0], (starts, 0), weights, bias, (sums, 0), LANES, channels // 2)
    for row in range(ROWS):
        after = _from(out)[_from(places)[row] :][:LANES]
        mixed = (sums[row] + (1 << (MIX_BITS - 1))) >> MIX_BITS
        after[:] = np.clip(mixed + (after >> LIFT_BITS), 0, TOP) << lift


def depthwise(x: Place, x_step: int, weights: Place, bias: Place, out: Place, cells: int, channels: int) -> None:
    """Write the activations of a depthwise 3x3 convolution of some cells of a row of the board.

    Arguments: inputs int16 [..., channels] of a board with a margin, shifted by `LIFT_BITS`, at the first cell; step to
    the next row of the board; weights int16 [9, channels]; bias int16 [channels]; output int16 [cells, channels];
    numbers of cells and of channels. Each product is rounded down to units of 2^-8, so that all fit in 16 bits.
    """
    total = np.zeros((cells, channels), np.int64) + _from(bias)[:channels]
    for tap in range(9):
        start = x[1] + (tap // 3 - 1) * x_step + (tap % 3 - 1) * channels
        near = _from((x[0], start))[: cells * channels].reshape(cells, channels).astype(np.int64)
        total += (near * _from(weights)[tap * channels :][:channels]) >> 16
    _from(out)[: cells * channels] = _activated(total, 1).reshape(-1)


def pooled(sums: Place, sums_step: int, cells: int, total: Place, maxima: Place) -> None:
    """Add the activations of 16 channels of some cells to totals, and keep the larger ones.

    Arguments: sums int32, 16 a cell; step to the next cell; number of cells; totals int32 [16]; maxima int32 [16].
    """
    whole, best = _from(total)[:LANES], _from(maxima)[:LANES]
    for cell in range(cells):
        active = _activated(_from(sums)[cell * sums_step :][:LANES], MIX_BITS).astype(np.int32)
        whole += active
        np.maximum(best, active, out=best)


def _activated(sums: Numbers, bits: int) -> Numbers:
    result: Numbers = np.clip((sums.astype(np.int64) + (1 << (bits - 1))) >> bits, 0, TOP)
    return result
