"""A process that works for another one: its signals and its errors."""

import pickle
import signal
from contextlib import suppress


def ignore_signals() -> None:
    """Ignore requests to end: the other process gets them too, saves what there is, and closes its connection."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)


def portable(error: BaseException) -> BaseException:
    """Return an error that another process can read: itself, or its text."""
    with suppress(Exception):
        pickle.loads(pickle.dumps(error))
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
