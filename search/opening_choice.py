"""Opening rules by a player's values of positions: stones that are worth as much to either colour, and a colour.

A side that chooses by the value v for White, who is to move, gets the better colour, worth |v|. A side that leaves the
choice gets the worse colour. So nobody who goes by values adds two stones.
"""

from collections.abc import Callable, Sequence

from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell
from core.streams import Purpose, generator, stream_key

CANDIDATES = 16
"""Number of placements to compare."""
_FINALISTS = 6
"""Number of those that are compared once more, by longer searches."""
_FINAL_LENGTH = 3
"""Length of these, in searches of a move.

By `default` with 200 simulations a single comparison left 0.75 of 60 openings within 0.1 of even (by 800 simulations),
with 48 candidates no more; the second one left 0.91 of 100 with twice the length, 0.94 with three times.
"""


def drawn_stones(position: Position, opening: Opening, key: int) -> tuple[Cell, ...]:
    """Return cells of the stones that the opening still lacks, in turn, at random."""
    position, random, first = position.copy(), generator(key, Purpose.OPENING), position.ply
    while position.ply < opening.stones:
        position.push(int(random.choice([cell for cell in position.legal_moves() if opening.allows(position, cell)])))
    return tuple(position.moves[first:])


def even_stones(
    position: Position, opening: Opening, seed: int, evaluate: Callable[[Sequence[Position], int], Sequence[float]]
) -> tuple[Cell, ...]:
    """Return cells of the stones that the opening lacks: those with the value closest to 0 among some that are drawn.

    `evaluate(positions, length)` returns the values for the side to move, by searches `length` times as long as usual.
    """
    placements = sorted({drawn_stones(position, opening, stream_key(seed, number)) for number in range(CANDIDATES)})
    for length, kept in ((1, _FINALISTS), (_FINAL_LENGTH, 1)):
        values = evaluate(
            [Position.from_moves(position.rules, (*position.moves, *stones)) for stones in placements], length
        )
        ranked = sorted(zip(placements, values, strict=True), key=lambda each: abs(each[1]))
        placements = [stones for stones, _ in ranked[:kept]]
    return placements[0]


def better_colour(value: float) -> Choice:
    """Return the colour to choose, by the value for White, who is to move."""
    return Choice.WHITE if value >= 0 else Choice.BLACK
