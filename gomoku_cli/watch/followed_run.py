"""A run that the screen follows: its curves, its outlook and its newest game as far as its files have grown."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.records.record import GameRecord, RecordError
from core.records.sgf import parse_sgf
from curriculum.phases.strength import read_strength
from curriculum.run.settings import change_lines, read_history
from gomoku_cli.console import duration
from gomoku_cli.reports.training.metrics import MetricsTail, curves_from
from gomoku_cli.reports.training.outlook import last_time, place_of
from gomoku_cli.reports.training.overview import age, age_text

_FRESH_S = 90.0
"""A run whose last line is older is shown as standing still."""
_OUTLOOK_S = 5.0
"""Seconds between two looks at the state files of a run without new metrics."""

_TAIL_BYTES = 1 << 16
"""The last game of a file is in its last bytes: a game takes some 2 kB."""


class FollowedRun:
    """A run in progress or a finished one."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.curves: dict[str, Any] = {**curves_from([]), "strength": []}
        self.game: tuple[str, GameRecord] | None = None
        """The newest one, with the name of its file."""
        self.changes: list[str] = []
        """A line for each setting that changed during the run."""
        self._tail = MetricsTail(path)
        self._look()
        self._game_file: tuple[int, Path] | None = None
        self._looked = -_OUTLOOK_S

    def _look(self) -> None:
        """Read the settings, which are others in a run that was opened again, and the place of the run."""
        self.config, self.outlook = place_of(self.path, self._tail.records)
        history = read_history(self.path)
        self.changes = [line for change in (history.changes if history else ()) for line in change_lines(change)]

    def update(self) -> bool:
        """Read what the run has written since the last call; return True if the curves have changed."""
        changed = self._tail.read()
        if changed:
            try:
                self.curves = {**curves_from(self._tail.records), "strength": self.curves["strength"]}
            except ValueError:
                changed = False  # a line of another version: the curves stay as they were
        now = time.monotonic()
        if changed or now - self._looked >= _OUTLOOK_S:
            before = self.changes
            self._look()
            strength = read_strength(self.path)
            changed = changed or self.changes != before or strength != self.curves["strength"]
            self.curves["strength"] = strength
            self._looked = now
        return changed

    def update_game(self) -> bool:
        """Read the newest game if there is a new one; return True if there is."""
        found = newest_file(self.path)
        if found is None or found == self._game_file:
            return False
        self._game_file = found
        if (record := read_newest_game(found[1])) is not None:
            self.game = found[1].stem, record
        return True

    @property
    def place(self) -> str:
        """`phase 3 of 3, self-play, round 28 of 35; about 1:12:00 left; last line 12 s ago`."""
        if self.config is None:
            return self.outlook.text
        parts = [self.outlook.text]
        when = last_time(self._tail.records)
        if not self.outlook.is_done and self.outlook.seconds_left is not None:
            parts.append(f"about {duration(max(10.0, self.outlook.seconds_left))} left")
        if when is not None:
            seconds = max(0.0, age(when))
            still = "" if self.outlook.is_done or seconds < _FRESH_S else ", standing still"
            parts.append(f"last line {age_text(seconds)} ago{still}")
        elif not self.outlook.is_done:
            parts.append("nothing measured yet")
        return "; ".join(parts)

    @property
    def title(self) -> str:
        """`mine, preset quick, 15x15`."""
        if self.config is None:
            return self.name
        return f"{self.name}, preset {self.config.preset}, {self.config.rules.size}x{self.config.rules.size}"


def newest_file(run: Path) -> tuple[int, Path] | None:
    """Return the newest file of self-play games of a run, after its time; None without one."""
    with suppress(OSError):
        return max(((path.stat().st_mtime_ns, path) for path in (run / "games").glob("*.sgf")), default=None)
    return None


def read_newest_game(path: Path) -> GameRecord | None:
    """Return the last game of a file that self-play wrote, of a torn one as far as it goes; None for any other file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            text = file.read().decode(errors="replace").rstrip()
    except OSError:
        return None
    text = text[max(0, text.rfind("(;FF[")) :]
    if not text.endswith(")"):
        text = text[: max(0, text.rfind("\n;"))] + ")"
    try:
        return parse_sgf(text)[0]
    except RecordError:
        return None
