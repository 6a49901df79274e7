"""Folder of a match: its plan and its finished games, so that a stopped match can continue."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from core.errors import BadDataError, UsageError
from core.files.atomic import append_text, atomic_write_text, refuse_pipes, remove_unfinished
from core.files.json_text import value_at
from core.input_limits import shortened
from core.opening_rules import OpeningRule
from core.records.formats import write_games
from core.records.sgf import to_sgf
from core.rules import Rules, Variant
from curriculum.arena.fixtures import Fixture
from curriculum.arena.results import PlayedGame
from curriculum.run.json_files import (
    JsonFileError,
    append_json_line,
    cut_unfinished_line,
    plain,
    read_json_lines,
    read_json_object,
)
from curriculum.run.locking import release_lock, take_lock

_PLAN = "match.json"
_GAMES = "games.jsonl"
_RECORDS = "games.sgf"
_LOCK = "lock"
_MISSING = {"tactics": True, "variant": Variant.FREESTYLE.value, "opening_rule": OpeningRule.FREE.value}
"""Values of the keys that plans of older versions lack."""


class MatchFolderError(BadDataError, ValueError):
    """A folder without a match, or with one that cannot be read; the message says why."""


class OtherMatchError(UsageError, ValueError):
    """The folder holds another match, or no match at all."""


class MatchFolder:
    """Folder of a match, locked by this process until `close`; a context manager that closes itself."""

    def __init__(
        self, path: Path, plan: Mapping[str, Any], fixtures: Sequence[Fixture], *, rules: Rules, names: Sequence[str]
    ) -> None:
        """Open the match of this plan in `path`, or create it.

        `plan`: all settings of the match that change its games, except their number. Raises `OtherMatchError` if the
        folder holds something else, `MatchFolderError` for broken files, `FolderBusyError` while another process uses
        the folder.
        """
        self.path = path
        self._rules = rules
        self._names = names
        _refuse_other(path, plan)
        self._lock = take_lock(path / _LOCK, path)
        try:
            _refuse_other(path, plan)
            refuse_pipes(path)
            remove_unfinished(path)
            if not (path / _PLAN).exists():
                atomic_write_text(path / _PLAN, json.dumps(plain(plan), indent=2) + "\n")
            cut_unfinished_line(path / _GAMES)
            self.played = self._read({fixture.number: fixture for fixture in fixtures})
            """The finished games, in the order of their ends."""
            # A kill can come between a game's line and its record.
            write_games(path / _RECORDS, [game.record(rules, names) for game in self.played])
        except BaseException:
            release_lock(self._lock)
            raise

    def add(self, game: PlayedGame) -> None:
        """Keep a finished game. A game whose record cannot be written is kept: the next opening writes all records."""
        append_json_line(self.path / _GAMES, game.to_json(self._rules, self._names))
        self.played.append(game)
        append_text(self.path / _RECORDS, to_sgf(game.record(self._rules, self._names)))

    def close(self) -> None:
        """Unlock the folder for other processes."""
        release_lock(self._lock)
        self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _read(self, fixtures: Mapping[int, Fixture]) -> list[PlayedGame]:
        file = self.path / _GAMES
        try:
            lines = read_json_lines(file)
        except JsonFileError as error:
            raise MatchFolderError(str(error)) from error
        games: dict[int, PlayedGame] = {}
        for number, line in enumerate(lines, start=1):
            try:
                # A match may continue with fewer games than it has; the others are left out.
                if (played := value_at(line, "game", int)) in fixtures:
                    games.setdefault(played, PlayedGame.from_json(line, fixtures[played], self._rules, self._names))
            except ValueError as error:
                raise MatchFolderError(f"{file}, line {number}: this is no game of the match: {error}") from error
        return list(games.values())


def _refuse_other(path: Path, plan: Mapping[str, Any]) -> None:
    """Raise `OtherMatchError` if the folder holds something else than the match of this plan."""
    file = path / _PLAN
    if file.is_file():
        try:
            known = read_json_object(file, lambda value: value)
        except JsonFileError as error:
            raise MatchFolderError(str(error)) from error
        known, expected = {**_MISSING, **known}, {**_MISSING, **plain(plan)}
        for key in (*expected, *known):
            if known.get(key) != expected.get(key):
                name, there, here = shortened(key), _short(known.get(key)), _short(expected.get(key))
                raise OtherMatchError(
                    f"{path} holds a match with another setting: {name} is {there} there and {here} here; "
                    "give the same options to continue it, or choose another folder"
                )
    elif path.is_dir():
        # A process killed at the start of a match leaves no more than these.
        if any(entry.name != _LOCK and not entry.name.startswith(f".{_PLAN}.") for entry in path.iterdir()):
            raise OtherMatchError(f"{path} is not empty and holds no match: choose another folder")
    elif path.exists():
        raise OtherMatchError(f"{path} is a file: a match needs a folder")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
