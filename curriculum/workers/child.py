"""A process that works for another one: its signals and its errors."""

import pickle
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker

_SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
"""Requests to end, which a terminal sends to all its processes."""


@contextmanager
def signals_held() -> Iterator[None]:
    """Start a process in this context: signals wait until it calls `ignore_signals`, also while it imports."""
    resource_tracker.ensure_running()  # its own start within the context would let them through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_signals(*numbers: signal.Signals) -> None:
    """Ignore requests to end, by default all, from the start: the other process gets them too, and ends this one."""
    for number in numbers or _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def portable(error: BaseException) -> BaseException:
    """Return an error that another process can read: itself, or its text."""
    with suppress(Exception):
        pickle.loads(pickle.dumps(error))
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
