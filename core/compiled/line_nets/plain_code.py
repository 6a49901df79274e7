"""The loops of `vector_code` in numpy, for runs without compilation.

Arrays are used as flat ones, from a place on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets.numbers import LANES, LIFT_BITS, MIX_BITS, REACH, ROWS, TOP
from core.compiled.line_nets.patterns import AFTER, DIRECTIONS

Numbers = NDArray[Any]


def numbered(
    digits: Numbers,
    digits_at: int,
    step: int,
    empty: Numbers,
    empty_at: int,
    numbers: Numbers,
    numbers_at: int,
    cells: int,
) -> None:
    """Write the numbers of the patterns of a row's cells in one direction, and of more up to a multiple of 16.

    Arguments: digits int16 of a board with a margin of `REACH`; the place of the first cell; step to the next cell
    in the direction; numbers on an empty board int32; their place; numbers int32; their place; number of cells.
    """
    lanes = np.arange(-(-cells // LANES) * LANES)
    flat = digits.reshape(-1).astype(np.int64)
    total = empty.reshape(-1)[empty_at + lanes].astype(np.int64)
    for away in range(REACH + 1):
        total += AFTER * 3**away * flat[digits_at + lanes - away * step]
    for away in range(REACH):
        total += 3**away * flat[digits_at + lanes + (away + 1) * step]
    numbers.reshape(-1)[numbers_at + lanes] = total


def gathered(
    numbers: Numbers,
    numbers_at: int,
    numbers_step: int,
    table: Numbers,
    channels: int,
    lift: int,
    out: Numbers,
    out_at: int,
    cells: int,
) -> None:
    """Write the features of some cells of a row of the board: the sums of four rows of a table, from 0 to `TOP`.

    Arguments: numbers of rows int32; the place of the first cell's in the first direction; step to the next
    direction; table int16 [..., channels]; number of channels; bits by which the features are shifted to the left;
    output int16 [cells, channels]; its place; number of cells.
    """
    starts = numbers_at + numbers_step * np.arange(len(DIRECTIONS))[:, None] + np.arange(cells)
    total = table[numbers.reshape(-1)[starts]].astype(np.int64).sum(0)
    out.reshape(-1)[out_at:][: cells * channels] = (np.clip(total, 0, TOP) << lift).reshape(-1)


def products(
    x: Numbers,
    places: Numbers,
    places_at: int,
    weights: Numbers,
    weights_at: int,
    bias: Numbers,
    bias_at: int,
    sums: Numbers,
    sums_at: int,
    sums_step: int,
    pairs: int,
) -> None:
    """Write 16 sums for each of `ROWS` rows: bias + inputs times weights.

    Arguments: inputs int16, 2 * `pairs` a row; places of the rows int64; the place of the first of these; weights
    int16 [pairs, 16, 2]; their place; bias int32 [16]; its place; sums int32; their place; step to the next row;
    `pairs`.
    """
    used = weights.reshape(-1)[weights_at:][: 2 * LANES * pairs].reshape(pairs, LANES, 2).astype(np.int64)
    for row in range(ROWS):
        given = x.reshape(-1)[places[places_at + row] :][: 2 * pairs].reshape(pairs, 1, 2)
        out = sums.reshape(-1)[sums_at + row * sums_step :][:LANES]
        out[:] = bias.reshape(-1)[bias_at:][:LANES] + (used * given).sum((0, 2))


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


def mixed(
    x: Numbers,
    x_at: int,
    channels: int,
    weights: Numbers,
    weights_at: int,
    bias: Numbers,
    bias_at: int,
    out: Numbers,
    places: Numbers,
    places_at: int,
    block: int,
    lift: int,
) -> None:
    """Add to 16 features of each of `ROWS` cells the products of these cells' inputs with weights.

    Arguments: inputs int16 [`ROWS`, channels]; their place; number of channels; weights int16 [channels / 2, 16,
    2]; their place; bias int32 [16]; its place; features int16, shifted by `LIFT_BITS`; places of the cells in them
    int64; the place of the first of these; the first of the 16 channels; bits by which the new features are
    shifted.
    """
    sums = np.zeros((ROWS, LANES), np.int64)
    starts = x_at + channels * np.arange(ROWS)
    products(x, starts, 0, weights, weights_at, bias, bias_at, sums, 0, LANES, channels // 2)
    for row in range(ROWS):
        after = out.reshape(-1)[places[places_at + row] + block :][:LANES]
        mixed = (sums[row] + (1 << (MIX_BITS - 1))) >> MIX_BITS
        after[:] = np.clip(mixed + (after >> LIFT_BITS), 0, TOP) << lift


def depthwise(
    x: Numbers,
    x_at: int,
    x_step: int,
    weights: Numbers,
    weights_at: int,
    bias: Numbers,
    bias_at: int,
    out: Numbers,
    out_at: int,
    cells: int,
    channels: int,
) -> None:
    """Write the activations of a depthwise 3x3 convolution of some cells of a row of the board.

    Arguments: inputs int16 [..., channels] of a board with a margin, shifted by `LIFT_BITS`; the place of the first
    cell; step to the next row of the board; weights int16 [9, channels]; their place; bias int16 [channels]; its
    place; output int16 [cells, channels]; its place; number of cells; number of channels. Each product is rounded
    down to units of 2^-8, so that all fit in 16 bits.
    """
    total = np.zeros((cells, channels), np.int64) + bias.reshape(-1)[bias_at:][:channels]
    for tap in range(9):
        start = x_at + (tap // 3 - 1) * x_step + (tap % 3 - 1) * channels
        near = x.reshape(-1)[start:][: cells * channels].reshape(cells, channels).astype(np.int64)
        total += (near * weights.reshape(-1)[weights_at + tap * channels :][:channels]) >> 16
    out.reshape(-1)[out_at:][: cells * channels] = _activated(total, 1).reshape(-1)


def pooled(
    sums: Numbers,
    sums_at: int,
    sums_step: int,
    cells: int,
    total: Numbers,
    total_at: int,
    maxima: Numbers,
    best_at: int,
) -> None:
    """Add the activations of 16 channels of some cells to totals, and keep the larger ones.

    Arguments: sums int32, 16 a cell; their place; step to the next cell; number of cells; totals int32 [16]; their
    place; maxima int32 [16]; their place.
    """
    whole, best = total.reshape(-1)[total_at:][:LANES], maxima.reshape(-1)[best_at:][:LANES]
    for cell in range(cells):
        active = _activated(sums.reshape(-1)[sums_at + cell * sums_step :][:LANES], MIX_BITS).astype(np.int32)
        whole += active
        np.maximum(best, active, out=best)


def _activated(sums: Numbers, bits: int) -> Numbers:
    result: Numbers = np.clip((sums.astype(np.int64) + (1 << (bits - 1))) >> bits, 0, TOP)
    return result
