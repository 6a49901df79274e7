"""Fives at hand: the cells where a side wins at once, and the replies that they force."""

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.rules import is_forbidden, is_legal
from core.compiled.threats import FIVE, FOUR, THREE, ThreatBoard, colour_of, side_of
from core.rules import DIRECTIONS, EMPTY, NO_CELL


@lean_kernel
def fives_of(board: ThreatBoard, side: int) -> tuple[int, int, int]:
    """Return the number of cells that make five for `side`, and two of them, `NO_CELL` if there are fewer."""
    count, first, second = 0, NO_CELL, NO_CELL
    if board.counts[side, FIVE] > 0:
        # Passing a board to another kernel costs more than a look at a cell.
        rules, stones, patterns, colour = board.rules, board.stones, board.patterns[side], colour_of(side)
        for cell in range(len(stones)):
            strongest = max(patterns[0, cell], patterns[1, cell], patterns[2, cell], patterns[3, cell])
            if strongest == FIVE and is_legal(rules, stones, cell, colour):
                count += 1
                if count == 1:
                    first = cell
                elif count == 2:
                    second = cell
    return count, first, second


@lean_inlined_kernel
def forced_reply(board: ThreatBoard, side: int) -> tuple[int, int]:
    """Return the number of cells that `side` must occupy at once, since the opponent would win there, and one of them.

    More than one means that nothing helps; so does one that is forbidden to `side`, which counts as two. In caro a five
    that a stone at its open end prevents too forces no reply.
    """
    count, reply, _ = fives_of(board, 1 - side)
    if count > 0 and board.rules.needs_open_end is not None:
        return _firm_fives(board, 1 - side)
    if (
        count == 1
        and board.rules.has_fouls is not None
        and is_forbidden(board.rules, board.stones, reply, colour_of(side))
    ):
        count = 2
    return count, reply


@lean_kernel
def _firm_fives(board: ThreatBoard, side: int) -> tuple[int, int]:
    """Return the number of cells that make a five of `side` which only a stone there prevents, and one of them."""
    count, found = 0, NO_CELL
    for cell in range(len(board.stones)):
        fives, is_firm = 0, False
        for direction in range(4):
            if board.stones[cell] == EMPTY and board.patterns[side, direction, cell] == FIVE:
                fives += 1
                is_firm = is_firm or open_end(board, side, direction, cell) == NO_CELL
        # No stone lies at the open ends of two lines that cross elsewhere.
        if is_firm or fives > 1:
            count, found = count + 1, cell
    return count, found


@lean_kernel
def open_end(board: ThreatBoard, side: int, direction: int, cell: int) -> int:
    """Return the cell beside the five that `side` can make on `cell` where a stone encloses it, in caro alone.

    `NO_CELL` if no single stone there does.
    """
    size, colour = board.rules.size, colour_of(side)
    row_step, column_step = DIRECTIONS[direction]
    length, closed, free = 1, 0, NO_CELL
    for sign in (1, -1):
        row, column = cell // size + sign * row_step, cell % size + sign * column_step
        while 0 <= row < size and 0 <= column < size and board.stones[row * size + column] == colour:
            length += 1
            row, column = row + sign * row_step, column + sign * column_step
        if 0 <= row < size and 0 <= column < size:
            if board.stones[row * size + column] == EMPTY:
                free = row * size + column
            else:
                closed += 1
    return free if length == board.rules.connect and closed == 1 else NO_CELL


@lean_kernel
def fives_through(board: ThreatBoard, side: int, cell: int, firm: bool) -> tuple[int, int, int]:
    """Return the number of cells that make five for `side` with its stone on `cell`, and two of them, as `fives_of`.

    `firm`: in caro without those fives that a stone at an open end prevents too.
    """
    size, connect, colour = board.rules.size, board.rules.connect, colour_of(side)
    count, first, second = 0, NO_CELL, NO_CELL
    weakest = THREE if board.rules.needs_open_end is not None and not firm else FOUR
    for direction in range(4):
        if board.patterns[side, direction, cell] < weakest:
            continue
        row_step, column_step = DIRECTIONS[direction]
        for sign in (1, -1):
            row, column = cell // size, cell % size
            for _ in range(connect - 1):
                row += sign * row_step
                column += sign * column_step
                if not (0 <= row < size and 0 <= column < size):
                    break
                at = row * size + column
                stone = board.stones[at]
                if stone == EMPTY:
                    if board.patterns[side, direction, at] == FIVE and is_legal(board.rules, board.stones, at, colour):
                        if (
                            board.rules.needs_open_end is not None
                            and firm
                            and open_end(board, side, direction, at) != NO_CELL
                        ):
                            continue
                        count += 1
                        if count == 1:
                            first = at
                        elif count == 2:
                            second = at
                elif side_of(stone) != side:
                    break
    return count, first, second
