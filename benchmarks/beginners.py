"""Scores of scripted beginners against the levels: `python -m benchmarks.beginners`.

A scripted beginner is a person who learns the game, in a few rules. It completes its five and makes an open four of its
open three; it blocks a four and an open three of the opponent, unless it overlooks them; else it extends its longest
line, or stops the opponent's. It never looks a move ahead, so it falls for every double threat. `--overlooks` is the
probability that it overlooks an open three; a four it overlooks a quarter as often. Games start from the empty board,
with both colours in turn. A table of scores with 95 % intervals (Wilson) is printed, and the largest step between
neighbouring levels, unless both scores are above 90 % or both below 10 %.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.measuring import parser_of, show
from core.compiled import stones_of
from core.compiled.threats import FIVE, OPEN_FOUR, OPEN_THREE, OPEN_TWO, TWO, load, new_threat_board, side_of
from core.position import Position
from core.rules import EMPTY, Rules
from core.streams import Purpose, generator
from curriculum.arena import player_names
from curriculum.arena.fixtures import fixtures
from curriculum.arena.formats import Format
from curriculum.arena.players import PlayerSettings, parse_player
from curriculum.arena.tournament import play_tournament
from curriculum.reporting import Context
from search.mentor.player import centre
from search.players import Decision
from tests.support.players import OneByOne

_OVERLOOKS = (0.6, 0.4, 0.25, 0.1, 0.0)
_FOURS = 0.25
"""Share of the open threes that it overlooks at which it overlooks fours."""
_DEFENDS = 0.35
"""Share of its quiet moves that stop the opponent's longest line."""
_SURE = (0.1, 0.9)
"""Scores below and above which a step says little."""


class Beginner(OneByOne):
    """A scripted beginner, which overlooks threats with a probability."""

    def __init__(self, overlooks: float) -> None:
        self.name = f"beginner, overlooks {overlooks:.0%}"
        self.overlooks = overlooks

    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        """See `OneByOne`."""
        if not position.moves:
            return Decision(centre(position.rules))
        chance = generator(seed, Purpose.MOVE)
        board = new_threat_board(position.rules)
        load(board, stones_of(position))
        classes = board.patterns.max(axis=1)
        classes[:, stones_of(position) != EMPTY] = 0
        own, other = classes[side_of(position.side_to_move)], classes[side_of(-position.side_to_move)]
        sees_four, sees_three = (chance.random(2) >= (_FOURS * self.overlooks, self.overlooks)).tolist()
        wanted = ((own, FIVE), *([(other, FIVE)] * sees_four), (own, OPEN_FOUR), *([(other, OPEN_FOUR)] * sees_three))
        sides = (other, own) if chance.random() < _DEFENDS else (own, other)
        quiet = [(side, kind) for kind in (OPEN_THREE, OPEN_TWO, TWO) for side in sides]
        for side, kind in (*wanted, *quiet):
            cells = np.flatnonzero(side == kind)
            if len(cells):
                return Decision(int(chance.choice(cells)))
        return Decision(int(chance.choice(position.legal_moves())))


def scores(overlooks: float, levels: Sequence[str], games: int, seed: int) -> dict[str, tuple[float, float, float]]:
    """Return a beginner's score against each level, with the ends of its interval."""
    rules = Rules()
    players = [Beginner(overlooks), *(parse_player(name, rules=rules, settings=PlayerSettings()) for name in levels)]
    schedule = fixtures(len(players), games, openings=[()], seed=seed, form=Format.GAUNTLET)
    tournament = play_tournament(players, schedule, rules=rules, context=Context(), on_threads=1)
    found = {}
    for (_, other), match in tournament.matches.items():
        found[levels[other - 1]] = (match.total.score, *_interval(match.total.score, games))
    return found


def _interval(score: float, games: int) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    z = 1.96
    middle = (score + z * z / (2 * games)) / (1 + z * z / games)
    half = z * math.sqrt(score * (1 - score) / games + z * z / (4 * games * games)) / (1 + z * z / games)
    return max(0.0, middle - half), min(1.0, middle + half)


def largest_step(shares: Sequence[float]) -> float:
    """Return the largest difference between neighbours, unless both are above 90 % or both below 10 %."""
    low, high = _SURE
    steps = [abs(one - two) for one, two in pairwise(shares) if max(one, two) >= low and min(one, two) <= high]
    return max(steps, default=0.0)


def main() -> None:
    """Measure and print a row for each beginner."""
    parser = parser_of(__doc__)
    parser.add_argument("--overlooks", type=float, nargs="+", default=_OVERLOOKS, help="one beginner for each")
    parser.add_argument("--levels", type=int, nargs="+", default=range(1, len(player_names.LEVELS) + 1))
    parser.add_argument("--games", type=int, default=100, help="against each level")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    levels = [player_names.LEVELS[level - 1] for level in arguments.levels]

    def rows() -> Iterator[dict[str, Any]]:
        for overlooks in arguments.overlooks:
            found = scores(overlooks, levels, arguments.games, arguments.seed)
            yield {
                "overlooks": overlooks,
                **{name: f"{s:.2f} ({low:.2f} to {high:.2f})" for name, (s, low, high) in found.items()},
                "largest step": largest_step([score for score, _, _ in found.values()]),
            }

    show(rows(), arguments.json)


if __name__ == "__main__":
    main()
