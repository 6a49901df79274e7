"""Progress on a terminal: a bar for each task, readable from 60 columns on, and a line kept for each finished one."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.text import Text

from gomoku_cli.printable import printable
from gomoku_cli.progress.meters import Meter, duration, figures_text

_STILL_S = 2.0
"""A task without news for this long says how long its step has taken."""
_KEPT_S = 1.0
"""Shorter tasks leave no line."""
_HEADLINE_S = 5.0
"""Seconds between two calls of the headline."""
_MAX_BAR, _MIN_BAR = 24, 8


class Bars:
    """Progress on a terminal: a bar for each task, on stderr."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._depth = 0
        self._tasks: list[_BarTask] = []
        self._lock = threading.RLock()
        self._headline: Callable[[], str] | None = None
        self._headline_text, self._headline_at = "", -_HEADLINE_S
        self._idle_since = time.monotonic()
        self._after = ""
        self._notice = ""
        self._spinner = itertools.cycle("|/-\\" if console.options.ascii_only else "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

    @contextmanager
    def task(self, name: str, total: float, unit: str) -> Iterator["_BarTask"]:
        """See `Reporter`."""
        task = _BarTask(printable(name), Meter(total, unit))
        with self._shown():
            with self._lock:
                self._tasks.append(task)
            if self._live is not None:
                self._live.refresh()  # a short task is seen too
            try:
                yield task
                if task.meter.seconds >= _KEPT_S:
                    self.say(task.summary())
            finally:
                with self._lock:
                    self._tasks.remove(task)
                self._idle_since, self._after = time.monotonic(), task.name

    @contextmanager
    def headline(self, text: Callable[[], str]) -> Iterator[None]:
        """Show `text` above the bars, also between two tasks; see `gomoku_cli.console.headline`."""
        self._headline, self._idle_since = text, time.monotonic()
        try:
            with self._shown():
                yield
        finally:
            self._headline = None

    def say(self, text: str) -> None:
        """See `Reporter`."""
        self._console.print(printable(text), markup=False, highlight=False, soft_wrap=True)

    def notice(self, text: str) -> bool:
        """Show a line below the bars; see `gomoku_cli.console.shows_notice`."""
        self._notice = text
        return self._live is not None

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """Keep the bars on the terminal in this context."""
        if not self._depth:
            # Results go to stdout as they are, never through this console.
            self._live = Live(
                get_renderable=self._render,
                console=self._console,
                transient=True,
                refresh_per_second=4,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth and self._live is not None:
                self._live.stop()
                self._live = None

    def _render(self) -> Text:
        width = self._console.width - 1
        lines: list[Text] = []
        if self._headline is not None:
            text = self._current_headline()
            parts = [text] if cell_len(text) <= width else text.split("; ")
            lines += [Text(line, style="bold") for line in parts if line]
        with self._lock:
            tasks = list(self._tasks)
        glyph = next(self._spinner)
        for task in tasks:
            lines += task.lines(width, glyph, ascii_only=self._console.options.ascii_only)
        if not tasks and time.monotonic() - self._idle_since > _STILL_S / 4:
            after = f"{self._after} is done: " if self._after else ""
            idle = duration(time.monotonic() - self._idle_since)
            lines.append(Text(f"{glyph} {after}preparing the next step, {idle}"))
        if self._notice:
            lines.append(Text(self._notice, style="bold"))
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n").join(lines)

    def _current_headline(self) -> str:
        assert self._headline is not None
        if time.monotonic() - self._headline_at >= _HEADLINE_S:
            self._headline_text = printable(self._headline())
            self._headline_at = time.monotonic()
        return self._headline_text


class _BarTask:
    def __init__(self, name: str, meter: Meter) -> None:
        self.name, self.meter = name, meter
        self._left: float | None = None
        self._done, self._speed, self._figures = 0.0, "", ""
        self._updated = time.monotonic()

    def update(self, done: float, **figures: float | str) -> None:
        """See `curriculum.reporting.Task`."""
        if done != self._done or not self._speed:
            self._speed, self._left = self.meter.speed(done)
        self._done, self._updated = done, time.monotonic()
        self._figures = printable(figures_text(figures))

    def summary(self) -> str:
        """Return the line that stays when the task is done."""
        text = f"{self.name}: {self.meter.counts(self._done)} in {duration(self.meter.seconds)}"
        return f"{text}, {self._figures}" if self._figures else text

    def lines(self, width: int, glyph: str, *, ascii_only: bool) -> list[Text]:
        """Return one line, or two where one does not fit into `width` columns; the time left is never cut."""
        still = time.monotonic() - self._updated
        left = "" if self._left is None else f"  {duration(max(0.0, self._left - still))} left"
        share = self.meter.share(self._done)
        tail = f" {100 * share:3.0f} %{left}"
        details = [self.meter.counts(self._done), self._speed, self._figures]
        if still > _STILL_S:
            details.insert(1, f"{duration(still)} on this step")
        detail = ", ".join(filter(None, details))
        name = f"{glyph} {self.name} "
        room = width - cell_len(name) - cell_len(tail) - cell_len(detail) - 2
        if room >= _MAX_BAR:
            return [Text.assemble(name, _bar(share, _MAX_BAR, ascii_only), tail, "  ", (detail, "dim"))]
        bar = min(_MAX_BAR, max(_MIN_BAR, width - cell_len(name) - cell_len(tail)))
        short = Text(name)
        short.truncate(max(4, width - bar - cell_len(tail)), overflow="ellipsis")
        return [Text.assemble(short, _bar(share, bar, ascii_only), tail), Text(f"  {detail}", style="dim")]


def _bar(share: float, columns: int, ascii_only: bool) -> Text:
    full = round(share * columns)
    filled, rest = ("#", ".") if ascii_only else ("━", "─")
    return Text.assemble((filled * full, "green"), (rest * (columns - full), "dim"))
