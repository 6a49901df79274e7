"""Compilation of kernels: its detection, and notes about it, since the first seconds of a first run are silent."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from core.caching.folder import has_noticed
from curriculum.reporting import Reporter
from gomoku_cli.console import duration

ESTIMATE = "half a minute to a minute and a half"
"""Time to compile everything on a slow machine."""


class Compilation(event.Listener):
    """The kernels that were compiled instead of read from the cache, and their time."""

    def __init__(self, begins: Callable[[], None]) -> None:
        """The thread that compiles the first kernel calls `begins`."""
        self.kernels = 0
        self.seconds = 0.0
        self._begins = begins
        self._depth = 0
        self._since = 0.0

    def on_start(self, event: event.Event) -> None:
        """Note that a function begins to compile, perhaps within the compilation of its caller."""
        if not self._depth:
            self._since = time.perf_counter()
            if not self.seconds:
                self._begins()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """Count a compiled function."""
        self._depth -= 1
        # numba compiles parts of its own too.
        self.kernels += not event.data["dispatcher"].py_func.__module__.startswith("numba.")
        if not self._depth:
            self.seconds += time.perf_counter() - self._since


@contextmanager
def watching_compilation(begins: Callable[[], None] = lambda: None) -> Iterator[Compilation]:
    """Count the kernels that any thread compiles in this context."""
    compilation = Compilation(begins)
    with event.install_listener("numba:compile", compilation):
        yield compilation


@contextmanager
def reporting_compilation(reporter: Reporter) -> Iterator[None]:
    """Report the start of a compilation in this context, and at the end its time.

    If the cache was damaged or cannot be used, its notice has announced the compilation.
    """
    has_begun = False

    def begin() -> None:
        nonlocal has_begun
        if not has_noticed():
            has_begun = True
            reporter.say(f"the first run compiles the search, which takes {ESTIMATE}")

    with watching_compilation(begin) as compilation:
        yield
    if has_begun:
        reporter.say(f"compiling took {duration(compilation.seconds)}")
