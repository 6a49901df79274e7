"""The metrics of a run: its steps, and lines whose work is not saved.

A line is appended before the state that ends its step. A kill between the two leaves a line without its state, and the
step is done again: the next opening of the run cuts the line off.
"""

from pathlib import Path
from typing import Any

from core.files.json_text import parse_json
from curriculum.run.json_files import cut_last_lines
from curriculum.run.progress import Progress


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
