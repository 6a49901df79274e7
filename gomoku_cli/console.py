"""The console: results on stdout, progress and remarks on stderr."""

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from curriculum.reporting import Quiet, Reporter
from gomoku_cli.printable import printable

STDOUT = Console()
STDERR = Console(stderr=True)

_INTERVAL_S = 10.0
_RESUMED_WITHIN_S = 1.0


def make_reporter(quiet: bool) -> Reporter:
    """Return the reporter of a command: silent, or bars on a terminal, or else plain lines at intervals."""
    if quiet:
        return Quiet()
    return Bars(STDERR) if STDERR.is_terminal else Lines()


def program() -> str:
    """Return the command line of this program: its name if that is on the PATH, else its relative path."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m gomoku_cli"
    found = shutil.which("gomoku")
    if found is not None and Path(found).resolve() == called.resolve():
        return "gomoku"
    return os.path.relpath(called) if called.name == "gomoku" else "gomoku"


def duration(seconds: float) -> str:
    """Return `4.2 s`, `1:23` or `2:03:10`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _figures(figures: dict[str, float | str]) -> str:
    """Return `loss 0.312, score 0.9`."""
    return ", ".join(
        f"{name.replace('_', ' ')} {value if isinstance(value, str) else format(value, '.4g')}"
        for name, value in figures.items()
    )


class _Meter:
    """The speed of a task, and the time that it will take."""

    def __init__(self, total: float, unit: str) -> None:
        self._total, self._unit = total, unit
        self.started = time.monotonic()
        self._since = (self.started, 0.0)
        self._first = True

    def counts(self, done: float) -> str:
        """Return `120 of 4000 games`."""
        return f"{done:,.10g} of {self._total:,.10g} {self._unit}"

    def pace(self, done: float) -> str:
        """Return `3.1 games/s, 1:23 left`, or nothing before the first step."""
        now = time.monotonic()
        if self._first and now - self.started < _RESUMED_WITHIN_S:
            # Resumed work reports its earlier steps at once; they took no time here.
            self._since = (now, done)
        self._first = False
        seconds, gained = now - self._since[0], done - self._since[1]
        if seconds <= 0 or gained <= 0:
            return ""
        rate = gained / seconds
        speed = f"{rate:.3g} {self._unit}/s" if rate >= 0.1 else f"{rate * 60:.3g} {self._unit}/min"
        return f"{speed}, {duration(max(0.0, self._total - done) / rate)} left"


class Lines:
    """Progress outside a terminal: one plain line an interval, on stderr."""

    def __init__(self, interval_s: float = _INTERVAL_S) -> None:
        self._interval_s = interval_s
        self._next = time.monotonic() + interval_s
        self._lock = threading.Lock()

    @contextmanager
    def task(self, name: str, total: float, unit: str) -> Iterator["_LineTask"]:
        """See `Reporter`."""
        task = _LineTask(self, name, _Meter(total, unit))
        yield task
        took = time.monotonic() - task.meter.started
        if took >= self._interval_s:
            self.say(f"{name}: done in {duration(took)}")

    def say(self, text: str) -> None:
        """See `Reporter`."""
        print(printable(text), file=sys.stderr, flush=True)

    def is_time(self) -> bool:
        """Return True if the next line is due; the caller then writes it."""
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return False
            self._next = now + self._interval_s
            return True


class _LineTask:
    def __init__(self, lines: Lines, name: str, meter: _Meter) -> None:
        self._lines, self._name, self.meter = lines, name, meter

    def update(self, done: float, **figures: float | str) -> None:
        """See `curriculum.reporting.Task`."""
        pace = self.meter.pace(done)
        if self._lines.is_time():
            parts = (self.meter.counts(done), pace, _figures(figures))
            self._lines.say(f"{self._name}: {', '.join(part for part in parts if part)}")


class Bars:
    """Progress on a terminal: a bar for each task, on stderr."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._open = 0

    @contextmanager
    def task(self, name: str, total: float, unit: str) -> Iterator["_BarTask"]:
        """See `Reporter`."""
        progress = self._enter()
        meter = _Meter(total, unit)
        identity = progress.add_task(printable(name), total=total, counts=meter.counts(0), pace="", figures="")
        try:
            yield _BarTask(progress, identity, meter)
        finally:
            self._leave(progress, identity)

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self._console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def _enter(self) -> Progress:
        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[counts]}", markup=False),
                TimeElapsedColumn(),
                TextColumn("{task.fields[pace]}", markup=False),
                TextColumn("{task.fields[figures]}", style="dim", markup=False),
                console=self._console,
                transient=True,
                refresh_per_second=4,
            )
            self._progress.start()
        self._open += 1
        return self._progress

    def _leave(self, progress: Progress, identity: TaskID) -> None:
        progress.remove_task(identity)
        self._open -= 1
        if not self._open:
            progress.stop()
            self._progress = None


class _BarTask:
    def __init__(self, progress: Progress, identity: TaskID, meter: _Meter) -> None:
        self._progress, self._identity, self._meter = progress, identity, meter

    def update(self, done: float, **figures: float | str) -> None:
        """See `curriculum.reporting.Task`."""
        self._progress.update(
            self._identity,
            completed=done,
            counts=self._meter.counts(done),
            pace=self._meter.pace(done),
            figures=printable(_figures(figures)),
        )
