"""Openings that are worth as much to Black as to White, found by a search: what matches start from.

Random stones near each other are drawn, and those kept over which nothing is decided yet: nobody can make a four at
once, and all judges find them even.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator, stream_key
from core.symmetry import sources
from core.threats import FOUR, ThreatBoard, load, new_threat_board
from curriculum.games.mentor_games import random_opening
from curriculum.reporting import Conduct
from search.players import Player

_DRAWN_AT_ONCE = 128
"""Starts drawn before they are judged, side by side."""
_PATIENCE = 16
"""Draws of `_DRAWN_AT_ONCE` without a balanced start after which there are taken to be none."""


class NoBalancedOpeningsError(ValueError):
    """Balanced openings cannot be found as asked; says why."""


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """Where a game may start."""

    moves: tuple[Cell, ...]
    value: float
    """Expected result for the side to move, -1 to 1, as the last judge found it."""


def balanced_openings(
    rules: Rules,
    judges: Sequence[Player],
    *,
    stones: tuple[int, int],
    max_value: float,
    seed: int,
    conduct: Conduct,
) -> Iterator[list[BalancedOpening]]:
    """Openings without end, as many at a time as are found together; equal arguments give equal openings.

    No two are equal under the eight symmetries. Where they are not worth the same they come in pairs, one that leans to
    Black before one that leans to White: far more random starts are good for Black, and so would most of those be that
    pass for even.

    `stones`: fewest and most. `judges`: each is asked about what the ones before it found even, so the cheapest comes
    first. Even is a value of at most `max_value` for the side to move, and of no less than its negative.

    Raises `NoBalancedOpeningsError` where none turn up any more or a judge has no opinion, `Interrupted` when the
    conduct says stop.
    """
    board = new_threat_board(rules)
    seen: set[bytes] = set()
    fruitless = 0
    for_black: list[BalancedOpening] = []
    for_white: list[BalancedOpening] = []
    for first in itertools.count(0, _DRAWN_AT_ONCE):
        conduct.check()
        starts: dict[int, Position] = {}
        for number in range(first, first + _DRAWN_AT_ONCE):
            start = random_opening(rules, stones, generator(seed, Purpose.OPENING, number))
            key = _canonical(start)
            if key not in seen and _is_quiet(board, start.stones):
                starts[number] = start
            seen.add(key)
        values: dict[int, float] = {}
        for judge in judges:
            values = _values(judge, starts, seed, conduct)
            starts = {number: starts[number] for number, value in values.items() if abs(value) <= max_value}
        found: list[BalancedOpening] = []
        for number, start in starts.items():
            opening = BalancedOpening(tuple(start.moves), values[number])
            leaning = opening.value * start.side_to_move
            (for_black if leaning > 0 else for_white if leaning < 0 else found).append(opening)
        for pair in zip(for_black, for_white, strict=False):
            found += pair
        pairs = min(len(for_black), len(for_white))
        del for_black[:pairs], for_white[:pairs]
        yield found
        fruitless = 0 if found else fruitless + 1
        if fruitless == _PATIENCE:
            drawn = _PATIENCE * _DRAWN_AT_ONCE
            raise NoBalancedOpeningsError(
                f"the last {drawn:,} random starts gave no new one; allow a larger value or other numbers of stones"
            )


def _values(judge: Player, starts: dict[int, Position], seed: int, conduct: Conduct) -> dict[int, float]:
    """The judge's value of each start for its side to move."""
    if not starts:
        return {}
    seeds = [stream_key(seed, Purpose.OPENING, number) for number in starts]
    decisions = judge.choose_batch(list(starts.values()), seeds=seeds, stop=conduct.stop)
    conduct.check()  # what was cut short is no judgement
    values = {number: decision.value for number, decision in zip(starts, decisions, strict=True)}
    known = {number: value for number, value in values.items() if value is not None}
    if len(known) < len(values):
        raise NoBalancedOpeningsError(f"{judge.name} has no opinion on who is ahead")
    return known


def _canonical(position: Position) -> bytes:
    """What positions share that are equal under the eight symmetries, in whatever order their stones came."""
    views: NDArray[np.int8] = position.stones[sources(position.rules.size)]
    return min(bytes(view) for view in views)


def _is_quiet(board: ThreatBoard, stones: NDArray[np.int8]) -> bool:
    """Whether neither side can make a four, or more, at once."""
    load(board, stones)
    return not board.counts[:, FOUR:].any()
