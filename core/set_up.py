"""Stones that are set up: moves that lead to them, so that a position is the same object everywhere."""

import random
from collections.abc import Sequence
from itertools import zip_longest

from core.position import Position
from core.rules import Cell, Rules

_TRIES = 50
"""Orders that are tried, where some end the game before its time: by a foul, or a line that grows too long to win."""


def moves_to(rules: Rules, black: Sequence[Cell], white: Sequence[Cell]) -> list[Cell]:
    """Return moves from the empty board that lead to these stones, in the given order if the game allows it.

    There are as many stones of both colours, and Black moves, or one black stone more, and White moves. Raises
    `ValueError`: for other numbers of stones, and for stones that no game leads to.
    """
    if len(black) - len(white) not in (0, 1):
        raise ValueError(
            f"{len(black)} black, {len(white)} white: there must be as many stones of both, or one black stone more"
        )
    source = random.Random(0)
    orders = [list(black), list(white)]
    for _ in range(_TRIES):
        moves = [cell for pair in zip_longest(*orders) for cell in pair if cell is not None]
        if _is_game(rules, moves):
            return moves
        for order in orders:
            source.shuffle(order)
    raise ValueError("no game leads to these stones: it would have ended before, by a line or a foul")


def _is_game(rules: Rules, moves: list[Cell]) -> bool:
    position = Position(rules)
    for cell in moves:
        if position.is_game_over():
            return False
        position.push(cell, recorded=True)
    return True
