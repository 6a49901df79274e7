"""The player's progress: a line of JSON for each rated puzzle, from which the rating follows."""

import json
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from core.files.atomic import append_text, read_bytes
from core.files.json_text import parse_json, value_at
from core.files.links import make_private_folder
from core.input_limits import MAX_JSON_LINES_BYTES
from gomoku_cli.puzzles.rated import RatedPuzzle

START = 1000.0
"""Rating of a new player."""
_FIRST_STEP, _LAST_STEP = 120.0, 16.0
_HALF_LIFE = 5
"""The steps of the rating fall from the first to the last one: half of the first after so many puzzles."""
_NEAREST = 12
"""Puzzles nearest to the player's rating among which the next one is drawn."""


def default_file() -> Path:
    """Return the file of this user: beside the folder of saved games."""
    from gomoku_cli.study.saved import default_folder

    return default_folder().with_name("puzzles.jsonl")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A rated try at a puzzle."""

    time: str
    """In ISO format, on the clock of this place."""
    puzzle: str
    """Its `RatedPuzzle.key`."""
    difficulty: int
    """Its rating."""
    score: float
    """1 for a puzzle that was solved at the first try, 0.5 with a hint, 0 otherwise."""


@dataclass(slots=True)
class Progress:
    """All attempts of a player, the oldest first."""

    path: Path
    rating: float = START
    attempts: list[Attempt] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> "Progress":
        """Return the progress in a file; a new player's without one. Raises `OSError`.

        Lines that cannot be read are left out: a kill may have torn the last one.
        """
        found = cls(path)
        with suppress(FileNotFoundError):
            for line in read_bytes(path, MAX_JSON_LINES_BYTES, pipes=False).splitlines():
                with suppress(ValueError):
                    found._learn(_attempt(parse_json(line)))
        return found

    def add(self, puzzle: RatedPuzzle, score: float) -> float:
        """Note a try at a puzzle in the file; return the change of the rating. Raises `OSError`."""
        attempt = Attempt(f"{datetime.now():%Y-%m-%dT%H:%M:%S}", puzzle.key, puzzle.rating, score)
        before = self.rating
        self._learn(attempt)
        make_private_folder(self.path.parent)
        row = {name: getattr(attempt, name) for name in Attempt.__slots__}
        append_text(self.path, json.dumps(row | {"kind": puzzle.puzzle.kind, "rating": round(self.rating)}) + "\n")
        return self.rating - before

    def _learn(self, attempt: Attempt) -> None:
        step = max(_LAST_STEP, _FIRST_STEP / (1 + len(self.attempts) / _HALF_LIFE))
        expected = 1 / (1 + 10 ** ((attempt.difficulty - self.rating) / 400))
        self.rating += step * (attempt.score - expected)
        self.attempts.append(attempt)

    def solved(self, day: str = "") -> set[str]:
        """Return the keys of the puzzles that were solved without help, on a day in ISO format or ever."""
        return {each.puzzle for each in self.attempts if each.score == 1 and each.time.startswith(day)}

    def tried(self, day: str = "") -> set[str]:
        """Return the keys of the puzzles that were tried, on a day or ever."""
        return {each.puzzle for each in self.attempts if each.time.startswith(day)}

    def next(self, puzzles: Sequence[RatedPuzzle], draw: random.Random) -> RatedPuzzle:
        """Return a puzzle near the player's rating, none of those that were tried last."""
        recent = {each.puzzle for each in self.attempts[-(len(puzzles) // 2) :]} if len(puzzles) > 1 else set()
        fresh = [each for each in puzzles if each.key not in recent] or list(puzzles)
        draw.shuffle(fresh)
        return draw.choice(sorted(fresh, key=lambda each: abs(each.rating - self.rating))[:_NEAREST])


def _attempt(row: Any) -> Attempt:
    if not isinstance(row, dict):
        raise ValueError("a line should be an object")
    return Attempt(
        value_at(row, "time", str),
        value_at(row, "puzzle", str),
        value_at(row, "difficulty", int, low=0, high=10_000),
        value_at(row, "score", float, low=0, high=1),
    )
