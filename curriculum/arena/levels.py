"""Nine levels to play against, from a beginner to the strongest player of the package.

Each level wins at least three games of five against the one below (docs/evaluation.md has the matches). Low levels are
people: they overlook threats and vary among sensible moves. From level 5 on it is the mentor with more and more nodes.
"""

from dataclasses import dataclass

from search.limits import Limit
from search.mentor.casual import CasualPlayer, Habits
from search.mentor.player import Mentor
from search.players import Player


@dataclass(frozen=True, slots=True)
class Level:
    """One level: a casual player's habits, or the mentor's nodes a move."""

    title: str
    """One word for a start screen."""
    strength: Habits | Limit


LEVELS = {
    1: Level("beginner", Habits(sees_four=0.97, sees_three=0.5, softness=0.8)),
    2: Level("learner", Habits(sees_four=0.99, sees_three=0.75, softness=0.5)),
    3: Level("casual", Habits(sees_three=0.95, softness=0.25)),
    4: Level("steady", Habits(looks_ahead=0.5, softness=0.15)),
    5: Level("club", Limit(nodes=100)),
    6: Level("strong", Limit(nodes=800)),
    7: Level("expert", Limit(nodes=5_000)),
    8: Level("master", Limit(nodes=50_000)),
    9: Level("best", Limit(nodes=1_000_000)),
}
"""The levels. Level 9 is the strongest player of the package that answers in a second or two."""


def level_player(level: int, *, name: str) -> Player:
    """Return the player of a level, 1 to 9."""
    strength = LEVELS[level].strength
    return CasualPlayer(strength, name=name) if isinstance(strength, Habits) else Mentor(strength, name=name)
