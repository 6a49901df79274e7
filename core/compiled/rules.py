"""The rules for kernels: the only place where compiled code asks which stone wins and which move is legal."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.rules import EMPTY, Rules


class CompiledRules(NamedTuple):
    """`core.rules.Rules` as kernels take them; `compile_rules` makes them."""

    size: int
    connect: int
    longest: int


@cache
def compile_rules(rules: Rules) -> CompiledRules:
    """Return rules as kernels take them."""
    return CompiledRules(rules.size, rules.connect, rules.longest)


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
    return bool(
        (least <= across <= most) or (least <= along <= most) or (least <= rising <= most) or (least <= falling <= most)
    )


@lean_inlined_kernel
def is_legal(rules: CompiledRules, stones: NDArray[np.int8], cell: int, to_move: int) -> bool:
    """Return True if the side `to_move` may play a cell of the board. `stones`: [A]."""
    return bool(stones[cell] == EMPTY)


@lean_kernel
def has_moves(rules: CompiledRules, stones: NDArray[np.int8], to_move: int) -> bool:
    """Return True if there is a legal move for the side `to_move`. `stones`: [A]."""
    for cell in range(stones.shape[0]):  # noqa: SIM110 - numba compiles no generator inside `any`
        if is_legal(rules, stones, cell, to_move):
            return True
    return False


@lean_kernel
def write_legal(rules: CompiledRules, stones: NDArray[np.int8], to_move: int, legal: NDArray[np.bool_]) -> None:
    """Write the mask of the legal moves of the side `to_move` into `legal` [A]. `stones`: [A]."""
    for cell in range(stones.shape[0]):
        legal[cell] = is_legal(rules, stones, cell, to_move)


@lean_kernel
def _write_each(
    rules: CompiledRules, stones: NDArray[np.int8], to_move: NDArray[np.int8], legal: NDArray[np.bool_]
) -> None:
    for row in range(stones.shape[0]):
        write_legal(rules, stones[row], to_move[row], legal[row])


def legal_masks(rules: CompiledRules, stones: NDArray[np.int8], to_move: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return the masks [B, A] of the legal moves of positions. `stones`: [B, A], `to_move`: [B]."""
    legal = np.empty(stones.shape, dtype=np.bool_)
    _write_each(rules, np.ascontiguousarray(stones), np.ascontiguousarray(to_move), legal)
    return legal
