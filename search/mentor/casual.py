"""A casual player: it plays by the patterns at a glance, overlooks some threats, and varies among sensible moves.

It is made for people who learn the game. It looks no move ahead, so it misses every combination, but a line of four it
nearly always sees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from core.compiled import legal_moves_of, near_stones, stones_of
from core.compiled.threats import FIVE, OPEN_FOUR, OPEN_TWO, load, new_threat_board
from core.position import Position
from core.rules import BLACK
from core.setting_bounds import POSITIVE, SHARE, check_settings
from core.streams import Purpose, generator
from search.limit import Limit
from search.mentor.player import Mentor, centre
from search.players import Decision, Player, Stop, decide_each, never

_WEIGHTS = (0.0, 1.0, 4.0, 5.0, 22.0, 45.0, 1e4, 1e8)
"""[PATTERNS] weight of a cell by each pattern that a stone of either side makes there, from none to a five."""
_OWN, _OTHER = 5.0, 4.0
"""Weights of a side's own patterns and of those that it spoils."""
_URGENT = 1e4
"""Weight from which a cell decides the game, so that nothing else is considered."""
_SAME_KIND = 0.9
"""Share of the best weight that an equally urgent cell has: one's own five comes before the opponent's."""
_REACH = 2
"""Rows and columns between a sensible move and the nearest stone at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """Habits of a casual player. Raises `ValueError` for a number out of range."""

    sees_four: Annotated[float, SHARE] = 1.0
    """Probability that it sees a line of four: its own, which wins, or the opponent's, which it must stop."""
    sees_three: Annotated[float, SHARE] = 1.0
    """The same for an open three: its own, of which it makes an open four, or the opponent's."""
    softness: Annotated[float, POSITIVE] = 0.1
    """Temperature of the choice among quiet moves by their weights: near 0 it plays the best, at 1 in proportion."""
    looks_ahead: Annotated[float, SHARE] = 0.0
    """Probability that a move comes from a search of `nodes` instead."""
    nodes: Annotated[int, POSITIVE] = 100
    """Nodes of that search, the mentor's."""

    def __post_init__(self) -> None:
        check_settings(self)


class CasualPlayer(Player):
    """Plays by `Habits`, on any board; the position and the seed decide the move."""

    compiles = True

    def __init__(self, habits: Habits, *, name: str = "casual") -> None:
        self.name = name
        self.habits = habits
        self._mentor = Mentor(Limit(nodes=habits.nodes), threads=1)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. `limit` and `stop` have no effect."""
        return decide_each(self._decide, positions, seeds)

    def _decide(self, position: Position, seed: int) -> Decision:
        chance = generator(seed, Purpose.MENTOR)
        looks = chance.random() < self.habits.looks_ahead
        sees_four, sees_three = chance.random(2) < (self.habits.sees_four, self.habits.sees_three)
        if looks and position.moves:
            return self._mentor.choose(position, seed=seed)
        policy = self._policy(position, bool(sees_four), bool(sees_three))
        return Decision(int(chance.choice(len(policy), p=policy)), policy=policy.astype(np.float32))

    def _policy(self, position: Position, sees_four: bool, sees_three: bool) -> NDArray[np.float64]:
        """Return the distribution of the move: [A]."""
        rules = position.rules
        policy = np.zeros(rules.cells)
        if not position.moves:
            policy[centre(rules)] = 1.0
            return policy
        board = new_threat_board(rules)
        load(board, stones_of(position))
        by_pattern = np.array(_WEIGHTS)
        if not sees_four:
            by_pattern[FIVE] = _WEIGHTS[OPEN_TWO]
        if not sees_three:
            by_pattern[OPEN_FOUR] = _WEIGHTS[OPEN_TWO]
        own, other = by_pattern[board.patterns].sum(axis=1)[:: position.side_to_move * BLACK]
        legal = legal_moves_of(position)
        sensible = legal & near_stones(position, _REACH)
        if not sensible.any():
            sensible = legal
        weights = np.where(sensible, _OWN * own + _OTHER * other + 1.0, 0.0)
        best = weights.max()
        if best >= _URGENT:
            policy[weights >= _SAME_KIND * best] = 1.0
        else:
            policy[:] = (weights / best) ** (1.0 / self.habits.softness)
        policy /= policy.sum()
        return policy
