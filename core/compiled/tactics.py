"""Right moves of simple positions by brute force: slow, and easy to verify."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel
from core.compiled.rules import CompiledRules, is_legal, wins
from core.rules import EMPTY

# The tactic that decides a position, in order of precedence.
WIN = 1
"""The side to move can make a line at once."""
STOP_WIN = 2
"""The opponent would make a line at once."""
DOUBLE_THREAT = 3
"""The side to move can threaten two lines at once."""
QUIET = 4
"""None of these: right moves keep the opponent from threatening two lines at once."""


@kernel
def immediate_wins(rules: CompiledRules, stones: NDArray[np.int8], colour: int, marks: NDArray[np.bool_]) -> int:
    """Mark in `marks` [A] the cells where a stone of `colour` wins at once; return their number. `stones`: [A]."""
    count = 0
    for cell in range(stones.shape[0]):
        marks[cell] = False
        if is_legal(rules, stones, cell, colour):
            stones[cell] = colour
            if wins(rules, stones, cell):
                marks[cell] = True
                count += 1
            stones[cell] = EMPTY
    return count


@kernel
def threatens_two(rules: CompiledRules, stones: NDArray[np.int8], colour: int, cell: int) -> bool:
    """Return True if a stone of `colour` on the empty `cell` gives it two or more cells that make a line."""
    marks = np.empty(stones.shape[0], dtype=np.bool_)
    stones[cell] = colour
    count = immediate_wins(rules, stones, colour, marks)
    stones[cell] = EMPTY
    return count >= 2


@kernel
def keeps_safe(rules: CompiledRules, stones: NDArray[np.int8], colour: int, cell: int) -> bool:
    """Return True if no reply to `colour` on the empty `cell` threatens two lines at once."""
    stones[cell] = colour
    safe = True
    for reply in range(stones.shape[0]):
        if is_legal(rules, stones, reply, -colour) and threatens_two(rules, stones, -colour, reply):
            safe = False
            break
    stones[cell] = EMPTY
    return safe


@kernel
def deciding_tactic(rules: CompiledRules, stones: NDArray[np.int8], colour: int) -> int:
    """Return the tactic that decides the position [A] for `colour` to move, `QUIET` if none does."""
    marks = np.empty(stones.shape[0], dtype=np.bool_)
    if immediate_wins(rules, stones, colour, marks) > 0:
        return WIN
    if immediate_wins(rules, stones, -colour, marks) > 0:
        return STOP_WIN
    for cell in range(stones.shape[0]):
        if is_legal(rules, stones, cell, colour) and threatens_two(rules, stones, colour, cell):
            return DOUBLE_THREAT
    return QUIET


@kernel
def is_right(rules: CompiledRules, stones: NDArray[np.int8], colour: int, cell: int, tactic: int) -> bool:
    """Return True if the empty `cell` is a right move for `colour` under the tactic of `deciding_tactic`.

    Against two winning cells no move helps; each of them counts as right.
    """
    if tactic == QUIET:
        return keeps_safe(rules, stones, colour, cell)
    if tactic == DOUBLE_THREAT:
        return threatens_two(rules, stones, colour, cell)
    if not is_legal(rules, stones, cell, colour):
        return False
    winner = colour if tactic == WIN else -colour
    stones[cell] = winner
    right = wins(rules, stones, cell)
    stones[cell] = EMPTY
    return right
