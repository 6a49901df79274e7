"""Evaluation of line-pattern nets, in integers.

The numbers of the four patterns around each cell (`core.line_nets.patterns`) lead to rows of a table, whose sum is the
cell's features. Depthwise 3x3 convolutions, products over channels, and a small value head follow. `nets.line_tables`
makes the arrays of a net. A position takes some ten microseconds of a core, alone as in a batch.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel, lean_kernel
from core.line_nets.arrays import aligned_zeros
from core.line_nets.numbers import DENSE_BITS, LANES, MEAN_SCALE, MIX_BITS, REACH, REGIONS, TOP, UNIT_BITS
from core.line_nets.patterns import DIRECTIONS, digit_weights, empty_numbers, region_edges
from core.line_nets.vector_code import ROWS, depthwise, pooled, products
from core.rules import BLACK

_SHARE_BITS = 16


class LineNet(NamedTuple):
    """The integers of a net: `C` channels, `S` spread layers, `H` outputs of the heads' product, `U` hidden units.

    Weights of products are in blocks of 16 outputs and pairs of inputs: [outputs / 16, inputs / 2, 16, 2].
    """

    table: NDArray[np.int16]
    """[PATTERNS, C]"""
    near: NDArray[np.int16]
    """[S, 9, C] depthwise convolutions."""
    near_bias: NDArray[np.int16]
    """[S, C]"""
    mix: NDArray[np.int16]
    """[S, C / 16, C / 2, 16, 2]"""
    mix_bias: NDArray[np.int32]
    """[S, C]"""
    heads: NDArray[np.int16]
    """[H / 16, C / 2, 16, 2] the first output is the policy's; the others are pooled."""
    heads_bias: NDArray[np.int32]
    """[H]"""
    dense: NDArray[np.int16]
    """[U / 16, 10 H / 2, 16, 2] the hidden layer of the value."""
    dense_bias: NDArray[np.int32]
    """[U]"""
    last: NDArray[np.int32]
    """[U + 1] the value's last layer; the last number is its bias."""


class LineBoard(NamedTuple):
    """Constants of a board's size `D`."""

    size: int
    weights: NDArray[np.int32]
    """[11] of the digits."""
    edges: NDArray[np.int64]
    """[4] the first row of each region, and the end."""
    shares: NDArray[np.int32]
    """[9] of a cell in its region's mean, in units of 2^-16."""


class LineRoom(NamedTuple):
    """Memory for an evaluation; each thread needs its own."""

    numbers: NDArray[np.int32]
    """[2, 4, D + 10, D + 10] of the last position with Black to move, and with White; a margin of `REACH` cells."""
    seen: NDArray[np.int8]
    """[2, A] the stones of these positions: 1 of the side to move, -1 of the other."""
    features: NDArray[np.int16]
    """[D + 2, D + 2, C] with a margin of one cell, which stays 0."""
    flat: NDArray[np.int16]
    """[A', C] without a margin; A' is the next multiple of 4 cells."""
    sums: NDArray[np.int32]
    """[A', max(C, H)]"""
    pools: NDArray[np.int32]
    """[10, H] sums over the regions, then maxima."""
    units: NDArray[np.int16]
    """[10 H]"""
    hidden: NDArray[np.int32]
    """[4, U]"""


class LineNets(NamedTuple):
    """All that a search needs to evaluate its leaves itself."""

    black: LineNet
    """Of positions with Black to move."""
    white: LineNet
    board: LineBoard


@runtime_checkable
class HasLines(Protocol):
    """An evaluator (`core.evaluation.Evaluator`) that may have line-pattern nets."""

    @property
    def lines(self) -> LineNets | None:
        """The nets for a search that evaluates its leaves itself; None for nets that need batches."""


def line_board(size: int) -> LineBoard:
    """Return the constants of boards of `size`."""
    edges = np.array(region_edges(size), dtype=np.int64)
    areas = np.outer(np.diff(edges), np.diff(edges)).ravel()
    shares = np.rint(MEAN_SCALE * 2.0**_SHARE_BITS / areas).astype(np.int32)
    return LineBoard(size, digit_weights(), edges, shares)


def line_room(net: LineNet, size: int) -> LineRoom:
    """Return memory for a net's evaluations of boards of `size`."""
    channels, outputs, units = net.table.shape[1], len(net.heads_bias), len(net.dense_bias)
    cells, pools, width = -(-size * size // ROWS) * ROWS, REGIONS**2 + 1, size + 2 * REACH
    numbers = np.zeros((2, len(DIRECTIONS), width, width), dtype=np.int32)
    numbers[:, :, REACH:-REACH, REACH:-REACH] = empty_numbers(size).reshape(size, size, -1).transpose(2, 0, 1)
    return LineRoom(
        numbers=numbers,
        seen=np.zeros((2, size * size), dtype=np.int8),
        features=aligned_zeros((size + 2, size + 2, channels), np.int16),
        flat=aligned_zeros((cells, channels), np.int16),
        sums=aligned_zeros((cells, max(channels, outputs)), np.int32),
        pools=np.zeros((pools, outputs), dtype=np.int32),
        units=np.zeros(pools * outputs, dtype=np.int16),
        hidden=np.zeros((ROWS, units), dtype=np.int32),
    )


@lean_kernel
def _number_patterns(
    stones: NDArray[np.int8], side: int, board: LineBoard, seen: NDArray[np.int8], numbers: NDArray[np.int32]
) -> None:
    """Bring the numbers of the patterns around each cell from the stones in `seen` to `stones`.

    `seen` [A] and `numbers` are those of one side to move in a `LineRoom`. A stone adds to the numbers around it, so
    only stones that differ take time.
    """
    size, width = board.size, board.size + 2 * REACH
    flat = numbers.reshape(4, width * width)
    digits = (np.int32(2), np.int32(0), np.int32(1))  # of the other side's stone, an empty cell, and one's own
    for row in range(size):
        for column in range(size):
            stone = np.int8(stones[row * size + column] * side)
            before = seen[row * size + column]
            if stone != before:
                seen[row * size + column] = stone
                digit = digits[stone + 1] - digits[before + 1]
                cell = (row + REACH) * width + column + REACH
                for k in range(-REACH, REACH + 1):
                    added = digit * board.weights[REACH - k]
                    flat[0, cell + k] += added
                    flat[1, cell + k * width] += added
                    flat[2, cell + k * (width + 1)] += added
                    flat[3, cell + k * (width - 1)] += added


@lean_kernel
def _look_up(numbers: NDArray[np.int32], table: NDArray[np.int16], features: NDArray[np.int16], size: int) -> None:
    """Write the features of each cell: the sum of four rows of the table."""
    for row in range(size):
        for column in range(size):
            a, b = numbers[0, REACH + row, REACH + column], numbers[1, REACH + row, REACH + column]
            c, d = numbers[2, REACH + row, REACH + column], numbers[3, REACH + row, REACH + column]
            for channel in range(table.shape[1]):
                # numba's sums are of 64 bits unless they are cut.
                first = np.int16(table[a, channel] + table[b, channel])
                total = np.int16(first + np.int16(table[c, channel] + table[d, channel]))
                features[row + 1, column + 1, channel] = min(max(total, np.int16(0)), np.int16(TOP))


@lean_kernel
def _spread(net: LineNet, layer: int, room: LineRoom, size: int) -> None:
    """Add to the features their depthwise convolution, mixed over the channels; the last layer writes `room.flat`."""
    channels = net.table.shape[1]
    last = layer + 1 == net.near.shape[0]
    for row in range(size):
        depthwise(
            room.features,
            ((row + 1) * (size + 2) + 1) * channels,
            (size + 2) * channels,
            net.near,
            layer * 9 * channels,
            net.near_bias,
            layer * channels,
            room.flat,
            row * size * channels,
            size,
            channels,
        )
    _multiply(room.flat, net.mix, layer * channels * channels, net.mix_bias, layer * channels, channels, room.sums)
    half = np.int32(1 << (MIX_BITS - 1))
    for row in range(size):
        for column in range(size):
            for channel in range(channels):
                mixed = np.int32(room.sums[row * size + column, channel] + half) >> MIX_BITS
                total = np.int32(mixed + room.features[row + 1, column + 1, channel])
                active = np.int16(min(max(total, np.int32(0)), np.int32(TOP)))
                if last:
                    room.flat[row * size + column, channel] = active
                else:
                    room.features[row + 1, column + 1, channel] = active


@lean_kernel
def _multiply(
    x: NDArray[np.int16],
    weights: NDArray[np.int16],
    weights_at: int,
    bias: NDArray[np.int32],
    bias_at: int,
    outputs: int,
    sums: NDArray[np.int32],
) -> None:
    """Write the products of `x` [A', C] with weights to `sums` [A', at least `outputs`]."""
    channels, step = x.shape[1], sums.shape[1]
    for block in range(outputs // LANES):
        for cell in range(0, x.shape[0], ROWS):
            products(
                x,
                cell * channels,
                channels,
                weights,
                weights_at + block * channels * LANES,
                bias,
                bias_at + block * LANES,
                sums,
                cell * step + block * LANES,
                step,
                channels // 2,
            )


@lean_kernel
def _value(net: LineNet, board: LineBoard, room: LineRoom) -> float:
    """Return the value of the heads' sums, before its tanh."""
    size, outputs, step = board.size, len(net.heads_bias), room.sums.shape[1]
    for pool in range(room.pools.shape[0]):
        for output in range(outputs):
            room.pools[pool, output] = 0
    for row in range(size):
        band = 0
        while row >= board.edges[band + 1]:
            band += 1
        for part in range(REGIONS):
            first, last = board.edges[part], board.edges[part + 1]
            for block in range(0, outputs, LANES):
                pooled(
                    room.sums,
                    (row * size + first) * step + block,
                    step,
                    last - first,
                    room.pools,
                    (band * REGIONS + part) * outputs + block,
                    room.pools,
                    REGIONS * REGIONS * outputs + block,
                )
    for pool in range(REGIONS * REGIONS):
        for output in range(outputs):
            mean = (room.pools[pool, output] * board.shares[pool] + (1 << (_SHARE_BITS - 1))) >> _SHARE_BITS
            room.units[pool * outputs + output] = min(mean, TOP)
    for output in range(outputs):
        room.units[REGIONS * REGIONS * outputs + output] = room.pools[REGIONS * REGIONS, output]
    inputs, hidden = len(room.units), room.hidden.shape[1]
    for block in range(hidden // LANES):
        products(
            room.units,
            0,
            0,
            net.dense,
            block * inputs * LANES,
            net.dense_bias,
            block * LANES,
            room.hidden,
            block * LANES,
            hidden,
            inputs // 2,
        )
    total = np.int64(net.last[hidden])
    for unit in range(hidden):
        active = (room.hidden[0, unit] + (1 << (DENSE_BITS - 1))) >> DENSE_BITS
        total += min(max(active, 0), TOP) * net.last[unit]
    return total * 2.0 ** -(UNIT_BITS + DENSE_BITS)


@lean_kernel
def evaluate_line(
    net: LineNet, board: LineBoard, room: LineRoom, stones: NDArray[np.int8], side: int, logits: NDArray[np.float32]
) -> float:
    """Write the logits [A] of a position, and return its value before the tanh, both for the side to move.

    `stones` [A] as in `core.evaluation.PositionBatch`.
    """
    size = board.size
    index = 0 if side == BLACK else 1
    numbers = room.numbers[index]
    _number_patterns(stones, side, board, room.seen[index], numbers)
    _look_up(numbers, net.table, room.features, size)
    for layer in range(net.near.shape[0]):
        _spread(net, layer, room, size)
    _multiply(room.flat, net.heads, 0, net.heads_bias, 0, len(net.heads_bias), room.sums)
    for cell in range(size * size):
        logits[cell] = room.sums[cell, 0] * np.float32(2.0 ** -(UNIT_BITS + MIX_BITS))
    return _value(net, board, room)


@kernel
def evaluate_lines(
    net: LineNet,
    board: LineBoard,
    room: LineRoom,
    stones: NDArray[np.int8],
    to_move: NDArray[np.int8],
    rows: NDArray[np.intp],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Write logits [B, A] and values [B] of some rows of a batch, for the side to move."""
    for index in range(len(rows)):
        row = rows[index]
        values[row] = np.tanh(evaluate_line(net, board, room, stones[row], to_move[row], logits[row]))
