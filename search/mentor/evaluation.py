"""The mentor's evaluation: a small network over the patterns on the empty cells, updated move by move.

A cell belongs to a class for each side, by the patterns that a stone of that side would make in its four directions.
The network's first layer has a row of weights for each class and sums the rows of all empty cells. A stone changes the
class of some twenty cells, so its sums are updated with as many rows (an efficiently updatable network). The rest is
tiny.
"""

from functools import cache
from importlib import resources
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.threats import (
    FIVE,
    FOUR,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    PATTERNS,
    THREE,
    TWO,
    ThreatBoard,
    packed_patterns,
    table_of,
)
from core.rules import DIRECTIONS, EMPTY, Rules

HIDDEN, UNITS = 8, 16
"""Sizes of the network's two hidden layers. They are compiled in, so that their loops become vector instructions."""
MAX_SCORE = 15_000
"""Maximum of the evaluation's score."""
SQUASH = 350.0
"""The score whose expected result for the side to move is tanh(1)."""

WINS, MAKES_FOUR, MAKES_THREE, MAYBE_FOUL = 1, 2, 4, 8
"""Flags of a cell. A stone there makes: an open four or two fours at once, which win unless the opponent makes five
first (in renju those of Black may be forbidden); a four or more; an open three or more; lines that renju may forbid."""

_ORDER = {TWO: 1, OPEN_TWO: 4, THREE: 5, OPEN_THREE: 22, FOUR: 45}
"""Weights of patterns of either side in the order of moves."""
_ORDER_TWO_THREES = 40
_ORDER_FOUR_AND_THREE = 60
_ORDER_WINS = 2_000
_ORDER_FIVE = 10_000

_ClassKey = tuple[int, ...]
_CLASSES: dict[_ClassKey, int] = {
    patterns: number for number, patterns in enumerate(combinations_with_replacement(range(PATTERNS), len(DIRECTIONS)))
}
CLASSES = len(_CLASSES)
"""Classes of an empty cell: the four patterns whatever their directions. The first is a cell without any pattern."""


class Evaluation(NamedTuple):
    """A network at work on a board; make one with `new_evaluation`."""

    class_of: NDArray[np.uint16]
    """[PACKED] the class of a cell, by its `packed_patterns`."""
    order: NDArray[np.int32]
    """[PACKED] weight of a cell in the order of moves, by its `packed_patterns`."""
    good_for: NDArray[np.uint8]
    """[PACKED] flags of a cell: the sum of `WINS`, `MAKES_FOUR`, `MAKES_THREE` and `MAYBE_FOUL`."""
    rows: NDArray[np.int32]
    """[CLASSES, 2 x HIDDEN] weights from a cell to the hidden units by its class: of the side to move, then of its
    opponent."""
    first_bias: NDArray[np.int32]
    """[HIDDEN]"""
    second: NDArray[np.float32]
    """[HIDDEN, UNITS]"""
    second_bias: NDArray[np.float32]
    """[UNITS]"""
    third: NDArray[np.float32]
    """[UNITS]"""
    third_bias: NDArray[np.float32]
    """[1]"""
    packed: NDArray[np.uint16]
    """[2 sides, A] the `packed_patterns` of the empty cells."""
    sums: NDArray[np.int32]
    """[2 sides, 2 x HIDDEN] sums of the rows of all empty cells, by their classes for each side."""
    wins: NDArray[np.int32]
    """[2 sides] number of cells with the flag `WINS`."""
    units: NDArray[np.float32]
    """[UNITS] scratch of the second layer."""


def _wins(patterns: tuple[int, ...]) -> bool:
    """Return True if a stone that makes these four patterns has the flag `WINS`."""
    return max(patterns) >= OPEN_FOUR or patterns.count(FOUR) > 1


def _order(patterns: tuple[int, ...]) -> int:
    """Return a value of `Evaluation.order`."""
    if FIVE in patterns:
        return _ORDER_FIVE
    if _wins(patterns):
        return _ORDER_WINS
    weight = sum(_ORDER.get(pattern, 0) for pattern in patterns)
    if patterns.count(OPEN_THREE) > 1:
        return weight + _ORDER_TWO_THREES
    return weight + _ORDER_FOUR_AND_THREE if FOUR in patterns and OPEN_THREE in patterns else weight


def _good_for(patterns: tuple[int, ...]) -> int:
    """Return a value of `Evaluation.good_for`."""
    # An overline counts as an open four, and so do two fours in one line.
    may_be_foul = _wins(patterns) or patterns.count(OPEN_THREE) > 1
    return (
        WINS * _wins(patterns)
        | MAKES_FOUR * (max(patterns) >= FOUR)
        | MAKES_THREE * (max(patterns) >= OPEN_THREE)
        | MAYBE_FOUL * may_be_foul
    )


@cache
def _tables() -> tuple[NDArray[np.uint16], NDArray[np.int32], NDArray[np.uint8]]:
    """Return `Evaluation.class_of`, `order` and `good_for`."""
    classes = table_of(lambda patterns: _CLASSES[tuple(sorted(patterns))], np.uint16)
    return classes, table_of(_order, np.int32), table_of(_good_for, np.uint8)


@cache
def _weights() -> dict[str, NDArray[Any]]:
    """Return the weights of the package by their names in `Evaluation`.

    `benchmarks.tune_mentor` of commit 36b4785 made them.
    """
    with resources.files("search.mentor").joinpath("network.npz").open("rb") as file, np.load(file) as arrays:
        return {**arrays, "rows": arrays["rows"].astype(np.int32)}


def new_evaluation(rules: Rules) -> Evaluation:
    """Return an evaluation with scratch of its own; `start` sets it to a board."""
    class_of, order, good_for = _tables()
    return Evaluation(
        class_of=class_of,
        order=order,
        good_for=good_for,
        **_weights(),
        packed=np.zeros((2, rules.cells), dtype=np.uint16),
        sums=np.zeros((2, 2 * HIDDEN), dtype=np.int32),
        wins=np.zeros(2, dtype=np.int32),
        units=np.zeros(UNITS, dtype=np.float32),
    )


@lean_kernel
def start(evaluation: Evaluation, board: ThreatBoard) -> None:
    """Set the evaluation to a board."""
    evaluation.sums[:] = 0
    evaluation.wins[:] = 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY:
            for side in range(2):
                packed = packed_patterns(board, side, cell)
                evaluation.packed[side, cell] = packed
                evaluation.wins[side] += evaluation.good_for[packed] & WINS
                for unit in range(2 * HIDDEN):
                    evaluation.sums[side, unit] += evaluation.rows[evaluation.class_of[packed], unit]


@lean_inlined_kernel
def follow(evaluation: Evaluation, board: ThreatBoard, cell: int) -> None:
    """Update the evaluation after a stone was put on `cell`, or taken away."""
    packed_of, sums, wins, rows = evaluation.packed, evaluation.sums, evaluation.wins, evaluation.rows
    class_of, good_for = evaluation.class_of, evaluation.good_for
    stones, room, patterns, size = board.stones, board.room, board.patterns, board.rules.size
    for side in range(2):
        if stones[cell] == EMPTY:
            packed = 0
            for direction in range(4):
                packed |= int(patterns[side, direction, cell]) << 3 * direction
            packed_of[side, cell] = packed
            row = class_of[packed]
            wins[side] += good_for[packed] & WINS
            for unit in range(2 * HIDDEN):
                sums[side, unit] += rows[row, unit]
        else:
            row = class_of[packed_of[side, cell]]
            wins[side] -= good_for[packed_of[side, cell]] & WINS
            for unit in range(2 * HIDDEN):
                sums[side, unit] -= rows[row, unit]
    for direction in range(4):
        step = DIRECTIONS[direction][0] * size + DIRECTIONS[direction][1]
        shift = 3 * direction
        for distance in range(-room[4 + direction, cell], room[direction, cell] + 1):
            # An index that cannot be negative spares the check for it.
            at = np.uint64(cell + distance * step)
            if stones[at] != EMPTY or distance == 0:
                continue
            for side in range(2):
                before, pattern = int(packed_of[side, at]), int(patterns[side, direction, at])
                if pattern != before >> shift & (PATTERNS - 1):
                    after = before & ~((PATTERNS - 1) << shift) | pattern << shift
                    packed_of[side, at] = after
                    wins[side] += int(good_for[after] & WINS) - int(good_for[before] & WINS)
                    new, old = class_of[after], class_of[before]
                    for unit in range(2 * HIDDEN):
                        sums[side, unit] += rows[new, unit] - rows[old, unit]


@lean_kernel
def score(evaluation: Evaluation, side: int) -> int:
    """Return the score of the position for `side`, to move: tanh(score / SQUASH) is the expected result."""
    sums, units, second, third = evaluation.sums, evaluation.units, evaluation.second, evaluation.third
    for to in range(UNITS):
        units[to] = evaluation.second_bias[to]
    for unit in range(HIDDEN):
        active = evaluation.first_bias[unit] + sums[side, unit] + sums[1 - side, HIDDEN + unit]
        if active > 0:
            strength = np.float32(active)
            for to in range(UNITS):
                units[to] += strength * second[unit, to]
    total = evaluation.third_bias[0]
    for to in range(UNITS):
        total += max(units[to], np.float32(0.0)) * third[to]
    return int(min(max(total, np.float32(-MAX_SCORE)), np.float32(MAX_SCORE)))
