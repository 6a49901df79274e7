"""The player's progress: the rating by the results of puzzles, and the choice of the next one."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from gomoku_cli.puzzles.rated import RatedPuzzle
from gomoku_cli.study.rating import Rating

_NEAREST = 12
"""Puzzles nearest to the player's rating among which the next one is drawn."""


def default_file() -> Path:
    """Return the file of this user: beside the folder of saved games."""
    from gomoku_cli.study.saved import default_folder

    return default_folder().with_name("puzzles.jsonl")


class Progress(Rating):
    """All tries of a player at puzzles: 1 for one that was solved at the first try, 0.5 with a hint, 0 otherwise."""

    KEY: ClassVar[str] = "puzzle"

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
