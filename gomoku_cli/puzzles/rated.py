"""Rated puzzles: the task of a position, its difficulty, the daily set, and the player's progress."""

import hashlib
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from core.notation import cell_name
from core.rules import Rules
from curriculum.arena.suite import Puzzle
from gomoku_cli.study.rating import Rating

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
_NEAREST = 12
"""Puzzles nearest to the player's rating among which the next one is drawn."""
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


def default_file() -> Path:
    """Return the file of this user: beside the folder of saved games."""
    from gomoku_cli.study.saved import default_folder

    return default_folder().with_name("puzzles.jsonl")


class Progress(Rating):
    """All tries of a player at puzzles: 1 for one that was solved at the first try, 0.5 with a hint, 0 otherwise."""

    KEY: ClassVar[str] = "puzzle"
    ONCE: ClassVar[bool] = True

    def add(self, puzzle: RatedPuzzle, score: float) -> float:
        """Note a try at a puzzle in the file; return the change of the rating. Raises `OSError`."""
        return self.note(puzzle.key, puzzle.rating, score, kind=puzzle.puzzle.kind)

    def solved(self, day: str = "") -> set[str]:
        """Return the keys of the puzzles that were solved without help, from a day in ISO format on or ever.

        The set of a day goes on after midnight.
        """
        return {each.opponent for each in self.results if each.score == 1 and each.time >= day}

    def tried(self, day: str = "") -> set[str]:
        """Return the keys of the puzzles that were tried, from a day on or ever."""
        return {each.opponent for each in self.results if each.time >= day}

    def next(self, puzzles: Sequence[RatedPuzzle], draw: random.Random) -> RatedPuzzle:
        """Return a puzzle near the player's rating, none of those that were tried last."""
        recent = {each.opponent for each in self.results[-(len(puzzles) // 2) :]} if len(puzzles) > 1 else set()
        fresh = [each for each in puzzles if each.key not in recent] or list(puzzles)
        draw.shuffle(fresh)
        return draw.choice(sorted(fresh, key=lambda each: abs(each.rating - self.rating))[:_NEAREST])
