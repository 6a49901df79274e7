"""Overviews of runs: the phase, the rounds, the scores, the size and the age of each."""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import BadDataError
from curriculum.run.folder import is_run, why_no_run
from curriculum.run.locking import FolderError
from curriculum.run.settings import read_history
from gomoku_cli.console import duration
from gomoku_cli.printable import printable
from gomoku_cli.reports.terminal import print_table
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import MetricsTail
from gomoku_cli.reports.training.outlook import last_time, place_of

_MAX_DEPTH = 3
_IN_PROGRESS_S = 120.0
"""A run whose last line is younger than this is shown as in progress."""


class NoFolderError(BadDataError, ValueError):
    """A folder that does not exist."""


def runs_at(paths: Iterable[Path]) -> list[Path]:
    """Return the runs in these folders, each once: a folder that is no run stands for the runs below it, as of a chain.

    Raises `FolderError` for a folder without a run.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        below = [path] if is_run(path) else runs_below(path) if path.is_dir() else []
        if not below:
            raise FolderError(why_no_run(path))
        for run in below:
            found.setdefault(run.resolve(), run)
    return list(found.values())


def folder_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the folders, or their paths where two have the same name."""
    names = [printable(path.resolve().name) for path in paths]
    return names if len(set(names)) == len(names) else [printable(str(path)) for path in paths]


def runs_below(folder: Path) -> list[Path]:
    """Return the folders of runs in `folder` and up to two levels below, in alphabetical order.

    Raises `NoFolderError`.
    """
    if not folder.is_dir():
        raise NoFolderError(f"there is no folder {folder}")
    found: list[Path] = []
    level = [folder]
    for _ in range(_MAX_DEPTH):
        found += [path for path in level if is_run(path)]
        below = (child for path in level if not is_run(path) for child in _folders(path))
        level = sorted(below)
    return sorted(found)


def _folders(path: Path) -> list[Path]:
    with suppress(OSError):
        return [child for child in path.iterdir() if child.is_dir() and not child.name.startswith(".")]
    return []


def overview(path: Path) -> dict[str, Any]:
    """Return the overview of a run, as the JSON of `gomoku runs` has it.

    A run whose configuration cannot be read has the reason as its progress.
    """
    tail = MetricsTail(path)
    tail.read()
    when = last_time(tail.records)
    config, view = place_of(path, tail.records)
    history = read_history(path)
    gates = sum(record.get("event") == "gate" for record in tail.records)
    models = len(list((path / "models").glob("selfplay-*.safetensors")))
    is_recent = when is not None and age(when) < _IN_PROGRESS_S
    return {
        "run": str(path),
        "preset": config and config.preset,
        "board_size": config and config.rules.size,
        "phase": view.phase,
        "progress": view.text,
        "in_progress": config is not None and not view.is_done and is_recent,
        "seconds_left": view.seconds_left,
        "rounds": gates or models,
        "rounds_accepted": models,
        "scores": scores(tail.records),
        "changes": history.changes if history else [],
        "edited": history.differences(config) if history and config else {},
        "bytes": _bytes(path),
        "updated": when.isoformat() if when else None,
    }


def scores(records: Iterable[Json]) -> dict[str, float]:
    """Return the best score against each opponent, in the matches of the models that were kept."""
    best: dict[str, float] = {}
    for record in records:
        opponent, score = record.get("opponent"), record.get("score")
        if record.get("event") in ("match", "measure") and isinstance(opponent, str) and isinstance(score, float):
            best[opponent] = max(score, best.get(opponent, 0.0))
    return best


_STRONGEST_FIRST = ("mentor:5", "mentor:4", "mentor:3", "mentor", "mentor:2", "mentor:1", "mentor:paper")


def best_score(found: Json) -> str:
    """Return the score against the strongest opponent that lost a point, or of all: `0.39 mentor`."""
    if not found:
        return ""

    def rank(opponent: str) -> tuple[int, bool]:
        if opponent.startswith("engine:"):
            return -1, False
        known = opponent in _STRONGEST_FIRST
        return _STRONGEST_FIRST.index(opponent) if known else len(_STRONGEST_FIRST), opponent == "random"

    named = min([opponent for opponent, score in found.items() if score > 0] or found, key=rank)
    return f"{found[named]:.2f} {named}"


def age(when: datetime) -> float:
    """Return the seconds since a time."""
    return (datetime.now(UTC) - when).total_seconds()


def _bytes(path: Path) -> int:
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += os.stat(os.path.join(folder, name)).st_size
    return total


_COLUMNS = ("run", "progress", "best score", "accepted", "size", "age")


def show_overviews(folder: Path, rows: Sequence[Json]) -> None:
    """Print a table of the runs in a folder."""
    cells = []
    for row in rows:
        when = datetime.fromisoformat(row["updated"]) if row["updated"] else None
        # Without "phase 3 of 3, ": its name says as much.
        progress = row["progress"].partition(", ")[2] if row["progress"].startswith("phase ") else row["progress"]
        if row["in_progress"] and row["seconds_left"] is not None:
            progress += f", {duration(row['seconds_left'])} left"
        cells.append(
            (
                os.path.relpath(row["run"], folder),
                progress,
                best_score(row["scores"]),
                f"{row['rounds_accepted']} of {row['rounds']}" if row["rounds"] else "",
                f"{row['bytes'] / 2**20:,.0f} MiB",
                "now" if row["in_progress"] else age_text(age(when)) if when else "",
            )
        )
    print_table(_COLUMNS, cells, left=3, title=str(folder))


def age_text(seconds: float) -> str:
    """Return `12 s`, `5 min`, `3 h` or `2 days`."""
    for limit, size, unit in ((120, 1, "s"), (7200, 60, "min"), (172_800, 3600, "h")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:.0f} days"
