"""Seven loops of line-pattern nets in the compiler's own language, as operations on vectors of 16 or 32 integers.

numba's translation of the same loops keeps their sums in memory and takes four times as long. The compiler turns these
into the instructions that the processor has; none of them depends on one. All numbers are integers, so the order of the
sums does not matter. Without compilation (`NUMBA_DISABLE_JIT=1`) those of `plain_code` take their places.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils

from core.compiled.intrinsics import written
from core.compiled.line_nets import plain_code
from core.compiled.line_nets.numbers import LANES, LIFT_BITS, MIX_BITS, REACH, ROWS, TOP
from core.compiled.line_nets.patterns import AFTER, DIRECTIONS

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

    def __init__(self, builder: Any, arguments: list[Any]) -> None:
        self.builder, self.arguments = builder, arguments

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

    def of_neighbours(self, first: Any, second: Any = None) -> Any:
        """Return the sums of neighbours in a vector, or in two that follow each other."""
        count = first.type.count if second is None else 2 * first.type.count
        second = ir.Constant(first.type, ir.Undefined) if second is None else second
        kind = ir.VectorType(_INT32, count // 2)
        halves = (ir.Constant(kind, [*range(part, count, 2)]) for part in (0, 1))
        return self.add(*(self.builder.shuffle_vector(first, second, half) for half in halves))

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
    digits, step, empty, numbers, cells = write.arguments
    build = write.builder
    chunks = build.udiv(write.add(cells, _number(LANES - 1)), _number(LANES))
    with cgutils.for_range(build, chunks) as loop:
        first = build.mul(loop.index, _number(LANES))

        def digits_of(cells_on: int) -> Any:
            return write.load(digits, write.add(first, build.mul(step, _number(cells_on))), _HALF)

        halves = []
        for side, nearest in ((-1, 0), (1, 1)):
            half = digits_of(side * REACH)
            for away in range(REACH - 1, nearest - 1, -1):
                half = write.add(build.mul(half, _all(_HALF, 3)), digits_of(side * away))
            halves.append(build.zext(half, _SUMS))
        before, after = halves
        start = write.load(empty, first, _SUMS)
        total = write.add(start, build.mul(before, _all(_SUMS, AFTER)), after)
        write.store(total, numbers, first)


def _write_gathered(write: _Writer) -> None:
    numbers, numbers_step, table, channels, lift, out, cells = write.arguments
    build = write.builder
    shift = _copies(build, build.trunc(lift, _INT16), _PAIRS)
    with cgutils.for_range(build, cells) as loop:
        rows = []
        for direction in range(len(DIRECTIONS)):
            at = write.add(loop.index, build.mul(numbers_step, _number(direction)))
            rows.append(build.mul(build.sext(write.load(numbers, at, _INT32), _INT64), channels))
        cell = build.mul(loop.index, channels)
        with cgutils.for_range(build, build.udiv(channels, _number(2 * LANES))) as blocks:
            block = build.mul(blocks.index, _number(2 * LANES))
            total = write.add(*(write.load(table, write.add(row, block), _PAIRS) for row in rows))
            write.store(build.shl(write.within(total), shift), out, write.add(cell, block))


def _totals(write: _Writer, x: Any, rows: list[Any], weights: Any, bias: Any, pairs: Any) -> list[Any]:
    """Return 16 sums for each of `rows`, the places of their first inputs: bias + inputs times weights."""
    build = write.builder
    start = write.load(bias, _number(0), _SUMS)
    totals = [write.variable(start) for _ in rows]
    with cgutils.for_range(build, pairs) as loop:
        wide = build.sext(write.load(weights, build.mul(loop.index, _number(2 * LANES)), _PAIRS), _WIDE_PAIRS)
        for place, total in zip(rows, totals, strict=True):
            at = write.add(place, build.mul(loop.index, _number(2)))
            pair = build.load(build.bitcast(build.gep(x, [at]), _INT32.as_pointer()), align=2)
            copies = _copies(build, pair, _SUMS)
            product = build.mul(wide, build.sext(build.bitcast(copies, _PAIRS), _WIDE_PAIRS))
            # This form is the one that the compiler knows as a single instruction.
            build.store(write.add(build.load(total), write.of_neighbours(product)), total)
    return [build.load(total) for total in totals]


def _write_products(write: _Writer) -> None:
    x, places, weights, bias, sums, sums_step, pairs = write.arguments
    rows = [write.load(places, _number(row), _INT64) for row in range(ROWS)]
    for row, total in enumerate(_totals(write, x, rows, weights, bias, pairs)):
        write.store(total, sums, write.builder.mul(_number(row), sums_step))


def _write_scored(write: _Writer) -> None:
    x, places, channels, weights, bias, sums, sums_step, cells = write.arguments
    build = write.builder
    start = write.load(bias, _number(0), _INT32)
    with cgutils.for_range(build, build.udiv(cells, _number(ROWS))) as loop:
        first = build.mul(loop.index, _number(ROWS))
        rows = [write.load(places, write.add(first, _number(row)), _INT64) for row in range(ROWS)]
        totals = [write.variable(_all(_SUMS, 0)) for _ in rows]
        with cgutils.for_range(build, build.udiv(channels, _number(2 * LANES))) as blocks:
            block = build.mul(blocks.index, _number(2 * LANES))
            wide = build.sext(write.load(weights, block, _PAIRS), _WIDE_PAIRS)
            for place, total in zip(rows, totals, strict=True):
                near = build.sext(write.load(x, write.add(place, block), _PAIRS), _WIDE_PAIRS)
                product = build.mul(near, wide)
                build.store(write.add(build.load(total), write.of_neighbours(product)), total)
        # Sums of neighbours, at first of two rows at once, until each number is the sum of a row.
        parts = [build.load(total) for total in totals]
        while len(parts) > 1:
            parts = [write.of_neighbours(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
        (found,) = parts
        while found.type.count > ROWS:
            found = write.of_neighbours(found)
        for row in range(ROWS):
            logit = build.add(start, build.extract_element(found, ir.Constant(_INT32, row)))
            build.store(logit, build.gep(sums, [build.mul(sums_step, write.add(first, _number(row)))]))


def _write_mixed(write: _Writer) -> None:
    x, channels, weights, bias, out, places, lift = write.arguments
    build = write.builder
    rows = [build.mul(_number(row), channels) for row in range(ROWS)]
    shift = _copies(build, build.trunc(lift, _INT16), _HALF)
    pairs = build.udiv(channels, _number(2))
    for row, total in enumerate(_totals(write, x, rows, weights, bias, pairs)):
        at = write.load(places, _number(row), _INT64)
        before = build.ashr(write.load(out, at, _HALF), _all(_HALF, LIFT_BITS))
        added = build.trunc(write.within(write.rounded(total, MIX_BITS), -_CUT, _CUT), _HALF)
        write.store(build.shl(write.within(build.add(added, before)), shift), out, at)


def _write_depthwise(write: _Writer) -> None:
    x, x_step, weights, bias, out, cells, channels = write.arguments
    build = write.builder
    with cgutils.for_range(build, build.udiv(channels, _number(2 * LANES))) as blocks:
        block = build.mul(blocks.index, _number(2 * LANES))
        taps = [write.add(block, build.mul(channels, _number(tap))) for tap in range(9)]
        wide = [build.sext(write.load(weights, tap, _PAIRS), _WIDE_PAIRS) for tap in taps]
        start = write.load(bias, block, _PAIRS)
        with cgutils.for_range(build, cells) as loop:
            cell = write.add(block, build.mul(loop.index, channels))
            total = start
            for tap, weight in enumerate(wide):
                down, right = tap // 3 - 1, tap % 3 - 1
                move = write.add(build.mul(x_step, _number(down)), build.mul(channels, _number(right)))
                near = write.load(x, write.add(cell, move), _PAIRS)
                product = build.mul(build.sext(near, _WIDE_PAIRS), weight)
                total = build.add(total, build.trunc(build.ashr(product, _all(_WIDE_PAIRS, 16)), _PAIRS))
            write.store(write.activated(total, 1), out, cell)


def _write_pooled(write: _Writer) -> None:
    sums, sums_step, cells, total, maxima = write.arguments
    build = write.builder
    whole = write.variable(write.load(total, _number(0), _SUMS))
    best = write.variable(write.load(maxima, _number(0), _SUMS))
    with cgutils.for_range(build, cells) as loop:
        active = write.activated(write.load(sums, build.mul(loop.index, sums_step), _SUMS), MIX_BITS)
        build.store(build.add(build.load(whole), active), whole)
        build.store(write.larger(build.load(best), active), best)
    write.store(build.load(whole), total, _number(0))
    write.store(build.load(best), maxima, _number(0))


def _compiled(plain: Callable[..., None], write: Callable[[_Writer], None]) -> Callable[..., None]:
    """Return a function of `plain_code` as the code that `write` writes; itself without compilation."""
    result: Callable[..., None] = written(plain, lambda builder, arguments: write(_Writer(builder, arguments)))
    return result


# Described in `plain_code`.
numbered = _compiled(plain_code.numbered, _write_numbered)
gathered = _compiled(plain_code.gathered, _write_gathered)
products = _compiled(plain_code.products, _write_products)
scored = _compiled(plain_code.scored, _write_scored)
mixed = _compiled(plain_code.mixed, _write_mixed)
depthwise = _compiled(plain_code.depthwise, _write_depthwise)
pooled = _compiled(plain_code.pooled, _write_pooled)
