"""Six loops of line-pattern nets in the compiler's own language, as operations on vectors of 16 or 32 integers.

numba's translation of the same loops keeps their sums in memory and takes four times as long. The compiler turns these
into the instructions that the processor has; none of them depends on one. All numbers are integers, so the order of the
sums does not matter. Without compilation (`NUMBA_DISABLE_JIT=1`) the same functions run in numpy.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from core.line_nets.numbers import LANES, LIFT_BITS, MIX_BITS, REACH, TOP
from core.line_nets.patterns import AFTER, DIRECTIONS

ROWS = 4
"""Rows whose products `products` computes together: each weight is read once for them."""
_CUT = 1 << 14
"""A sum beyond it, added to a feature of at most `TOP`, would be cut off in any case; together they fit in 16 bits."""
_INT16, _INT32, _INT64 = ir.IntType(16), ir.IntType(32), ir.IntType(64)
_PAIRS = ir.VectorType(_INT16, 2 * LANES)
_WIDE_PAIRS = ir.VectorType(_INT32, 2 * LANES)
_HALF = ir.VectorType(_INT16, LANES)
_SUMS = ir.VectorType(_INT32, LANES)


def _number(value: int) -> Any:
    return ir.Constant(_INT64, value)


def _all(kind: Any, value: int) -> Any:
    return ir.Constant(kind, [value] * kind.count)


def _copies(builder: Any, value: Any, kind: Any) -> Any:
    """Return a vector of copies of a number."""
    unknown = ir.Constant(kind, ir.Undefined)
    one = builder.insert_element(unknown, value, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(one, unknown, ir.Constant(ir.VectorType(_INT32, kind.count), [0] * kind.count))


class _Writer:
    """Writes the body of a function: its arrays by pointers, its numbers as they are."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.arguments = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, arguments, strict=True)
        ]

    def add(self, *values: Any) -> Any:
        first, *others = values
        for value in others:
            first = self.builder.add(first, value)
        return first

    def load(self, array: Any, at: Any, kind: Any) -> Any:
        """Return the vector, or the number, at a place."""
        return self.builder.load(self._pointer(array, at, kind), align=getattr(kind, "element", kind).width // 8)

    def store(self, vector: Any, array: Any, at: Any) -> None:
        self.builder.store(vector, self._pointer(array, at, vector.type), align=vector.type.element.width // 8)

    def _pointer(self, array: Any, at: Any, kind: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array, [at]), kind.as_pointer())

    def variable(self, start: Any) -> Any:
        """Return a place that keeps a vector over the turns of a loop."""
        place = cgutils.alloca_once(self.builder, start.type)  # type: ignore[no-untyped-call]
        self.builder.store(start, place)
        return place

    def larger(self, first: Any, second: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", first, second), first, second)

    def rounded(self, sums: Any, bits: int) -> Any:
        """Return rounded quotients by 2^bits."""
        kind = sums.type
        return self.builder.ashr(self.builder.add(sums, _all(kind, 1 << (bits - 1))), _all(kind, bits))

    def within(self, numbers: Any, least: int = 0, most: int = TOP) -> Any:
        """Return numbers within bounds."""
        build, kind = self.builder, numbers.type
        numbers = self.larger(numbers, _all(kind, least))
        return build.select(build.icmp_signed("<", numbers, _all(kind, most)), numbers, _all(kind, most))

    def activated(self, sums: Any, bits: int) -> Any:
        """Return rounded quotients by 2^bits, from 0 to `TOP`."""
        return self.within(self.rounded(sums, bits))


def _write_numbered(write: _Writer) -> None:
    digits, digits_at, step, empty, empty_at, numbers, numbers_at, cells = write.arguments
    build = write.builder
    chunks = build.udiv(write.add(cells, _number(LANES - 1)), _number(LANES))
    with cgutils.for_range(build, chunks) as loop:
        first = build.mul(loop.index, _number(LANES))

        def digits_of(cells_on: int) -> Any:
            return write.load(digits, write.add(digits_at, first, build.mul(step, _number(cells_on))), _HALF)

        halves = []
        for side, nearest in ((-1, 0), (1, 1)):
            half = digits_of(side * REACH)
            for away in range(REACH - 1, nearest - 1, -1):
                half = write.add(build.mul(half, _all(_HALF, 3)), digits_of(side * away))
            halves.append(build.zext(half, _SUMS))
        before, after = halves
        start = write.load(empty, write.add(empty_at, first), _SUMS)
        total = write.add(start, build.mul(before, _all(_SUMS, AFTER)), after)
        write.store(total, numbers, write.add(numbers_at, first))


def _write_gathered(write: _Writer) -> None:
    numbers, numbers_at, numbers_step, table, channels, lift, out, out_at, cells = write.arguments
    build = write.builder
    shift = _copies(build, build.trunc(lift, _INT16), _PAIRS)
    with cgutils.for_range(build, cells) as loop:
        rows = []
        for direction in range(len(DIRECTIONS)):
            at = write.add(numbers_at, loop.index, build.mul(numbers_step, _number(direction)))
            rows.append(build.mul(build.sext(write.load(numbers, at, _INT32), _INT64), channels))
        cell = write.add(out_at, build.mul(loop.index, channels))
        with cgutils.for_range(build, build.udiv(channels, _number(2 * LANES))) as blocks:
            block = build.mul(blocks.index, _number(2 * LANES))
            total = write.add(*(write.load(table, write.add(row, block), _PAIRS) for row in rows))
            write.store(build.shl(write.within(total), shift), out, write.add(cell, block))


def _totals(
    write: _Writer, x: Any, rows: list[Any], weights: Any, weights_at: Any, bias: Any, bias_at: Any, pairs: Any
) -> list[Any]:
    """Return 16 sums for each of `rows`, the places of their first inputs: bias + inputs times weights."""
    build = write.builder
    start = write.load(bias, bias_at, _SUMS)
    totals = [write.variable(start) for _ in rows]
    unknown = ir.Constant(_WIDE_PAIRS, ir.Undefined)
    even, odd = (ir.Constant(_SUMS, [2 * lane + part for lane in range(LANES)]) for part in (0, 1))
    with cgutils.for_range(build, pairs) as loop:
        at = write.add(weights_at, build.mul(loop.index, _number(2 * LANES)))
        wide = build.sext(write.load(weights, at, _PAIRS), _WIDE_PAIRS)
        for place, total in zip(rows, totals, strict=True):
            at = write.add(place, build.mul(loop.index, _number(2)))
            pair = build.load(build.bitcast(build.gep(x, [at]), _INT32.as_pointer()), align=2)
            copies = _copies(build, pair, _SUMS)
            product = build.mul(wide, build.sext(build.bitcast(copies, _PAIRS), _WIDE_PAIRS))
            # This form is the one that the compiler knows as a single instruction.
            halves = (build.shuffle_vector(product, unknown, part) for part in (even, odd))
            build.store(write.add(build.load(total), build.add(*halves)), total)
    return [build.load(total) for total in totals]


def _write_products(write: _Writer) -> None:
    x, places, places_at, weights, weights_at, bias, bias_at, sums, sums_at, sums_step, pairs = write.arguments
    rows = [write.load(places, write.add(places_at, _number(row)), _INT64) for row in range(ROWS)]
    for row, total in enumerate(_totals(write, x, rows, weights, weights_at, bias, bias_at, pairs)):
        write.store(total, sums, write.add(sums_at, write.builder.mul(_number(row), sums_step)))


def _write_mixed(write: _Writer) -> None:
    x, x_at, channels, weights, weights_at, bias, bias_at, out, places, places_at, block, lift = write.arguments
    build = write.builder
    rows = [write.add(x_at, build.mul(_number(row), channels)) for row in range(ROWS)]
    shift = _copies(build, build.trunc(lift, _INT16), _HALF)
    pairs = build.udiv(channels, _number(2))
    for row, total in enumerate(_totals(write, x, rows, weights, weights_at, bias, bias_at, pairs)):
        at = write.add(block, write.load(places, write.add(places_at, _number(row)), _INT64))
        before = build.ashr(write.load(out, at, _HALF), _all(_HALF, LIFT_BITS))
        added = build.trunc(write.within(write.rounded(total, MIX_BITS), -_CUT, _CUT), _HALF)
        write.store(build.shl(write.within(build.add(added, before)), shift), out, at)


def _write_depthwise(write: _Writer) -> None:
    x, x_at, x_step, weights, weights_at, bias, bias_at, out, out_at, cells, channels = write.arguments
    build = write.builder
    with cgutils.for_range(build, build.udiv(channels, _number(2 * LANES))) as blocks:
        block = build.mul(blocks.index, _number(2 * LANES))
        taps = [write.add(weights_at, block, build.mul(channels, _number(tap))) for tap in range(9)]
        wide = [build.sext(write.load(weights, tap, _PAIRS), _WIDE_PAIRS) for tap in taps]
        start = write.load(bias, write.add(bias_at, block), _PAIRS)
        with cgutils.for_range(build, cells) as loop:
            cell = write.add(block, build.mul(loop.index, channels))
            total = start
            for tap, weight in enumerate(wide):
                down, right = tap // 3 - 1, tap % 3 - 1
                move = write.add(build.mul(x_step, _number(down)), build.mul(channels, _number(right)))
                near = write.load(x, write.add(x_at, cell, move), _PAIRS)
                product = build.mul(build.sext(near, _WIDE_PAIRS), weight)
                total = build.add(total, build.trunc(build.ashr(product, _all(_WIDE_PAIRS, 16)), _PAIRS))
            write.store(write.activated(total, 1), out, write.add(out_at, cell))


def _write_pooled(write: _Writer) -> None:
    sums, sums_at, sums_step, cells, total, total_at, maxima, best_at = write.arguments
    build = write.builder
    whole = write.variable(write.load(total, total_at, _SUMS))
    best = write.variable(write.load(maxima, best_at, _SUMS))
    with cgutils.for_range(build, cells) as loop:
        at = write.add(sums_at, build.mul(loop.index, sums_step))
        active = write.activated(write.load(sums, at, _SUMS), MIX_BITS)
        build.store(build.add(build.load(whole), active), whole)
        build.store(write.larger(build.load(best), active), best)
    write.store(build.load(whole), total, total_at)
    write.store(build.load(best), maxima, best_at)


def _coded(write: Callable[[_Writer], None], kinds: tuple[Any, ...]) -> Any:
    """Return the types of a function without a result, and its body."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        write(_Writer(context, builder, signature, arguments))
        return context.get_dummy_value()

    return types.void(*kinds), code


def _typed_numbered(
    _: Any, digits: Any, d_at: Any, step: Any, empty: Any, e_at: Any, numbers: Any, n_at: Any, cells: Any
) -> Any:
    return _coded(_write_numbered, (digits, d_at, step, empty, e_at, numbers, n_at, cells))


def _typed_gathered(
    _: Any,
    numbers: Any,
    n_at: Any,
    n_step: Any,
    table: Any,
    channels: Any,
    lift: Any,
    out: Any,
    o_at: Any,
    cells: Any,
) -> Any:
    return _coded(_write_gathered, (numbers, n_at, n_step, table, channels, lift, out, o_at, cells))


def _typed_products(
    _: Any,
    x: Any,
    places: Any,
    p_at: Any,
    weights: Any,
    w_at: Any,
    bias: Any,
    b_at: Any,
    sums: Any,
    s_at: Any,
    s_step: Any,
    pairs: Any,
) -> Any:
    return _coded(_write_products, (x, places, p_at, weights, w_at, bias, b_at, sums, s_at, s_step, pairs))


def _typed_mixed(
    _: Any,
    x: Any,
    x_at: Any,
    channels: Any,
    weights: Any,
    w_at: Any,
    bias: Any,
    b_at: Any,
    out: Any,
    places: Any,
    p_at: Any,
    block: Any,
    lift: Any,
) -> Any:
    kinds = (x, x_at, channels, weights, w_at, bias, b_at, out, places, p_at, block, lift)
    return _coded(_write_mixed, kinds)


def _typed_depthwise(
    _: Any,
    x: Any,
    x_at: Any,
    x_step: Any,
    weights: Any,
    w_at: Any,
    bias: Any,
    b_at: Any,
    out: Any,
    o_at: Any,
    cells: Any,
    channels: Any,
) -> Any:
    return _coded(_write_depthwise, (x, x_at, x_step, weights, w_at, bias, b_at, out, o_at, cells, channels))


def _typed_pooled(
    _: Any, sums: Any, s_at: Any, s_step: Any, cells: Any, total: Any, t_at: Any, maxima: Any, m_at: Any
) -> Any:
    return _coded(_write_pooled, (sums, s_at, s_step, cells, total, t_at, maxima, m_at))


Numbers = NDArray[Any]


def _plain_numbered(
    digits: Numbers,
    digits_at: int,
    step: int,
    empty: Numbers,
    empty_at: int,
    numbers: Numbers,
    numbers_at: int,
    cells: int,
) -> None:
    lanes = np.arange(-(-cells // LANES) * LANES)
    flat = digits.reshape(-1).astype(np.int64)
    total = empty.reshape(-1)[empty_at + lanes].astype(np.int64)
    for away in range(REACH + 1):
        total += AFTER * 3**away * flat[digits_at + lanes - away * step]
    for away in range(REACH):
        total += 3**away * flat[digits_at + lanes + (away + 1) * step]
    numbers.reshape(-1)[numbers_at + lanes] = total


def _plain_gathered(
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
    starts = numbers_at + numbers_step * np.arange(len(DIRECTIONS))[:, None] + np.arange(cells)
    total = table[numbers.reshape(-1)[starts]].astype(np.int64).sum(0)
    out.reshape(-1)[out_at:][: cells * channels] = (np.clip(total, 0, TOP) << lift).reshape(-1)


def _plain_products(
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
    used = weights.reshape(-1)[weights_at:][: 2 * LANES * pairs].reshape(pairs, LANES, 2).astype(np.int64)
    for row in range(ROWS):
        given = x.reshape(-1)[places[places_at + row] :][: 2 * pairs].reshape(pairs, 1, 2)
        out = sums.reshape(-1)[sums_at + row * sums_step :][:LANES]
        out[:] = bias.reshape(-1)[bias_at:][:LANES] + (used * given).sum((0, 2))


def _plain_mixed(
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
    sums = np.zeros((ROWS, LANES), np.int64)
    starts = x_at + channels * np.arange(ROWS)
    _plain_products(x, starts, 0, weights, weights_at, bias, bias_at, sums, 0, LANES, channels // 2)
    for row in range(ROWS):
        after = out.reshape(-1)[places[places_at + row] + block :][:LANES]
        mixed = (sums[row] + (1 << (MIX_BITS - 1))) >> MIX_BITS
        after[:] = np.clip(mixed + (after >> LIFT_BITS), 0, TOP) << lift


def _plain_depthwise(
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
    total = np.zeros((cells, channels), np.int64) + bias.reshape(-1)[bias_at:][:channels]
    for tap in range(9):
        start = x_at + (tap // 3 - 1) * x_step + (tap % 3 - 1) * channels
        near = x.reshape(-1)[start:][: cells * channels].reshape(cells, channels).astype(np.int64)
        total += (near * weights.reshape(-1)[weights_at + tap * channels :][:channels]) >> 16
    out.reshape(-1)[out_at:][: cells * channels] = _activated(total, 1).reshape(-1)


def _plain_pooled(
    sums: Numbers,
    sums_at: int,
    sums_step: int,
    cells: int,
    total: Numbers,
    total_at: int,
    maxima: Numbers,
    best_at: int,
) -> None:
    whole, best = total.reshape(-1)[total_at:][:LANES], maxima.reshape(-1)[best_at:][:LANES]
    for cell in range(cells):
        active = _activated(sums.reshape(-1)[sums_at + cell * sums_step :][:LANES], MIX_BITS).astype(np.int32)
        whole += active
        np.maximum(best, active, out=best)


def _activated(sums: Numbers, bits: int) -> Numbers:
    result: Numbers = np.clip((sums.astype(np.int64) + (1 << (bits - 1))) >> bits, 0, TOP)
    return result


_INTERPRETED = numba.config.DISABLE_JIT  # type: ignore[attr-defined]  # numba makes its settings at import

# Arrays are used as flat ones, from a place on.

numbered: Callable[..., None] = _plain_numbered if _INTERPRETED else intrinsic(_typed_numbered)
"""Write the numbers of the patterns of a row's cells in one direction, and of more up to a multiple of 16.

Arguments: digits int16 of a board with a margin of `REACH`; the place of the first cell; step to the next cell in the
direction; numbers on an empty board int32; their place; numbers int32; their place; number of cells."""

gathered: Callable[..., None] = _plain_gathered if _INTERPRETED else intrinsic(_typed_gathered)
"""Write the features of some cells of a row of the board: the sums of four rows of a table, from 0 to `TOP`.

Arguments: numbers of rows int32; the place of the first cell's in the first direction; step to the next direction;
table int16 [..., channels]; number of channels; bits by which the features are shifted to the left; output int16
[cells, channels]; its place; number of cells."""

products: Callable[..., None] = _plain_products if _INTERPRETED else intrinsic(_typed_products)
"""Write 16 sums for each of `ROWS` rows: bias + inputs times weights.

Arguments: inputs int16, 2 * `pairs` a row; places of the rows int64; the place of the first of these; weights int16
[pairs, 16, 2]; their place; bias int32 [16]; its place; sums int32; their place; step to the next row; `pairs`."""

mixed: Callable[..., None] = _plain_mixed if _INTERPRETED else intrinsic(_typed_mixed)
"""Add to 16 features of each of `ROWS` cells the products of these cells' inputs with weights.

Arguments: inputs int16 [`ROWS`, channels]; their place; number of channels; weights int16 [channels / 2, 16, 2]; their
place; bias int32 [16]; its place; features int16, shifted by `LIFT_BITS`; places of the cells in them int64; the place
of the first of these; the first of the 16 channels; bits by which the new features are shifted."""

depthwise: Callable[..., None] = _plain_depthwise if _INTERPRETED else intrinsic(_typed_depthwise)
"""Write the activations of a depthwise 3x3 convolution of some cells of a row of the board.

Arguments: inputs int16 [..., channels] of a board with a margin, shifted by `LIFT_BITS`; the place of the first cell;
step to the next row of the board; weights int16 [9, channels]; their place; bias int16 [channels]; its place; output
int16 [cells, channels]; its place; number of cells; number of channels. Each product is rounded down to units of 2^-8,
so that all fit in 16 bits."""

pooled: Callable[..., None] = _plain_pooled if _INTERPRETED else intrinsic(_typed_pooled)
"""Add the activations of 16 channels of some cells to totals, and keep the larger ones.

Arguments: sums int32, 16 a cell; their place; step to the next cell; number of cells; totals int32 [16]; their place;
maxima int32 [16]; their place."""
