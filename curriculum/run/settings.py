"""The settings of a run and their changes: one file, with the settings it was made with and a line for each change.

`config.toml` is for people, and they may edit it. This file says which settings the work has really used, and from
which step on. A difference between the two is an edit, which counts as a change from the next opening on.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.files.json_text import value_at
from curriculum.config import FIXED, FIXED_BY_SAMPLES, Config, Phase
from curriculum.keys import KEYS, setting_value
from curriculum.run.json_files import append_json_line, now, read_json_lines
from curriculum.run.locking import FolderError
from curriculum.run.progress import Progress
from curriculum.stated import ConfigError
from curriculum.toml_text import toml_value

SETTINGS = "settings.jsonl"

_EDITED = " (its config.toml was edited)"

Change = dict[str, Any]
"""`time`, the place from which it holds (`phase`, in self-play `iteration`, `step`), and `settings`: old and new."""


class SettingsHistory:
    """The settings of a run as its work used them."""

    def __init__(self, path: Path) -> None:
        """Read the history of the run in `path`. Raises `FolderError`."""
        self._path = path
        records = read_json_lines(path / SETTINGS)
        try:
            self.original: dict[str, Any] | None = value_at(records[0], "settings", dict) if records else None
            """The settings that the run was made with, by key; None before they are noted."""
            self.changes: list[Change] = records[1:]
            if not are_changes(self.changes):
                raise ValueError("a change should have a place, and an old and a new value of each setting")
        except ValueError as error:
            raise FolderError(f"{path / SETTINGS} cannot be read: {error}") from error

    def differences(self, config: Config) -> dict[str, list[Any]]:
        """Return the settings of `config` that are not those of the work so far: each with its old and new value."""
        if self.original is None:
            return {}
        used = {**_all(Config()), **self.original}
        for change in self.changes:
            used |= {key: pair[1] for key, pair in change["settings"].items()}
        return {key: [used[key], value] for key, value in _all(config).items() if used[key] != value}

    def begin(self, config: Config) -> None:
        """Note the settings of a run that has no history yet."""
        self.original = _all(config)
        append_json_line(self._path / SETTINGS, {"time": now(), "settings": self.original})

    def add(self, differences: Mapping[str, list[Any]], place: Mapping[str, Any]) -> None:
        """Note a change of settings, which holds from `place` on."""
        change = {"time": now(), **place, "settings": dict(differences)}
        append_json_line(self._path / SETTINGS, change)
        self.changes.append(change)


def read_history(path: Path) -> SettingsHistory | None:
    """Return the history of the run in `path`; None where it cannot be read."""
    with suppress(FolderError):
        return SettingsHistory(path)
    return None


def are_changes(value: Any) -> bool:
    """Return True for a list of changes as `SettingsHistory` writes them."""
    return isinstance(value, list) and all(
        isinstance(each, dict)
        and isinstance(each.get("phase"), str)
        and all(type(each.get(key, 0)) is int for key in ("iteration", "step"))
        and isinstance(each.get("settings"), dict)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in each["settings"].values())
        for each in value
    )


def check_changes(path: Path, differences: Mapping[str, list[Any]], edited: Collection[str]) -> None:
    """Raise `ConfigError` for the first change that the run in `path` cannot take any more.

    `edited`: the keys whose new value is in its `config.toml`.
    """
    progress = Progress(path)
    for key, (old, new) in differences.items():
        section, _, name = key.partition(".")
        reason, is_edited = None, key in edited
        if key in FIXED or section in FIXED:
            reason = "its models, samples and training states are made for it"
        elif section in FIXED_BY_SAMPLES:
            phase = Phase(section)
            if progress.is_finished(phase):
                reason = f"the phase {phase} is over"
            elif name in FIXED_BY_SAMPLES[phase] and progress.has_begun(phase):
                reason = f"the phase {phase} has begun"
        if reason is not None:
            raise ConfigError(
                f"{key} is {toml_value(old)} in the run in {path} and cannot become {toml_value(new)}: {reason}; leave "
                f"it as it is{_EDITED if is_edited else ''}, or make another run (--run names its folder)"
            )


def place_text(place: Mapping[str, Any]) -> str:
    """Return a place of a run in words: `selfplay, round 3, step 40`."""
    words = [str(place.get("phase", ""))]
    if "iteration" in place:
        words.append(f"round {place['iteration'] + 1}")
    if place.get("step"):
        words.append(f"step {place['step']}")
    return ", ".join(words)


def change_lines(change: Change) -> list[str]:
    """Return a line for each setting of a change: `selfplay.learning_rate: 0.01, then 0.001 from selfplay, round 3`."""
    return [
        f"{key}: {toml_value(old)}, then {toml_value(new)} from {place_text(change)} on"
        for key, (old, new) in change["settings"].items()
    ]


def _all(config: Config) -> dict[str, Any]:
    return {key: setting_value(config, key) for key in KEYS}
