"""The metrics of a run: lines that are counted once, and lines whose work is not saved.

A line is appended before the state that ends its step. A kill between the two leaves a line without its state, and the
step is done again: the next opening of the run cuts the line off. A run that was not opened since may hold a line
twice; readers take the later one (`DistinctRecords`).
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from core.files.json_text import parse_json
from curriculum.run.json_files import cut_last_lines
from curriculum.run.progress import Progress

_IDENTITY: dict[str, tuple[str, ...]] = {
    "train": ("step",),
    "measure": ("step",),
    "games": ("iteration", "file"),
    "gate": ("iteration",),
    "match": ("opponent",),
}
"""The keys that a line of each event has, and that name its step together with phase, round and step."""


def identity(record: dict[str, Any]) -> str | None:
    """Return what two lines of metrics have in common if they report the same work; None for a line of its own."""
    event = record.get("event")
    keys = _IDENTITY.get(event) if isinstance(event, str) else None
    if keys is None or not all(key in record for key in keys):
        return None
    return json.dumps([event, *(record.get(key) for key in dict.fromkeys(("phase", "iteration", "step", *keys)))])


class DistinctRecords:
    """Records that come one by one; of those with the same identity only the last one is kept."""

    def __init__(self) -> None:
        self._found: dict[str | int, dict[str, Any]] = {}
        self._count = 0

    def add(self, record: dict[str, Any]) -> None:
        """Take the next record."""
        self._count += 1
        key = identity(record) or self._count
        self._found.pop(key, None)
        self._found[key] = record

    def all(self) -> list[dict[str, Any]]:
        """Return the records, oldest first."""
        return list(self._found.values())


def distinct(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records without those that a later one repeats."""
    found = DistinctRecords()
    for record in records:
        found.add(record)
    return found.all()


class GlobalSteps:
    """Counts the optimiser steps of a run by its lines of training, which begin at 0 in each phase and round."""

    def __init__(self) -> None:
        self._before, self._since = 0, 0
        self._place: tuple[Any, Any] | None = None

    def after(self, record: dict[str, Any]) -> int:
        """Return the steps of the run up to this line, the next one of its metrics."""
        step = record.get("step")
        if record.get("event") == "train" and isinstance(step, int):
            place = record.get("phase"), record.get("iteration")
            if place != self._place:
                self._before, self._place = self._before + self._since, place
            self._since = step
        return self._before + self._since


def cut_unsaved_lines(file: Path, run: Path) -> None:
    """Cut the last lines off whose work is not in the run's files: a process was killed before it saved it.

    Raises the errors of `cut_last_lines`.
    """
    progress = Progress(run)

    def is_unsaved(line: bytes) -> bool:
        try:
            record = parse_json(line)
            return isinstance(record, dict) and not progress.has_saved(record)
        except ValueError:
            return False  # its reader names it

    cut_last_lines(file, is_unsaved)
