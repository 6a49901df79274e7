"""The console: results on stdout, progress and remarks on stderr. Bars: `gomoku_cli.progress.bars`."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from curriculum.reporting import Quiet, Reporter
from gomoku_cli.printable import printable
from gomoku_cli.progress.meters import Meter, duration, figures_text

__all__ = ["STDERR", "STDOUT", "Lines", "duration", "headline", "make_reporter", "program", "shows_notice"]

STDOUT = Console()
STDERR = Console(stderr=True)


def make_reporter(quiet: bool) -> Reporter:
    """Return the reporter of a command: silent, or bars on a terminal, or else plain lines at intervals."""
    if quiet:
        return Quiet()
    if not STDERR.is_terminal:
        return Lines()
    from gomoku_cli.progress.bars import Bars

    return Bars(STDERR)


def headline(reporter: Reporter, text: Callable[[], str]) -> AbstractContextManager[Any]:
    """Show a line above the progress of the tasks in this context: the place in the whole work, and its time left.

    `text` is called every few seconds, on any thread.
    """
    shows: Callable[..., AbstractContextManager[Any]] = getattr(reporter, "headline", nullcontext)
    return shows(text)


def program() -> str:
    """Return the command line of this program: its name if that is on the PATH, else its relative path."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m gomoku_cli"
    found = shutil.which("gomoku")
    if found is not None and Path(found).resolve() == called.resolve():
        return "gomoku"
    return os.path.relpath(called) if called.name == "gomoku" else "gomoku"


def shows_notice(reporter: Reporter, text: str) -> bool:
    """Show a line with the progress until it ends, if the reporter draws on the terminal now; return True if so.

    Bars would draw over any other line. It is safe in a signal handler.
    """
    notice = getattr(reporter, "notice", None)
    return notice is not None and notice(text)


class Lines:
    """Progress outside a terminal: one plain line an interval, on stderr."""

    def __init__(self, interval_s: float = 10.0) -> None:
        self._interval_s = interval_s
        self._next = time.monotonic() + interval_s
        self._lock = threading.Lock()
        self._headline: Callable[[], str] = str

    @contextmanager
    def headline(self, text: Callable[[], str]) -> Iterator[None]:
        """End each line of this context with `text`; see `headline`."""
        self._headline = text
        yield
        self._headline = str

    @contextmanager
    def task(self, name: str, total: float, unit: str) -> Iterator["_LineTask"]:
        """See `Reporter`."""
        task = _LineTask(self, name, Meter(total, unit))
        yield task
        took = time.monotonic() - task.meter.started
        if took >= self._interval_s:
            self.say(f"{name}: {task.meter.counts(task.done)} in {duration(took)}")

    def say(self, text: str) -> None:
        """See `Reporter`."""
        print(printable(text), file=sys.stderr, flush=True)

    def progress(self, text: Callable[[], str]) -> None:
        """Write a line on a task, with the headline at its end, if the next line is due."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + self._interval_s
        self.say("; ".join(filter(None, (text(), self._headline()))))


class _LineTask:
    def __init__(self, lines: Lines, name: str, meter: Meter) -> None:
        self._lines, self._name, self.meter = lines, name, meter
        self.done = 0.0

    def update(self, done: float, **figures: float | str) -> None:
        """See `curriculum.reporting.Task`."""
        self.done = done
        pace = self.meter.pace(done)
        start = f"{self._name}: {self.meter.counts(done)}"
        self._lines.progress(lambda: ", ".join(filter(None, (start, pace, figures_text(figures)))))
