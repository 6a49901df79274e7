"""Opening rules by a player's values of positions: stones that are worth as much to either colour, and a colour.

A side that chooses by the value v for White, who is to move, gets the better colour, worth |v|. A side that leaves the
choice gets the worse colour. So nobody who goes by values adds two stones.
"""

from collections.abc import Callable, Sequence

from core.opening_rules import Choice
from core.position import Position
from core.rules import Cell
from core.streams import Purpose, generator

CANDIDATES = 16
"""Number of placements to compare."""


def even_stones(
    position: Position, count: int, seed: int, evaluate: Callable[[Sequence[Position]], Sequence[float]]
) -> tuple[Cell, ...]:
    """Return cells of `count` stones, in turn: those with the value closest to 0 among some that are drawn.

    `evaluate` returns the values of positions for the side to move.
    """
    cells = position.legal_moves()
    drawn = {
        tuple(generator(seed, Purpose.OPENING, number).choice(cells, count, replace=False).tolist())
        for number in range(CANDIDATES)
    }
    placements = sorted(drawn)
    values = evaluate([Position.from_moves(position.rules, (*position.moves, *stones)) for stones in placements])
    return min(zip(placements, values, strict=True), key=lambda each: abs(each[1]))[0]


def better_colour(value: float) -> Choice:
    """Return the colour to choose, by the value for White, who is to move."""
    return Choice.WHITE if value >= 0 else Choice.BLACK
