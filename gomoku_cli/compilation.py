"""Watching kernels compile, and telling of it: why the first seconds of a first run are silent."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event

from core.jit import KERNEL_FOLDER, KERNELS_ARE_KEPT
from curriculum.reporting import Reporter
from gomoku_cli.console import duration

ESTIMATE = "up to half a minute"
"""How long it takes to compile everything on a slow machine."""


class Compilation(event.Listener):
    """What was compiled, and did not come from the cache."""

    def __init__(self, begins: Callable[[], None]) -> None:
        """`begins` is called at the first kernel, by the thread that compiles it."""
        self.kernels = 0
        self.seconds = 0.0
        self._begins = begins
        self._depth = 0
        self._since = 0.0

    def on_start(self, event: event.Event) -> None:
        """A function begins to compile, perhaps because another that is compiled calls it."""
        if not self._depth:
            self._since = time.perf_counter()
            if not self.seconds:
                self._begins()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """A function is compiled."""
        self._depth -= 1
        # numba compiles parts of its own on the way.
        self.kernels += not event.data["dispatcher"].py_func.__module__.startswith("numba.")
        if not self._depth:
            self.seconds += time.perf_counter() - self._since


@contextmanager
def watching_compilation(begins: Callable[[], None] = lambda: None) -> Iterator[Compilation]:
    """Counts what is compiled meanwhile, on whatever thread."""
    compilation = Compilation(begins)
    with event.install_listener("numba:compile", compilation):
        yield compilation


@contextmanager
def telling_of_compilation(reporter: Reporter) -> Iterator[None]:
    """Says when something begins to compile, and at the end how long it took."""
    if KERNELS_ARE_KEPT:
        beginning = f"the first run compiles the search, which takes {ESTIMATE}"
    else:
        beginning = f"every run compiles the search, {ESTIMATE}, because {KERNEL_FOLDER} cannot be written"
    with watching_compilation(lambda: reporter.say(beginning)) as compilation:
        yield
    if compilation.kernels:
        reporter.say(f"compiling took {duration(compilation.seconds)}")
