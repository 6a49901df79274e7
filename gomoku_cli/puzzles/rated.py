"""Rated puzzles: the task of a position, its difficulty, and the daily set."""

import hashlib
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.notation import cell_name
from core.rules import Rules
from curriculum.arena.suite import Puzzle

LEVELS = 6
_FIRST_LEVEL, _LEVEL_STEP = 900, 200
"""Rating at which level 1 ends, and that of each level after it."""
_RATINGS = {
    "win-in-1": 700,
    "block": 800,
    "four-four": 950,
    "no-five": 950,
    "four-three": 1050,
    "three-three": 1200,
    "foul-trap": 1200,
    "foul-net": 1350,
    "only-defence": 1550,
}
"""Rating of each kind with one right answer. Wins by fours are rated by their number; other kinds are 1200."""
_PER_ANSWER, _MOST_ANSWERS = 40, 4
"""Each further right answer makes a puzzle so much easier, up to this number."""
_GOALS = {
    "win-in-1": "Win at once",
    "four": "Win by fours",
    "no-five": "Win by fours",
    "foul": "Win by fours",
    "three-three": "Win by threats",
    "long-win": "Win by threats",
}


@dataclass(frozen=True)
class RatedPuzzle:
    """A puzzle with the rules of its board."""

    puzzle: Puzzle
    rules: Rules

    @cached_property
    def key(self) -> str:
        """The name of the position in the player's progress, equal in all files."""
        return hashlib.sha256(f"{self.rules} {self.puzzle.moves}".encode()).hexdigest()[:16]

    @cached_property
    def rating(self) -> int:
        """The difficulty, on the scale of the player's rating."""
        kind = self.puzzle.kind
        fours = re.match(r"fours-(\d+)", kind)
        rating = min(900 + 150 * int(fours[1]), 2000) if fours else _RATINGS.get(kind, 1200)
        return rating - _PER_ANSWER * (min(len(self.puzzle.answers), _MOST_ANSWERS) - 1)

    @property
    def level(self) -> int:
        """The level, 1 to `LEVELS`."""
        return level_of(self.rating)

    @property
    def is_defence(self) -> bool:
        """True for a task that is done with its first move."""
        return self.puzzle.kind == "block" or self.puzzle.kind.endswith("defence")

    @property
    def goal(self) -> str:
        """The task in a few words, without the trick of its kind."""
        if self.is_defence:
            return "Find the only move" if len(self.puzzle.answers) == 1 else "Defend"
        kind = self.puzzle.kind
        return next((goal for start, goal in _GOALS.items() if kind.startswith(start)), "Find the best move")

    def name_of(self, cell: int) -> str:
        """Return the name of a cell."""
        return cell_name(cell, self.rules.size)


def level_of(rating: float) -> int:
    """Return the level of a rating, 1 to `LEVELS`."""
    return max(1, min(LEVELS, int(rating - _FIRST_LEVEL) // _LEVEL_STEP + 2))


def daily_set(puzzles: Sequence[RatedPuzzle], day: str) -> list[RatedPuzzle]:
    """Return the set of a day in ISO format: one puzzle of each level that there is, the easiest first."""
    draw = random.Random(day)
    levels = [[each for each in puzzles if each.level == level] for level in range(1, LEVELS + 1)]
    return [draw.choice(some) for some in levels if some]


def counts(puzzles: Iterable[RatedPuzzle]) -> dict[str, list[int]]:
    """Return the number of puzzles of each kind by level, [LEVELS], in the order of the first ones."""
    found: dict[str, list[int]] = {}
    for each in puzzles:
        found.setdefault(each.puzzle.kind, [0] * LEVELS)[each.level - 1] += 1
    return found
