"""Notes about a compilation of kernels: the first seconds of a first run would be silent without them."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.files.cache_folder import has_noticed
from curriculum.bench.compiling import progress_text, watching_compilation
from curriculum.reporting import Interrupted, Reporter
from gomoku_cli.console import duration

ESTIMATE = "10 to 90 seconds"
"""Time to compile the kernels of a command."""
_EVERY_S = 5.0
"""Interval of the notes."""


@contextmanager
def reporting_compilation(reporter: Reporter, stop: Callable[[], bool]) -> Iterator[None]:
    """Report the start of a compilation in this context, its progress, and at the end its time.

    Once `stop()` is True no further kernel is compiled: the work that needs one ends with `Interrupted`.

    If the cache was damaged or cannot be used, its notice has announced the compilation.
    """
    over, has_begun = threading.Event(), False

    def begin(name: str) -> None:
        nonlocal has_begun
        if stop():
            raise Interrupted
        if not has_begun and not has_noticed():
            has_begun = True
            reporter.say(f"the first run compiles the search, which takes {ESTIMATE}")

    def report() -> None:
        told = 0
        while not over.wait(_EVERY_S):
            if has_begun and len(compilation.kernels) > told:
                told = len(compilation.kernels)
                reporter.say(progress_text(told, compilation.seconds))

    with watching_compilation(begin) as compilation:
        thread = threading.Thread(target=report, name="compilation", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
    if has_begun:
        reporter.say(f"compiling took {duration(compilation.seconds)}")
