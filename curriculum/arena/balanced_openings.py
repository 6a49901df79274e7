"""Balanced openings: starts of games with a value near 0, found by a search.

They are random stones near each other. A start is kept if no side can make a four at once and all evaluators find it
even.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.symmetry import sources
from core.compiled.threats import FOUR, ThreatBoard, load, new_threat_board
from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.arena.players import PlayerSettings, model_path, parse_player
from curriculum.games.mentor_games import random_opening
from curriculum.reporting import Context
from search.players import Player

_DRAWN_AT_ONCE = 128
"""Starts in a batch of evaluations."""
_MAX_FRUITLESS = 16
"""Batches without a balanced start before the search gives up."""
SHORT_SEARCH = 16
"""The first evaluation of a player with a net takes one of this many simulations."""


class NoBalancedOpeningsError(ValueError):
    """No balanced openings can be found under the given conditions; the message says why."""


@dataclass(frozen=True, slots=True)
class BalancedOpening:
    """A start of games."""

    moves: tuple[Cell, ...]
    value: float
    """Expected result for the side to move, -1 to 1, by the last evaluator."""


def balanced_openings(
    rules: Rules,
    evaluators: Sequence[Player],
    *,
    stones: tuple[int, int],
    max_value: float,
    seed: int,
    context: Context,
) -> Iterator[list[BalancedOpening]]:
    """Yield openings without end, a batch at a time; equal arguments give equal openings.

    No two are equal under the eight symmetries. Openings with a value other than 0 come in pairs, one that favours
    Black before one that favours White: far more random starts favour Black, also among the even ones.

    `stones`: smallest and largest number. `evaluators`: each evaluates the starts that the ones before it found even,
    so the cheapest comes first (see `two_stages`). Even is a value between `-max_value` and `max_value`.

    Raises `NoBalancedOpeningsError` after many starts without an opening and for an evaluator without values,
    `Interrupted` if the context stops it.
    """
    board = new_threat_board(rules)
    seen: set[bytes] = set()
    fruitless = 0
    for_black: list[BalancedOpening] = []
    for_white: list[BalancedOpening] = []
    for first in itertools.count(0, _DRAWN_AT_ONCE):
        context.check()
        starts: dict[int, Position] = {}
        for number in range(first, first + _DRAWN_AT_ONCE):
            start = random_opening(rules, stones, generator(seed, Purpose.OPENING, number))
            key = _canonical(start)
            if key not in seen and _is_quiet(board, stones_of(start)):
                starts[number] = start
            seen.add(key)
        values: dict[int, float] = {}
        for evaluator in evaluators:
            values = _values(evaluator, starts, seed, context)
            starts = {number: starts[number] for number, value in values.items() if abs(value) <= max_value}
        found: list[BalancedOpening] = []
        for number, start in starts.items():
            opening = BalancedOpening(tuple(start.moves), values[number])
            for_black_value = opening.value * start.side_to_move
            (for_black if for_black_value > 0 else for_white if for_black_value < 0 else found).append(opening)
        for pair in zip(for_black, for_white, strict=False):
            found += pair
        pairs = min(len(for_black), len(for_white))
        del for_black[:pairs], for_white[:pairs]
        yield found
        fruitless = 0 if found else fruitless + 1
        if fruitless == _MAX_FRUITLESS:
            drawn = _MAX_FRUITLESS * _DRAWN_AT_ONCE
            raise NoBalancedOpeningsError(
                f"the last {drawn:,} random starts gave no new one; allow a larger value or other numbers of stones"
            )


def two_stages(spec: str, *, rules: Rules, settings: PlayerSettings) -> list[Player]:
    """Return the evaluators of openings: a player with a net searches briefly first and in full then, others only once.

    Raises the errors of `parse_player`.
    """
    stages = [settings]
    if model_path(spec) is not None and settings.simulations is not None:
        stages.insert(0, replace(settings, simulations=max(1, settings.simulations // SHORT_SEARCH)))
    return [parse_player(spec, rules=rules, settings=stage) for stage in stages]


def _values(evaluator: Player, starts: dict[int, Position], seed: int, context: Context) -> dict[int, float]:
    """Return the evaluator's value of each start, from the side to move."""
    if not starts:
        return {}
    seeds = [stream_key(seed, Purpose.OPENING, number) for number in starts]
    decisions = evaluator.choose_batch(list(starts.values()), seeds=seeds, stop=context.stop)
    context.check()  # an interrupted search is no evaluation
    values = {number: decision.value for number, decision in zip(starts, decisions, strict=True)}
    known = {number: value for number, value in values.items() if value is not None}
    if len(known) < len(values):
        raise NoBalancedOpeningsError(f"{evaluator.name} does not evaluate positions")
    return known


def _canonical(position: Position) -> bytes:
    """Return a key that is equal for positions with equal stones under the eight symmetries."""
    views: NDArray[np.int8] = stones_of(position)[sources(position.rules.size)]
    return min(bytes(view) for view in views)


def _is_quiet(board: ThreatBoard, stones: NDArray[np.int8]) -> bool:
    """Return True if neither side can make a four, or more, at once."""
    load(board, stones)
    return not board.counts[:, FOUR:].any()
