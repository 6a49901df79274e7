"""The opening of the swap2 rule, by what a player thinks of positions.

One side puts three stones, the other takes White and plays on, or takes Black, or adds two stones and leaves the
choice. Whoever chooses by the value for the side to move gets the better colour, |v|; whoever leaves the choice to
the opponent gets what that one does not want, and so two stones are never added here.
"""

from collections.abc import Callable

from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator
from search.players import Decision

STAGES = (0, 3, 5)
"""Stones on the board when a side is asked."""
CANDIDATES = 16
"""Openings of three stones that are looked at."""


def three_stones(rules: Rules, seed: int, judge: Callable[[Position, int], float]) -> list[Cell]:
    """Three stones, black first, after which the sides are as even as in any opening looked at.

    `judge(position, left)`: the value for the side to move, where `left` openings, this one among them, are still to
    be judged.
    """
    worth: dict[tuple[Cell, ...], float] = {}
    for number in range(CANDIDATES):
        cells = generator(seed, Purpose.OPENING, number).choice(rules.cells, 3, replace=False).tolist()
        worth[tuple(cells)] = abs(judge(Position.from_moves(rules, cells), CANDIDATES - number))
    return list(min(worth.items(), key=lambda item: item[1])[0])


def swaps(decision: Decision) -> bool:
    """Whether to take the other colour rather than to play this move; `decision` is for the side to move."""
    return decision.value is not None and decision.value < 0
