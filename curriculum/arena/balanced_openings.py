"""Balanced openings: starts of games with a value near 0, found by a search.

They are random stones near each other. A start is kept if no side can make a four at once and all evaluators find it
even: short searches, long ones, and, if asked for, games that are played from it.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.threats import FOUR, ThreatBoard, load, new_threat_board
from core.position import Position
from core.rules import Cell, Rules
from core.streams import Purpose, generator, stream_key
from curriculum.arena.opening_sets import canonical
from curriculum.arena.players import PlayerSettings, model_path, parse_player
from curriculum.games.mentor_games import random_opening
from curriculum.reporting import Context
from search.limit import Limit
from search.players import Decision, Player, Stop, never
from search.tree.settings import Policy

_EVALUATED_AT_ONCE = 128
"""Starts in a batch of evaluations, or games from them."""
_MAX_FRUITLESS = 2048
"""Starts without a balanced one before the search gives up."""
SHORT_SEARCH = 16
"""The first evaluation of a player with a net takes one of this many simulations."""
_DRAWN_STONES = 6
"""The first moves of a game from an opening that are drawn, so that its games differ."""
GAME_SEARCH = 8
"""A move of the games from an opening takes one of this many simulations."""


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
    so the cheapest comes first (see `stages`). Even is a value between `-max_value` and `max_value`.

    Raises `NoBalancedOpeningsError` after many starts without an opening and for an evaluator without values,
    `Interrupted` if the context stops it.
    """
    board = new_threat_board(rules)
    seen: set[tuple[tuple[int, int], ...]] = set()
    games = max((each.games for each in evaluators if isinstance(each, PlayedOut)), default=1)
    at_once = max(1, _EVALUATED_AT_ONCE // games)
    fruitless = 0
    for_black: list[BalancedOpening] = []
    for_white: list[BalancedOpening] = []
    for first in itertools.count(0, at_once):
        context.check()
        starts: dict[int, Position] = {}
        for number in range(first, first + at_once):
            start = random_opening(rules, stones, generator(seed, Purpose.OPENING, number))
            key = tuple(canonical(start.moves, rules.size))
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
        fruitless = 0 if found else fruitless + at_once
        if fruitless >= _MAX_FRUITLESS:
            raise NoBalancedOpeningsError(
                f"the last {fruitless:,} random starts gave no new one; allow a larger value or other numbers of stones"
            )


class PlayedOut(Player):
    """Evaluates a position by games of a player against itself: its value is their mean result.

    `games`: of a position, at least 1. The player draws moves, or all of them are one game.
    """

    def __init__(self, player: Player, games: int) -> None:
        self.name, self._player, self.games = player.name, player, games

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. The move is the first one of the first game; after a stop the values say nothing."""
        boards = [position.copy() for position in positions for _ in range(self.games)]
        keys = [stream_key(seed, game) for seed in seeds for game in range(self.games)]
        running = list(zip(boards, keys, strict=True))
        while running and not stop():
            decisions = self._player.choose_batch(
                [board for board, _ in running],
                seeds=[stream_key(key, Purpose.MOVE, board.ply) for board, key in running],
                limit=limit,
                stop=stop,
            )
            for (board, _), decision in zip(running, decisions, strict=True):
                board.push(decision.move)
            running = [(board, key) for board, key in running if not board.is_game_over()]
        played = [boards[first : first + self.games] for first in range(0, len(boards), self.games)]
        return [
            Decision(
                games[0].moves[position.ply],
                value=position.side_to_move * sum(_result(board) for board in games) / self.games,
            )
            for position, games in zip(positions, played, strict=True)
        ]


def _result(board: Position) -> int:
    """Return 1 if Black has won, -1 if White has, and 0 else."""
    outcome = board.outcome()
    return 0 if outcome is None or outcome.winner is None else outcome.winner


def stages(spec: str, *, rules: Rules, settings: PlayerSettings, games: int = 0, stones: int = 0) -> list[Player]:
    """Return the evaluators of openings: a short search of a net, the full search, and `games` games of an opening.

    Only players with a net search briefly first. The games are drawn until some moves after `stones`, the largest
    number of an opening.

    Raises the errors of `parse_player`.
    """
    evaluators = [settings]
    if model_path(spec) is not None and settings.simulations is not None:
        evaluators.insert(0, replace(settings, simulations=max(1, settings.simulations // SHORT_SEARCH)))
    players = [parse_player(spec, rules=rules, settings=each) for each in evaluators]
    if games:
        drawing = replace(
            settings,
            simulations=settings.simulations and max(1, settings.simulations // GAME_SEARCH),
            policy=Policy.SEMI_STOCHASTIC,
            switch_stage=stones + _DRAWN_STONES,
        )
        players.append(PlayedOut(parse_player(spec, rules=rules, settings=drawing), games))
    return players


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


def _is_quiet(board: ThreatBoard, stones: NDArray[np.int8]) -> bool:
    """Return True if neither side can make a four, or more, at once."""
    load(board, stones)
    return not board.counts[:, FOUR:].any()
