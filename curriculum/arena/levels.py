"""Nine levels to play against, from a beginner to the strongest player of the package.

Levels 1 to 8 are people: they overlook threats, vary among sensible moves, and from level 7 on look ahead at more and
more moves. The steps are even to people who blunder: no scripted beginner (tests/curriculum/arena/test_beginners.py)
loses more than about a quarter of the points from one level to the next, and each level wins at least three games of
five against the one below (docs/evaluation.md). At the top plays the built-in model.
"""

from dataclasses import dataclass

from search.limit import Limit
from search.mentor.casual import Habits


@dataclass(frozen=True, slots=True)
class ByModel:
    """The strength of a level that the built-in model plays."""

    simulations: int
    elsewhere: Limit
    """The mentor's nodes a move on boards that the model does not play."""


LEVELS: dict[int, Habits | ByModel] = {
    1: Habits(sees_four=0.97, sees_three=0.5, softness=0.8),
    2: Habits(sees_four=0.98, sees_three=0.63, softness=0.65),
    3: Habits(sees_four=0.99, sees_three=0.73, softness=0.53),
    4: Habits(sees_four=0.99, sees_three=0.81, softness=0.42),
    5: Habits(sees_four=0.995, sees_three=0.88, softness=0.34),
    6: Habits(sees_three=0.95, softness=0.25),
    7: Habits(sees_three=0.98, softness=0.2, looks_ahead=0.2),
    8: Habits(softness=0.1, looks_ahead=0.75, nodes=800),
    9: ByModel(simulations=30_000, elsewhere=Limit(nodes=1_000_000)),
}
"""The habits of a casual player, or the strength of the built-in model.

Level 9 is the strongest player of the package, and answers in about half a second on 2 cores.
"""
