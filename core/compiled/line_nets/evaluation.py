"""Evaluation of line-pattern nets, in integers.

The numbers of the four patterns around each cell (`patterns`) lead to rows of a table, whose sum is the cell's
features. Depthwise 3x3 convolutions, products over channels, and a small value head follow. `nets.line_tables`
makes the arrays of a net. A position takes some ten microseconds of a core, alone as in a batch.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel, lean_inlined_kernel, lean_kernel
from core.compiled.line_nets.arrays import aligned_zeros
from core.compiled.line_nets.numbers import (
    DENSE_BITS,
    LANES,
    LIFT_BITS,
    MEAN_SCALE,
    MIX_BITS,
    MIX_TOP,
    REACH,
    REGIONS,
    ROWS,
    TOP,
    UNIT_BITS,
)
from core.compiled.line_nets.patterns import DIRECTIONS, empty_numbers, region_edges
from core.compiled.line_nets.vector_code import depthwise, gathered, mixed, numbered, pooled, products, scored

_SHARE_BITS = 16
_WEIGHT_BITS = UNIT_BITS + DENSE_BITS - MIX_BITS
"""Bits by which a fully connected layer's products are finer than weights of a product over channels."""


class LineNet(NamedTuple):
    """The integers of a net.

    `C` channels, `S` spread layers, `H` outputs of the heads' product, `U` and `V` units of the value's hidden layers.
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
    """[H / 16, C / 2, 16, 2] the first output is the policy's, where its weights are always the same; the others are
    pooled."""
    heads_bias: NDArray[np.int32]
    """[H]"""
    own: NDArray[np.int16]
    """[P / 16, 10 H / 2, 16, 2] the hidden layer of the policy's weights; `P` is 0 where these are always the same."""
    own_bias: NDArray[np.int32]
    """[P]"""
    policy: NDArray[np.int16]
    """[C / 16, P / 2, 16, 2] the layer that makes these weights."""
    policy_bias: NDArray[np.int32]
    """[C]"""
    dense: NDArray[np.int16]
    """[U / 16, 10 H / 2, 16, 2] the first hidden layer of the value."""
    dense_bias: NDArray[np.int32]
    """[U]"""
    deep: NDArray[np.int16]
    """[V / 16, U / 2, 16, 2] the second one; the identity in a net that has one alone."""
    deep_bias: NDArray[np.int32]
    """[V]"""
    last: NDArray[np.int32]
    """[V + 1] the value's last layer; the last number is its bias."""


class LineBoard(NamedTuple):
    """Constants of a board's size `D`."""

    size: int
    empty: NDArray[np.int32]
    """[4, D, P] the number of the pattern around each cell of an empty board, in each direction. P is the next multiple
    of 16 cells; the last of them are no cells."""
    edges: NDArray[np.int64]
    """[4] the first row of each region, and the end."""
    shares: NDArray[np.int32]
    """[9] of a cell in its region's mean, in units of 2^-16."""
    cells: NDArray[np.int64]
    """[A'] the place of each cell on a board with a margin of one. A' is the next multiple of 4 cells; the last of them
    lie behind that board."""


class LineRoom(NamedTuple):
    """Memory for an evaluation; each thread needs its own."""

    digits: NDArray[np.int16]
    """[(D + 10)^2 + 15] of a board with a margin of `REACH` cells, which stays 0."""
    numbers: NDArray[np.int32]
    """[4, D, P] of the patterns around each cell, as `LineBoard.empty`."""
    features: NDArray[np.int16]
    """[(D + 2)^2 + 3, C] of a board with a margin of one cell, which stays 0; the last three rows are never read."""
    places: NDArray[np.int64]
    """[A'] where the features of each cell begin."""
    flat: NDArray[np.int16]
    """[A', C] depthwise convolutions, without a margin."""
    sums: NDArray[np.int32]
    """[A', H]"""
    pools: NDArray[np.int32]
    """[10, H] sums over the regions, then maxima."""
    units: NDArray[np.int16]
    """[10 H]"""
    same: NDArray[np.int64]
    """[4] zeros: the places of `units` for a product of four rows."""
    hidden: NDArray[np.int16]
    """[U]"""
    own: NDArray[np.int16]
    """[P]"""
    weights: NDArray[np.int16]
    """[C] of the policy."""
    dense: NDArray[np.int32]
    """[4, max(U, V, P, C)] products of a fully connected layer."""


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
    rows, columns = np.divmod(np.arange(size * size), size)
    cells = np.concatenate(((rows + 1) * (size + 2) + columns + 1, (size + 2) ** 2 + np.arange(-size * size % ROWS)))
    empty = np.zeros((len(DIRECTIONS), size, -(-size // LANES) * LANES), dtype=np.int32)
    empty[:, :, :size] = empty_numbers(size).reshape(size, size, -1).transpose(2, 0, 1)
    return LineBoard(size, empty, edges, shares, cells)


def line_room(net: LineNet, board: LineBoard) -> LineRoom:
    """Return memory for a net's evaluations of boards of a size."""
    channels, outputs = net.table.shape[1], len(net.heads_bias)
    units, own, deep = len(net.dense_bias), len(net.own_bias), len(net.deep_bias)
    size, cells, pools = board.size, len(board.cells), REGIONS**2 + 1
    return LineRoom(
        digits=aligned_zeros(((size + 2 * REACH) ** 2 + LANES - 1,), np.int16),
        numbers=aligned_zeros(board.empty.shape, np.int32),
        features=aligned_zeros(((size + 2) ** 2 + ROWS - 1, channels), np.int16),
        places=board.cells * channels,
        flat=aligned_zeros((cells, channels), np.int16),
        sums=aligned_zeros((cells, outputs), np.int32),
        pools=np.zeros((pools, outputs), dtype=np.int32),
        units=np.zeros(pools * outputs, dtype=np.int16),
        same=np.zeros(ROWS, dtype=np.int64),
        hidden=np.zeros(units, dtype=np.int16),
        own=np.zeros(own, dtype=np.int16),
        weights=aligned_zeros((channels,), np.int16),
        dense=np.zeros((ROWS, max(units, deep, own, channels)), dtype=np.int32),
    )


@lean_kernel
def _number_patterns(stones: NDArray[np.int8], side: int, board: LineBoard, room: LineRoom) -> None:
    """Write the numbers of the patterns around each cell."""
    size, width, pitch = board.size, board.size + 2 * REACH, board.empty.shape[2]
    for row in range(size):
        for column in range(size):
            stone = np.int16(stones[row * size + column] * side)
            room.digits[(row + REACH) * width + REACH + column] = np.int16(2) if stone < 0 else stone
    for direction in range(len(DIRECTIONS)):
        step = DIRECTIONS[direction][0] * width + DIRECTIONS[direction][1]
        for row in range(size):
            place = (direction * size + row) * pitch
            first = (row + REACH) * width + REACH
            numbered((room.digits, first), step, (board.empty, place), (room.numbers, place), size)


@lean_kernel
def _look_up(net: LineNet, room: LineRoom, size: int) -> None:
    """Write the features of each cell: the sum of four rows of the table."""
    channels, pitch = net.table.shape[1], room.numbers.shape[2]
    for row in range(size):
        features = room.features, ((row + 1) * (size + 2) + 1) * channels
        gathered((room.numbers, row * pitch), size * pitch, net.table, channels, _lift(net, 0), features, size)


@lean_kernel
def _lift(net: LineNet, layer: int) -> int:
    """Return the bits by which the features that the `layer`-th spread layer would read are shifted."""
    return LIFT_BITS if layer < net.near.shape[0] else 0


@lean_kernel
def _spread(net: LineNet, layer: int, room: LineRoom, size: int) -> None:
    """Add to the features their depthwise convolution, mixed over the channels."""
    channels = net.table.shape[1]
    for row in range(size):
        features, flat = (room.features, ((row + 1) * (size + 2) + 1) * channels), (room.flat, row * size * channels)
        weights, bias = (net.near, layer * 9 * channels), (net.near_bias, layer * channels)
        depthwise(features, (size + 2) * channels, weights, bias, flat, size, channels)
    for block in range(0, channels, LANES):
        first = layer * channels + block
        mix, mix_bias = (net.mix, first * channels), (net.mix_bias, first)
        for cell in range(0, len(room.places), ROWS):
            flat, places = (room.flat, cell * channels), (room.places, cell)
            mixed(flat, channels, mix, mix_bias, (room.features, block), places, _lift(net, layer + 1))


@lean_kernel
def _multiply_heads(net: LineNet, room: LineRoom) -> None:
    """Write the products of the features with the heads' weights to `room.sums`."""
    channels, outputs = net.table.shape[1], len(net.heads_bias)
    for block in range(0, outputs, LANES):
        weights, bias = (net.heads, block * channels), (net.heads_bias, block)
        for cell in range(0, len(room.places), ROWS):
            places, sums = (room.places, cell), (room.sums, cell * outputs + block)
            products(room.features, places, weights, bias, sums, outputs, channels // 2)


@lean_kernel
def _pool(net: LineNet, board: LineBoard, room: LineRoom) -> None:
    """Write the means over the regions and the maxima of the heads' sums to `room.units`."""
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
                sums, means = (row * size + first) * step + block, (band * REGIONS + part) * outputs + block
                maxima = REGIONS * REGIONS * outputs + block
                pooled((room.sums, sums), step, last - first, (room.pools, means), (room.pools, maxima))
    for pool in range(REGIONS * REGIONS):
        for output in range(outputs):
            mean = (room.pools[pool, output] * board.shares[pool] + (1 << (_SHARE_BITS - 1))) >> _SHARE_BITS
            room.units[pool * outputs + output] = min(mean, TOP)
    for output in range(outputs):
        room.units[REGIONS * REGIONS * outputs + output] = room.pools[REGIONS * REGIONS, output]


@lean_kernel
def _score(net: LineNet, room: LineRoom) -> None:
    """Write the policy's sums, with weights of the position, to the first of `room.sums`."""
    channels = len(room.weights)
    _hidden(room.units, net.own, net.own_bias, room, room.own)
    _multiply_dense(room.own, net.policy, net.policy_bias, room)
    for channel in range(channels):
        weight = (room.dense[0, channel] + (1 << (_WEIGHT_BITS - 1))) >> _WEIGHT_BITS
        room.weights[channel] = min(max(weight, -MIX_TOP), MIX_TOP)
    step, cells = room.sums.shape[1], len(room.places)
    scored(room.features, room.places, channels, room.weights, net.heads_bias, room.sums, step, cells)


@lean_kernel
def _value(net: LineNet, room: LineRoom) -> float:
    """Return the value, before its tanh."""
    _hidden(room.units, net.dense, net.dense_bias, room, room.hidden)
    _multiply_dense(room.hidden, net.deep, net.deep_bias, room)
    units = len(net.deep_bias)
    total = np.int64(net.last[units])
    for unit in range(units):
        total += _active(room.dense[0, unit]) * net.last[unit]
    return total * 2.0 ** -(UNIT_BITS + DENSE_BITS)


@lean_kernel
def _multiply_dense(
    units: NDArray[np.int16], weights: NDArray[np.int16], biases: NDArray[np.int32], room: LineRoom
) -> None:
    """Write the products of units with a layer's weights to the first row of `room.dense`."""
    inputs, step = len(units), room.dense.shape[1]
    for block in range(0, len(biases), LANES):
        places, sums = (room.same, 0), (room.dense, block)
        products(units, places, (weights, block * inputs), (biases, block), sums, step, inputs // 2)


@lean_kernel
def _hidden(
    units: NDArray[np.int16],
    weights: NDArray[np.int16],
    biases: NDArray[np.int32],
    room: LineRoom,
    hidden: NDArray[np.int16],
) -> None:
    """Write the activations of a hidden layer."""
    _multiply_dense(units, weights, biases, room)
    for unit in range(len(hidden)):
        hidden[unit] = _active(room.dense[0, unit])


@lean_kernel
def _active(product: int) -> int:
    """Return a hidden unit's activation."""
    return min(max((product + (1 << (DENSE_BITS - 1))) >> DENSE_BITS, 0), TOP)


@lean_inlined_kernel
def evaluate_line(
    net: LineNet, board: LineBoard, room: LineRoom, stones: NDArray[np.int8], side: int, logits: NDArray[np.float32]
) -> float:
    """Write the logits [A] of a position, and return its value before the tanh, both for the side to move.

    `stones` [A] as in `core.evaluation.PositionBatch`.
    """
    size = board.size
    _number_patterns(stones, side, board, room)
    _look_up(net, room, size)
    for layer in range(net.near.shape[0]):
        _spread(net, layer, room, size)
    _multiply_heads(net, room)
    _pool(net, board, room)
    if len(net.own_bias):
        _score(net, room)
    for cell in range(size * size):
        logits[cell] = room.sums[cell, 0] * np.float32(2.0 ** -(UNIT_BITS + MIX_BITS))
    return _value(net, room)


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
