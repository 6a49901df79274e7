"""The rules for kernels: the only place where compiled code asks which stone wins and which move is legal."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.renju import FEWEST, MAKES_FIVE, count_neighbours, verdict
from core.rules import BLACK, EMPTY, Rules


class CompiledRules(NamedTuple):
    """`core.rules.Rules` as kernels take them; `compile_rules` makes them."""

    size: int
    connect: int
    longest: int
    """Stones in the longest line that wins; in renju of Black, whereas any longer line of White does."""
    needs_open_end: bool | None
    """True in caro, None elsewhere; and the same in renju for fouls. None has a type of its own, so kernels for other
    rules are compiled without what these two need."""
    has_fouls: bool | None


@cache
def compile_rules(rules: Rules) -> CompiledRules:
    """Return rules as kernels take them."""
    # Few numbers, since each costs every call of a kernel that gets them.
    return CompiledRules(
        rules.size, rules.connect, rules.longest(BLACK), rules.needs_open_end or None, rules.has_fouls or None
    )


@lean_kernel
def _run(stones: NDArray[np.int8], cell: int, step: int, room: int) -> int:
    """Return the stones of `cell`'s colour that follow it without a gap, at most `room` of them."""
    colour = stones[cell]
    length = 0
    while length < room and stones[cell + (length + 1) * step] == colour:
        length += 1
    return length


@lean_kernel
def wins(rules: CompiledRules, stones: NDArray[np.int8], cell: int) -> bool:
    """Return True if the stone on `cell` is part of a line that wins. `stones`: [A]."""
    size = rules.size
    # With one division for all directions random games take half the time.
    row, column = cell // size, cell % size
    up, down, right, left = size - 1 - row, row, size - 1 - column, column
    across = _run(stones, cell, 1, right) + _run(stones, cell, -1, left)
    along = _run(stones, cell, size, up) + _run(stones, cell, -size, down)
    rising = _run(stones, cell, size + 1, min(up, right)) + _run(stones, cell, -size - 1, min(down, left))
    falling = _run(stones, cell, size - 1, min(up, left)) + _run(stones, cell, 1 - size, min(down, right))
    least, most = rules.connect - 1, rules.longest - 1
    if rules.has_fouls is not None and stones[cell] != BLACK:
        most = size
    if rules.needs_open_end is not None:
        # An enclosed row counts as one that is too short.
        across -= across == least and _is_enclosed(stones, cell, 1, right, left)
        along -= along == least and _is_enclosed(stones, cell, size, up, down)
        rising -= rising == least and _is_enclosed(stones, cell, size + 1, min(up, right), min(down, left))
        falling -= falling == least and _is_enclosed(stones, cell, size - 1, min(up, left), min(down, right))
    return bool(
        least <= across <= most or least <= along <= most or least <= rising <= most or least <= falling <= most
    )


@lean_kernel
def _is_enclosed(stones: NDArray[np.int8], cell: int, step: int, room: int, room_behind: int) -> bool:
    """Return True if the opponent's stones lie at both ends of the row through the stone on a cell."""
    ahead, behind = _run(stones, cell, step, room), _run(stones, cell, -step, room_behind)
    if ahead == room or behind == room_behind:
        return False
    return bool(
        stones[cell + (ahead + 1) * step] == -stones[cell] and stones[cell - (behind + 1) * step] == -stones[cell]
    )


@lean_kernel
def is_forbidden(rules: CompiledRules, stones: NDArray[np.int8], cell: int, to_move: int) -> bool:
    """Return True if an empty cell is forbidden to the side `to_move`. `stones`: [A]."""
    return rules.has_fouls is not None and to_move == BLACK and verdict(stones, rules.size, cell) > MAKES_FIVE


@lean_inlined_kernel
def is_legal(rules: CompiledRules, stones: NDArray[np.int8], cell: int, to_move: int) -> bool:
    """Return True if the side `to_move` may play a cell of the board. `stones`: [A]."""
    return bool(stones[cell] == EMPTY) and not (
        rules.has_fouls is not None and is_forbidden(rules, stones, cell, to_move)
    )


@lean_kernel
def has_moves(rules: CompiledRules, stones: NDArray[np.int8], to_move: int) -> bool:
    """Return True if there is a legal move for the side `to_move`. `stones`: [A]."""
    for cell in range(stones.shape[0]):  # noqa: SIM110 - numba compiles no generator inside `any`
        if is_legal(rules, stones, cell, to_move):
            return True
    return False


@lean_kernel
def write_legal(
    rules: CompiledRules,
    stones: NDArray[np.int8],
    to_move: int,
    legal: NDArray[np.bool_],
    counts: NDArray[np.int32],
) -> None:
    """Write the mask of the legal moves of the side `to_move` into `legal` [A]. `stones`: [A].

    Overwrites `counts` [A].
    """
    # Two loops, since the first one is of vector instructions.
    for cell in range(stones.shape[0]):
        legal[cell] = stones[cell] == EMPTY
    if rules.has_fouls is not None and to_move == BLACK:
        # Most cells have too few stones around for a verdict, which takes the time.
        count_neighbours(stones, rules.size, counts)
        for cell in range(stones.shape[0]):
            if legal[cell] and counts[cell] >= FEWEST:
                legal[cell] = not is_forbidden(rules, stones, cell, to_move)


@lean_kernel
def _write_each(
    rules: CompiledRules,
    stones: NDArray[np.int8],
    to_move: NDArray[np.int8],
    legal: NDArray[np.bool_],
    counts: NDArray[np.int32],
) -> None:
    for row in range(stones.shape[0]):
        write_legal(rules, stones[row], to_move[row], legal[row], counts)


def legal_masks(rules: CompiledRules, stones: NDArray[np.int8], to_move: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return the masks [B, A] of the legal moves of positions. `stones`: [B, A], `to_move`: [B]."""
    legal = np.empty(stones.shape, dtype=np.bool_)
    counts = np.empty(stones.shape[1], dtype=np.int32)
    _write_each(rules, np.ascontiguousarray(stones), np.ascontiguousarray(to_move), legal, counts)
    return legal
