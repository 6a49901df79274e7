"""Compilation of kernels: its progress, and a process that compiles a part of them beside this one."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any

from numba.core import event

from core.compiled.compiler import known_kernels, name_of
from core.compiled.jit import KERNELS, KERNELS_ARE_COLD
from core.cores import cores
from curriculum.workers.child import ignore_signals, signals_held


class Compilation(event.Listener):
    """The kernels that are compiled instead of read from the cache, and the time of that."""

    def __init__(self, begins: Callable[[str], None]) -> None:
        """The thread that compiles calls `begins` with the name of each kernel."""
        self.kernels: set[str] = set()
        """Names of the kernels compiled, or under way."""
        self._begins = begins
        self._depth = 0
        self._seconds = 0.0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """Time of all compilations so far."""
        return self._seconds + (time.perf_counter() - self._since if self._depth else 0.0)

    @property
    def is_under_way(self) -> bool:
        """True while a kernel compiles."""
        return self._depth > 0

    def on_start(self, event: event.Event) -> None:
        """Note that a function begins to compile, perhaps within the compilation of its caller."""
        if not self._depth:
            self._since = time.perf_counter()
        self._depth += 1
        function = event.data["dispatcher"].py_func
        if not function.__module__.startswith("numba."):  # which compiles parts of its own too
            name = name_of(function)
            self.kernels.add(name)
            self._begins(name)

    def on_end(self, event: event.Event) -> None:
        """Note that a function is compiled."""
        if not self._depth:  # it began before this listener
            return
        self._depth -= 1
        if not self._depth:
            self._seconds += time.perf_counter() - self._since


@contextmanager
def watching_compilation(begins: Callable[[str], None] = lambda name: None) -> Iterator[Compilation]:
    """Note the kernels that any thread compiles in this context."""
    compilation = Compilation(begins)
    with event.install_listener("numba:compile", compilation):
        yield compilation


def progress_text(kernels: int, seconds: float) -> str:
    """Return a line about a compilation that is under way, after a number of kernels and of seconds."""
    return f"compiling, once: {kernels} of up to {known_kernels()} kernels, {seconds:.0f} s"


class Helper:
    """A process that compiles into the cache, while this one compiles something else."""

    def __init__(self, work: Callable[[], None]) -> None:
        """`work`: a function of a module, which uses the kernels to compile."""
        context = get_context("spawn")
        self._connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_compile, args=(work, theirs), name="compile", daemon=True)
        with signals_held():
            self._process.start()
        theirs.close()
        self._kernels: set[str] = set()

    def kernels(self) -> set[str]:
        """Return the names of the kernels that it has compiled, or is about to."""
        with suppress(EOFError, OSError):
            while self._connection.poll():
                self._kernels.add(self._connection.recv())
        return self._kernels

    def join(self, timeout_s: float | None = None) -> bool:
        """Wait for its end; return True after it. What it did not compile this process compiles when it is needed."""
        self._process.join(timeout_s)
        return not self._process.is_alive()


def helper_for(work: Callable[[], None]) -> Helper | None:
    """Begin to compile the kernels of `work` in a process beside this one, where that saves time.

    None on a single core, and where the kernels are compiled already or cannot be kept.
    """
    return Helper(work) if KERNELS_ARE_COLD and KERNELS.can_keep() and cores() > 1 else None


def _compile(work: Callable[[], None], connection: Connection) -> None:
    ignore_signals(signal.SIGINT)  # the other process ends, and with it this one
    threading.Thread(target=_end_with_parent, daemon=True).start()

    def tell(name: str) -> None:
        with suppress(OSError):
            connection.send(name)

    with watching_compilation(tell):
        work()


def _end_with_parent() -> None:
    parent: Any = parent_process()
    parent.join()
    os._exit(1)
