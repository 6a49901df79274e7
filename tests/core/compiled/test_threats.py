"""Patterns along a line, and the board that updates them."""

import os
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import threats
from core.compiled.symmetry import targets
from core.compiled.threats import (
    FIVE,
    FOUR,
    NONE,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    PATTERNS,
    THREE,
    TWO,
    Lines,
    ThreatBoard,
    colour_of,
    load,
    new_threat_board,
    packed_patterns,
    pattern_table,
    place,
    remove,
    reset,
    side_of,
    strongest_pattern,
    unpack_patterns,
)
from core.rules import BLACK, DIRECTIONS, EMPTY, WHITE, Rules, Variant

CONNECTS = (3, 4, 5, 6)
KERNELS_ARE_COMPILED = os.environ.get("NUMBA_DISABLE_JIT") != "1"


def filled(line: str) -> list[str]:
    """The lines that one more own stone can make of `line`."""
    return [line[:at] + "X" + line[at + 1 :] for at, cell in enumerate(line) if cell == "."]


@cache
def naive(line: str, connect: int) -> int:
    """The class of a line of 2k-1 cells, own stones `X`, the centre one of them; straight from the definitions."""
    if "X" * connect in line:
        return FIVE
    after = [naive(more, connect) for more in filled(line)]
    if FIVE in after:
        return OPEN_FOUR if after.count(FIVE) > 1 else FOUR
    for stronger, result in ((OPEN_FOUR, OPEN_THREE), (FOUR, THREE), (OPEN_THREE, OPEN_TWO), (THREE, TWO)):
        if stronger in after:
            return result
    return NONE


def lookup(line: str, connect: int) -> int:
    """The table's class of a line of 2k-1 cells whose centre is own."""
    window = line[: connect - 1] + line[connect:]
    return int(pattern_table(Lines(connect))[sum(".XO".index(cell) * 3**slot for slot, cell in enumerate(window))])


def naive_patterns(stones: NDArray[np.int8], size: int, connect: int) -> NDArray[np.uint8]:
    """[2 sides, 4 directions, A] the classes of all cells, read from each line of the board written out."""
    patterns = np.zeros((2, 4, size * size), dtype=np.uint8)
    wall = "O" * (connect - 1)
    for direction, (row_step, column_step) in enumerate(DIRECTIONS):
        for start in range(size * size):
            row, column = divmod(start, size)
            if 0 <= row - row_step < size and 0 <= column - column_step < size:
                continue  # not the first cell of its line
            cells = []
            while 0 <= row < size and 0 <= column < size:
                cells.append(row * size + column)
                row, column = row + row_step, column + column_step
            for side, signs in enumerate((".XO", ".OX")):  # of empty, black and white (-1, the last)
                text = wall + "".join(signs[stones[cell]] for cell in cells) + wall
                for at, cell in enumerate(cells):
                    line = text[at : at + connect - 1] + "X" + text[at + connect : at + 2 * connect - 1]
                    patterns[side, direction, cell] = naive(line, connect)
    return patterns


def assert_same(left: ThreatBoard, right: ThreatBoard) -> None:
    for name in ("stones", "codes", "patterns"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), err_msg=name)
    np.testing.assert_array_equal(left.counts[:, OPEN_THREE:], right.counts[:, OPEN_THREE:])


LINES = """
    XXXXX.... FIVE, ..XXXXXX. FIVE, ..XXXX... OPEN_FOUR, X.XXX.X.. OPEN_FOUR, .OXXXX... FOUR, ..X.XXX.O FOUR
    ...XXX... OPEN_THREE, ..X.XX... OPEN_THREE, .OXXX.... THREE, ..OXXX.O. NONE, ....X.X.. OPEN_TWO, ....XX..O OPEN_TWO
    ..O.XX.O. NONE, ...OXX... TWO, OOOOXOOOO NONE
    .XXX... OPEN_FOUR, ...X..O OPEN_TWO, ..XX. OPEN_FOUR, ..X.. OPEN_THREE
    ..XXXXX.... OPEN_FOUR, ..XXXX..... OPEN_THREE, OOXXXXXO... NONE
"""
"""Lines of 2k-1 cells with their classes. X.XXX.X.. has two gaps, each of which makes five through the centre; in
..OXXX.O. the four cells between two stones hold no five."""


@pytest.mark.parametrize("named", LINES.replace("\n", ",").strip(", ").split(","))
def test_lines_have_the_class_a_player_would_name(named: str) -> None:
    line, name = named.split()
    connect = (len(line) + 1) // 2
    middle = connect - 1
    line = line[:middle] + "X" + line[middle + 1 :]
    assert lookup(line, connect) == getattr(threats, name)
    assert naive(line, connect) == getattr(threats, name)


@pytest.mark.parametrize("connect", CONNECTS)
def test_a_line_read_backwards_has_the_same_class(connect: int) -> None:
    table, slots = pattern_table(Lines(connect)), 2 * (connect - 1)
    codes = np.arange(3**slots)
    reversed_codes = sum(codes // 3**slot % 3 * 3 ** (slots - 1 - slot) for slot in range(slots))
    np.testing.assert_array_equal(table, table[reversed_codes])


@pytest.mark.parametrize("connect", CONNECTS)
def test_one_more_stone_never_weakens_a_line_and_a_block_never_strengthens_it(connect: int) -> None:
    table = pattern_table(Lines(connect))
    codes = np.arange(len(table))
    for slot in range(2 * (connect - 1)):
        empty = codes[codes // 3**slot % 3 == 0]
        assert np.all(table[empty + 3**slot] >= table[empty])
        assert np.all(table[empty + 2 * 3**slot] <= table[empty])


@pytest.mark.parametrize("connect", CONNECTS)
def test_every_cell_of_games_agrees_with_the_definitions_after_every_move(connect: int) -> None:
    # Over the four connect lengths 80,000 cells, each for both colours and in four directions.
    compared = 0
    chance = np.random.default_rng(connect)
    while compared < (20_000 if KERNELS_ARE_COMPILED else 600):
        size = int(chance.integers(connect, 26))
        rules = Rules(size, connect)
        board, stones = new_threat_board(rules), np.zeros(rules.cells, dtype=np.int8)
        order = chance.permutation(rules.cells)
        for ply, cell in enumerate(order[: max(8, rules.cells // 3)].tolist()):
            stones[cell] = BLACK if ply % 2 == 0 else WHITE
            place(board, cell, int(stones[cell]))
            if ply % 5 == 0:
                taken = int(order[ply // 5])
                stones[taken] = EMPTY
                remove(board, taken)
            if ply % 8 == 7:
                expected = naive_patterns(stones, size, connect)
                np.testing.assert_array_equal(board.patterns, expected)
                for side in (0, 1):
                    assert unpack_patterns(packed_patterns(board, side, cell)) == tuple(expected[side, :, cell])
                    assert strongest_pattern(board, side, cell) == max(expected[side, :, cell])
                compared += rules.cells
        assert board.counts.sum() == 8 * np.count_nonzero(stones == EMPTY)


PLACED = [Rules(size, connect) for size in (6, 11, 25) for connect in CONNECTS]
PLACED += [Rules(9, variant=variant) for variant in Variant if variant is not Variant.FREESTYLE]


@pytest.mark.parametrize("rules", PLACED, ids=lambda rules: f"{rules.size}-{rules.connect}-{rules.variant}")
def test_placing_and_removing_in_any_order_equals_loading_afresh_in_every_symmetry(rules: Rules) -> None:
    rng = np.random.default_rng(rules.size * 10 + rules.connect)
    board, fresh = new_threat_board(rules), new_threat_board(rules)
    stones = np.zeros(rules.cells, dtype=np.int8)
    for step in range(4 * rules.cells):
        cell = int(rng.integers(rules.cells))
        if stones[cell] == EMPTY:
            stones[cell] = int(rng.choice([BLACK, WHITE]))
            place(board, cell, int(stones[cell]))
        else:
            remove(board, cell)
            stones[cell] = EMPTY
        if step % 97 == 0:
            load(fresh, stones)
            assert_same(board, fresh)
    empty, strongest = board.stones == EMPTY, board.patterns.max(axis=1)
    for side in range(2):
        counted = np.bincount(board.patterns[side][:, empty].ravel(), minlength=PATTERNS)
        np.testing.assert_array_equal(board.counts[side, OPEN_THREE:], counted[OPEN_THREE:])
    for carried in targets(rules.size):
        turned = np.empty_like(stones)
        turned[carried] = stones
        load(fresh, turned)
        assert np.array_equal(fresh.patterns.max(axis=1)[:, carried], strongest)
    for stone in np.flatnonzero(~empty):
        remove(board, int(stone))
    assert_same(board, new_threat_board(rules))
    load(board, stones)
    reset(board)
    assert_same(board, new_threat_board(rules))
    assert [colour_of(side_of(colour)) for colour in (BLACK, WHITE)] == [BLACK, WHITE]
