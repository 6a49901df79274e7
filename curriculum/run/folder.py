"""A run is one folder: its configuration, environment, metrics, models, games, replay buffer and state.

Every file in it appears whole (`core.files.atomic`), and only one process works in it at a time. So a run that was
killed at any instant can be opened again and continued.
"""

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Self, TypeVar

from core.cores import instruction_sets, processor_name
from core.files.atomic import atomic_write_text, refuse_pipes, remove_unfinished
from core.files.json_text import plain, values_at
from core.files.links import make_folder, real_path
from core.input_limits import MAX_JSON_BYTES
from curriculum.config import Config
from curriculum.explanations import comment_lines
from curriculum.presets import read_config, to_toml
from curriculum.run.json_files import (
    cut_unfinished_line,
    json_line,
    now,
    read_json_lines,
    read_json_object,
)
from curriculum.run.locking import (
    FolderError,
    FolderTakenError,
    OwnedFolder,
    locked,
    refuse_foreign,
    release_lock,
    take_lock,
)
from curriculum.run.metrics import GlobalSteps, cut_unsaved_lines
from curriculum.run.progress import Progress
from curriculum.run.settings import SETTINGS, SettingsHistory, change_lines, check_changes
from curriculum.stated import ConfigError
from curriculum.validity import check
from nets.config import in_use

_CONFIG = "config.toml"
_METRICS = "metrics.jsonl"
_ENVIRONMENT = "environment.json"
_LOCK = "lock"
_SUBFOLDERS = ("models", "games", "replay", "state")
_KEPT_MODELS = ("basics", "imitation", "selfplay-*")
"""The models beside the best one that a run keeps; in the order of the alphabet the newest is the last."""
_VERSIONS_OF = ("gomoku-cli", "torch", "numpy", "numba", "safetensors")

_State = TypeVar("_State")


class RunFolder(OwnedFolder):
    """One training run on disk, locked by this process until it is closed.

    Use `create` or `open`; the folder is a context manager that closes itself.

    >>> with gomoku.Run.create("runs/new", gomoku.load_config("smoke")) as run:
    ...     run.config.preset, run.progress.rounds, run.best_model.exists()
    ('smoke', 0, False)
    """

    def __init__(self, path: Path, config: Config, lock: int | None) -> None:
        super().__init__(path, lock)
        self.config = config
        """The resolved configuration, as in `config.toml`, which explains each setting in a comment too."""
        for name in _SUBFOLDERS:
            (path / name).mkdir(exist_ok=True)
            refuse_pipes(path / name)
            remove_unfinished(path / name)
        refuse_pipes(path)
        remove_unfinished(path)
        for name in (_METRICS, SETTINGS):
            cut_unfinished_line(path / name)
        self.remarks: list[str] = []
        """Changes of the opening in the run, in lines for its user."""
        cut_unsaved_lines(path / _METRICS, path)
        sessions = read_json_object(path / _ENVIRONMENT, lambda value: values_at(value, "sessions", dict))
        self._sessions: list[dict[str, Any]] = sessions or []
        """The entries of `environment.json`, the last one for this process."""
        self._sessions.append(_environment())
        self._write_sessions()
        self.commit: str | None = self._sessions[-1]["commit"]
        """The commit of the program's source, with `-dirty` if it has changes; None outside a repository."""

    @property
    def models(self) -> Path:
        """Model files."""
        return self.place_of("models")

    @property
    def games(self) -> Path:
        """Games as SGF."""
        return self.place_of("games")

    @property
    def replay(self) -> Path:
        """Samples: basics, mentor games, the replay buffer."""
        return self.place_of("replay")

    @property
    def state(self) -> Path:
        """State for continuing the run."""
        return self.place_of("state")

    @classmethod
    def create(cls, path: Path | str, config: Config) -> Self:
        """Create a run in `path`, which must not exist or be empty.

        Raises `ConfigError` or `BasicsError` for a configuration that cannot run (`curriculum.validity`),
        `FolderTakenError` for a folder that is not empty, `FolderBusyError` while another process works there.
        """
        check(config)
        path = Path(path)
        if is_run(path):  # whoever works in it counts first: --resume would not help
            release_lock(take_lock(path / "state" / _LOCK, path))
        _refuse_taken(path)
        make_folder(real_path(path))
        with locked(path / "state" / _LOCK, path) as lock:
            _refuse_taken(path)
            atomic_write_text(path / _CONFIG, to_toml(config, comment_lines))
            run = cls(path, config, lock)
            run._follow_settings(None)
        return run

    @classmethod
    def open(cls, path: Path | str, revise: Callable[[Config], Config] | None = None) -> Self:
        """Open the run in `path`, to continue it; files that a killed process left half-written are removed.

        `revise` returns the configuration to go on with, from that of `config.toml`. Changes, also those of an edited
        `config.toml`, are noted in the run (`curriculum.run.settings`).

        Raises `FolderError` where there is no run, or its files are broken or lost, `FolderBusyError` while another
        process works in it, `ConfigError` for a setting that cannot change any more or does not fit the others.
        """
        path = Path(path)
        if not is_run(path):
            raise FolderError(why_no_run(path))
        if is_model_lost(path):
            raise FolderError(why_no_model(path))
        with locked(path / "state" / _LOCK, path) as lock:
            try:
                config = read_config(path / _CONFIG)
            except ConfigError as error:
                raise FolderError(f"the run in {path} cannot be read: {error}") from error
            run = cls(path, config, lock)
            run._follow_settings(revise)
        return run

    def _follow_settings(self, revise: Callable[[Config], Config] | None) -> None:
        """Take the settings of `revise` and of an edited `config.toml`, and note what has changed."""
        history = SettingsHistory(self.path)
        edited = history.differences(self.config)
        if revise is not None:
            self.config = revise(self.config)
        if history.original is None:
            history.begin(read_config(self.path / _CONFIG))
        differences = history.differences(self.config)
        if differences:
            check_changes(self.path, differences, edited)
            check(self.config)
            # In this order: after a kill in between the new file is an edit, which is noted by the next opening.
            atomic_write_text(self.path / _CONFIG, to_toml(self.config, comment_lines))
            history.add(differences, Progress(self.path).place(self.config))
            self.remarks += change_lines(history.changes[-1])
            if edited:
                self.remarks.append(f"of these {', '.join(edited)} came from an edited {_CONFIG}")
        self.changes = history.changes

    @property
    def best_model(self) -> Path:
        """The best model so far; it may not exist yet."""
        return best_model(self.place_of("."))

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        """Append one line to `metrics.jsonl`: the record with the current `time` (ISO 8601, UTC) and `global_step`."""
        with self.metrics_of(record):
            pass

    def metrics_of(self, record: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Append one line as `append_metrics` does, for work that the block saves; an error there takes it back."""
        self._note_use()
        return json_line(
            self.place_of(_METRICS), {"time": now(), **record, "global_step": self._steps.after(dict(record))}
        )

    @cached_property
    def _steps(self) -> GlobalSteps:
        """Optimiser steps up to the last line of the metrics."""
        steps = GlobalSteps()
        for record in self.metrics():
            steps.after(record)
        return steps

    def metrics(self) -> list[dict[str, Any]]:
        """Return all records, oldest first. Raises `FolderError` with the number of a line that cannot be read."""
        return read_metrics(self.path)

    @property
    def progress(self) -> Progress:
        """The progress of the run as its files have it now."""
        return Progress(self.path)

    def read_state(self, name: str, parse: Callable[[dict[str, Any]], _State]) -> _State | None:
        """Return the last state that `write_state` wrote as `name`, as `parse` returns it; None if there is none.

        `parse` raises `ValueError` with the key of a value that it cannot use. Raises `FolderError` with the file
        and that key.
        """
        return read_json_object(self.state / f"{name}.json", parse)

    def write_state(self, name: str, mapping: Mapping[str, Any]) -> None:
        """Write `mapping` to `state/NAME.json`; the old file is replaced whole or not at all."""
        atomic_write_text(self.state / f"{name}.json", json.dumps(plain(mapping), indent=2, allow_nan=False) + "\n")

    def _write_sessions(self) -> None:
        """Write `environment.json`: the machine and software of each process that opened the run."""
        while len(text := json.dumps({"sessions": self._sessions}, indent=2) + "\n") > MAX_JSON_BYTES:
            del self._sessions[: len(self._sessions) // 2 or 1]  # the oldest, after a thousand openings
        atomic_write_text(self.place_of(_ENVIRONMENT), text)

    def _note_use(self) -> None:
        """Add the device, runtime and precisions of this process to its entry, once they are known."""
        session = {**self._sessions[-1], **in_use()}
        if session != self._sessions[-1]:
            self._sessions[-1] = session
            self._write_sessions()


def is_run(path: Path) -> bool:
    """Return True if `path` is the folder of a run."""
    return (path / _CONFIG).is_file()


def best_model(path: Path) -> Path:
    """Return the file of the best model of the run in `path`; it may not exist yet."""
    return path / "models" / "best.safetensors"


def read_metrics(path: Path | str) -> list[dict[str, Any]]:
    """Return the metrics of the run in `path`, oldest first, also while a process works in it.

    >>> with gomoku.Run.create("runs/measured", gomoku.Config()) as run:
    ...     run.append_metrics({"event": "train", "policy_loss": 4.5})
    >>> [record["policy_loss"] for record in gomoku.read_metrics("runs/measured")]
    [4.5]

    A line that is still being written is left out. Raises
    `FolderError` for a folder that is no run and has no metrics, and with the number of a line that cannot be read.
    """
    path = Path(path)
    if not is_run(path) and not (path / _METRICS).is_file():
        raise FolderError(why_no_run(path))
    return read_json_lines(path / _METRICS)


def why_no_run(path: Path) -> str:
    """Return the reason why `path` is no run, as the message of an error."""
    if path.is_dir():
        runs = sorted(found.parent for found in path.glob(f"*/{_CONFIG}"))
        return f"there is no run in {path}: it holds no {_CONFIG}" + (f", but runs, such as {runs[0]}" if runs else "")
    reason = "it is no folder" if os.path.lexists(path) else "the folder does not exist"
    return f"there is no run in {path}: {reason}"


def is_model_lost(path: Path) -> bool:
    """Return True for a run whose best model was there, and is missing."""
    progress = Progress(path)
    return not best_model(path).is_file() and bool(progress.finished or progress.rounds)


def why_no_model(path: Path) -> str:
    """Return the reason why the run in `path` has no best model, with the remedy, as the message of an error."""
    if not is_model_lost(path):
        return f"the run in {path} has no model yet: train it further with --resume"
    best = best_model(path)
    others = sorted(found for name in _KEPT_MODELS for found in best.parent.glob(f"{name}.safetensors"))
    remedy = f"copy another model of the run there, such as {others[-1]}" if others else "copy a model of the run there"
    return f"{best} is missing, the best model of its run: {remedy}"


def _refuse_taken(path: Path) -> None:
    if is_run(path):
        raise FolderTakenError(f"{path} already holds a run: continue it with --resume, or choose another folder")
    # A process that was killed while it created a run leaves these files at most.
    refuse_foreign(path, "run", (path / "state", path / "state" / _LOCK, *path.glob(f".{_CONFIG}.*")))


def installed_version(distribution: str) -> str | None:
    """Return the version of a package, None for one that is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def commit_of_source() -> str | None:
    """Return the commit of this source tree, with `-dirty` if it has changes; None outside a repository."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _environment() -> dict[str, Any]:
    return {
        "time": now(),
        "command": shlex.join(sys.argv),
        "python": platform.python_version(),
        "versions": {name: installed_version(name) for name in _VERSIONS_OF},
        "commit": commit_of_source(),
        "machine": platform.platform(),
        "processor": processor_name(),
        "instruction_sets": instruction_sets(),
        "cpus": os.cpu_count(),
    }
