"""Folder of a match: its plan and its finished games, so that a stopped match can continue."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from core.files.atomic import append_text, atomic_write_text, refuse_pipes, remove_unfinished
from core.files.json_text import plain, value_at
from core.input_limits import MAX_SECONDS, shortened
from core.records.formats import write_games
from core.records.sgf import to_sgf
from core.rules import Rules
from curriculum.arena.fixtures import Fixture
from curriculum.arena.results import PlayedGame
from curriculum.run.json_files import (
    append_json_line,
    cut_unfinished_line,
    read_json_lines,
    read_json_object,
)
from curriculum.run.locking import FolderError, FolderTakenError, OwnedFolder, locked, refuse_foreign

_PLAN = "match.json"
_GAMES = "games.jsonl"
_RECORDS = "games.sgf"
_LOCK = "lock"
_NAMES = "names"
"""Key of the players' names, which stand in the games."""
_ELAPSED = "elapsed_seconds"
"""Key of the time from the begin of the match to the end of a game."""


class MatchFolder(OwnedFolder):
    """Folder of a match, locked by this process until `close`."""

    def __init__(
        self, path: Path, plan: Mapping[str, Any], fixtures: Sequence[Fixture], *, rules: Rules, names: Sequence[str]
    ) -> None:
        """Open the match of this plan in `path`, or create it.

        `plan`: all settings of the match that change its games, except their number. Raises `FolderTakenError` if the
        folder holds something else, `FolderError` for broken files, `FolderBusyError` while another process uses
        the folder.
        """
        self._rules = rules
        self._names = names
        plan = {**plan, _NAMES: list(names)}
        self.seconds_before = 0.0
        """Time of the match in earlier processes, up to the last one of these games."""
        _refuse_other(path, plan)
        with locked(path / _LOCK, path) as lock:
            super().__init__(path, lock)
            _refuse_other(path, plan)
            refuse_pipes(path)
            remove_unfinished(path)
            if not (path / _PLAN).exists():
                atomic_write_text(path / _PLAN, json.dumps(plain(plan), indent=2) + "\n")
            cut_unfinished_line(path / _GAMES)
            self.played = self._read({fixture.number: fixture for fixture in fixtures})
            """The finished games, in the order of their ends."""
            # A kill can come between a game's line and its record.
            if self.played:
                write_games(path / _RECORDS, [game.record(rules, names) for game in self.played])
            else:
                (path / _RECORDS).unlink(missing_ok=True)
            self._opened = time.perf_counter()

    def add(self, game: PlayedGame) -> None:
        """Keep a finished game. A game whose record cannot be written is kept: the next opening writes all records."""
        elapsed = self.seconds_before + time.perf_counter() - self._opened
        line = {**game.to_json(self._rules, self._names), _ELAPSED: round(elapsed, 3)}
        append_json_line(self.place_of(_GAMES), line)
        self.played.append(game)
        append_text(self.place_of(_RECORDS), to_sgf(game.record(self._rules, self._names)))

    def _read(self, fixtures: Mapping[int, Fixture]) -> list[PlayedGame]:
        file = self.path / _GAMES
        # Plans of older versions hold no names: their games may have others.
        names = self._names if _NAMES in (read_json_object(self.path / _PLAN, dict) or ()) else None
        games: dict[int, PlayedGame] = {}
        for number, line in enumerate(read_json_lines(file), start=1):
            try:
                before = value_at(line, _ELAPSED, float, low=0, high=MAX_SECONDS)
                # A match may continue with fewer games than it has; the others are left out.
                if (played := value_at(line, "game", int)) in fixtures:
                    self.seconds_before = max(self.seconds_before, before)
                    games.setdefault(played, PlayedGame.from_json(line, fixtures[played], self._rules, names))
            except ValueError as error:
                raise FolderError(f"{file}, line {number}: this is no game of the match: {error}") from error
        return list(games.values())


def _refuse_other(path: Path, plan: Mapping[str, Any]) -> None:
    """Raise `FolderTakenError` if the folder holds something else than the match of this plan."""
    file = path / _PLAN
    if file.is_file():
        expected = _identity(plain(plan))
        known = {_NAMES: expected[_NAMES], **_identity(read_json_object(file, lambda value: value) or {})}
        for key in (*expected, *known):
            if known.get(key) != expected.get(key):
                name, there, here = shortened(key), _short(known.get(key)), _short(expected.get(key))
                raise FolderTakenError(
                    f"{path} holds a match with another setting: {name} is {there} there and {here} here; "
                    "give the same options to continue it, or move the folder away for a new match"
                )
    else:
        # A process killed at the start of a match leaves no more than these.
        refuse_foreign(path, "match", (path / _LOCK, *path.glob(f".{_PLAN}.*")))


def _identity(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan in which a model has no folder: its hash is in the plan, wherever the file lies now."""
    players, models = plan.get("players"), plan.get("models")
    if not (isinstance(players, list) and isinstance(models, list) and len(players) == len(models)):
        return dict(plan)
    pairs = zip(players, models, strict=True)
    return {**plan, "players": [player if model is None else PurePath(str(player)).name for player, model in pairs]}


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
