"""A player's rating by Elo's formula, from a file with a line of JSON for each result."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Self

from core.files.atomic import append_text, read_bytes
from core.files.json_text import parse_json, value_at
from core.files.links import make_private_folder
from core.input_limits import MAX_JSON_LINES_BYTES
from curriculum.arena.player_names import LEVELS

START = 1000.0
"""Rating of a new player."""
_FIRST_STEP, _LAST_STEP = 120.0, 16.0
_HALF_LIFE = 5
"""The steps of the rating fall from the first to the last one: half of the first after so many results."""

RATINGS = "ratings.jsonl"
"""The file of games against levels, beside the folder of saved games."""
LEVEL_RATINGS = dict(zip(LEVELS, (600, 730, 820, 940, 1050, 1160, 1270, 1690, 2260), strict=True))
"""By the scores of each level against the one below, in docs/evaluation.md; level 1 is set. Of 13 wins in 13 games
half a win is taken away."""


@dataclass(frozen=True, slots=True)
class RatedResult:
    """A result that counts."""

    time: str
    """In ISO format, on the clock of this place."""
    opponent: str
    """The name of the task or the player."""
    difficulty: int
    """The opponent's rating."""
    score: float
    """1, 0.5 or 0."""


@dataclass(slots=True)
class Rating:
    """A player's rating and all results, the oldest first."""

    path: Path
    rating: float = START
    results: list[RatedResult] = field(default_factory=list)
    _met: set[str] = field(default_factory=set, init=False)
    """The opponents of all results."""
    KEY: ClassVar[str] = "opponent"
    """The key of the opponent in a line of the file."""
    ONCE: ClassVar[bool] = False
    """True if an opponent counts at the first meeting alone."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the rating of a file; a new player's without one. Raises `OSError`.

        Lines that cannot be read are left out: a kill may have torn the last one.
        """
        found = cls(path)
        with suppress(FileNotFoundError):
            for line in read_bytes(path, MAX_JSON_LINES_BYTES, pipes=False).splitlines():
                with suppress(ValueError):
                    found._learn(cls._result(parse_json(line)))
        return found

    def note(self, opponent: str, difficulty: int, score: float, **more: Any) -> float:
        """Note a result in the file, with `more` keys; return the change of the rating. Raises `OSError`."""
        result = RatedResult(f"{datetime.now():%Y-%m-%dT%H:%M:%S}", opponent, difficulty, score)
        before = self.rating
        self._learn(result)
        make_private_folder(self.path.parent)
        row = {"time": result.time, self.KEY: opponent, "difficulty": difficulty, "score": score}
        append_text(self.path, json.dumps(row | more | {"rating": round(self.rating)}) + "\n")
        return self.rating - before

    def history(self) -> list[float]:
        """Return the rating after each result."""
        again = type(self)(self.path)
        return [again._learn(result) for result in self.results]

    def _learn(self, result: RatedResult) -> float:
        if not (self.ONCE and result.opponent in self._met):
            counted = len(self._met if self.ONCE else self.results)
            step = max(_LAST_STEP, _FIRST_STEP / (1 + counted / _HALF_LIFE))
            expected = 1 / (1 + 10 ** ((result.difficulty - self.rating) / 400))
            self.rating += step * (result.score - expected)
        self._met.add(result.opponent)
        self.results.append(result)
        return self.rating

    @classmethod
    def _result(cls, row: Any) -> RatedResult:
        if not isinstance(row, dict):
            raise ValueError("a line should be an object")
        return RatedResult(
            value_at(row, "time", str),
            value_at(row, cls.KEY, str),
            value_at(row, "difficulty", int, low=0, high=10_000),
            value_at(row, "score", float, low=0, high=1),
        )
