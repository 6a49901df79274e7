"""The opening of the swap2 rule, chosen by a player's values of positions.

The first side places three stones. The second side keeps White and plays on, or takes Black, or adds two stones and
leaves the choice to the first. A side that chooses by the value v for the side to move gets the better colour, worth
|v|. A side that leaves the choice gets the worse colour. So this engine never adds two stones.
"""

from collections.abc import Callable

from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator
from search.players import Decision

STAGES = (0, 3, 5)
"""Numbers of stones on the board at which a side is to choose."""
CANDIDATES = 16
"""Number of openings of three stones to compare."""


def three_stones(rules: Rules, seed: int, evaluate: Callable[[Position, int], float]) -> list[Cell]:
    """Return three stones, black first: the opening with the value closest to 0 among the candidates.

    `evaluate(position, left)` returns the value for the side to move; `left` is the number of candidates without a
    value yet, this one included.
    """
    values: dict[tuple[Cell, ...], float] = {}
    for number in range(CANDIDATES):
        cells = generator(seed, Purpose.OPENING, number).choice(rules.cells, 3, replace=False).tolist()
        values[tuple(cells)] = abs(evaluate(Position.from_moves(rules, cells), CANDIDATES - number))
    return list(min(values.items(), key=lambda item: item[1])[0])


def swaps(decision: Decision) -> bool:
    """Return True if the other colour is better than this decision, which is for the side to move."""
    return decision.value is not None and decision.value < 0
