"""Signals during long work: the first finishes the step and saves, the second stops at once."""

import math
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from curriculum.reporting import Context, DivergedError, Interrupted, Quiet
from curriculum.workers.games import Pool
from curriculum.workers.local import Local
from gomoku_cli.console import make_reporter, shows_notice
from gomoku_cli.exit_codes import ExitCode, TerminalClosedError
from gomoku_cli.printable import echo
from gomoku_cli.process import ORDERLY_SIGNALS, SIGNALS, stop_at_once, write_remark

_SAME_REQUEST_S = 1.0
"""A closing terminal, and `timeout`, send their signal twice. Within this time only Ctrl-C counts as a second one."""
_LATE_S = 0.25
"""A signal that no handler has taken after this time is taken by a thread."""


@contextmanager
def _calling(request: Callable[[int], None]) -> Iterator[None]:
    """Call `request` with each signal, once and at once.

    Python calls a handler between two steps of its main thread, and the compilation of a kernel is one step of many
    seconds. A thread reads what Python's own part notes of each signal, and takes those that are late.
    """
    theirs, ours = socket.socketpair()
    theirs.setblocking(False)
    lock = threading.RLock()
    ahead = 0
    """Signals that the handler has taken, less those that the thread has read."""

    def take(number: int, step: int) -> None:
        nonlocal ahead
        with lock:
            ahead += step
            is_new = ahead * step > 0
        if is_new:
            request(number)

    def listen() -> None:
        while (number := ours.recv(1)[0]) != 0:
            time.sleep(_LATE_S)
            if number in SIGNALS:
                take(number, -1)

    before = {number: signal.signal(number, lambda number, frame: take(number, 1)) for number in ORDERLY_SIGNALS}
    thread = threading.Thread(target=listen, name="signals", daemon=True)
    thread.start()
    descriptor = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(descriptor)
        theirs.send(b"\0")
        for number, handler in before.items():
            signal.signal(number, handler)
        thread.join()
        theirs.close()
        ours.close()


@contextmanager
def interruptible(
    *,
    quiet: bool = False,
    resume: str | None = None,
    pool: Pool | None = None,
    deadline: float = math.inf,
    notes: bool = True,
) -> Iterator[Context]:
    """Yield the context of long work: its reporter, and a stop check that Ctrl-C, SIGTERM and SIGHUP make true.

    `pool`: the processes that play its games; this process without one.
    `resume`: the command that continues the work, printed when it stops. Stopped work ends the command with exit
    code 130. SIGHUP counts unless the process ignores it (`nohup`). `deadline`, on the clock of `time.monotonic`, stops
    it in the same way, with exit code 0. `notes`: False for work that reports its compilation of kernels itself.
    """
    from gomoku_cli.compilation import reporting_compilation  # it needs numba

    requested_at: float | None = None

    def request(number: int) -> None:
        nonlocal requested_at
        now = time.monotonic()
        if number in ORDERLY_SIGNALS and requested_at is None:
            requested_at = now
            text = f"{'finishing this step' if resume else 'stopping'}; press Ctrl-C again to stop at once"
            if not shows_notice(reporter, text):
                write_remark(text)
        elif requested_at is None or number == signal.SIGINT or now - requested_at > _SAME_REQUEST_S:
            stop_at_once(resume)

    reporter = make_reporter(quiet)
    try:
        with _calling(request), reporting_compilation(reporter if notes else Quiet(), lambda: requested_at is not None):
            yield Context(reporter, lambda: requested_at is not None or time.monotonic() > deadline, pool or Local())
    except Interrupted:
        ending = f"; continue with: {resume}" if resume else ""
        if requested_at is None and time.monotonic() > deadline:
            echo(f"its minutes are over, everything so far is saved{ending}", err=True)
            raise typer.Exit(ExitCode.DONE) from None
        echo(f"stopped{', everything so far is saved' if resume else ''}{ending}", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except DivergedError as error:
        words = " ".join(f"--set {setting}" for setting in error.settings)
        raise DivergedError(f"{error}: {resume} {words}" if resume else str(error), error.settings) from error
    except OSError as error:
        if resume is None or error.strerror is None or isinstance(error, TerminalClosedError):
            raise
        # A full disk, for one: everything before it is saved.
        raise OSError(error.errno, f"{error.strerror}; continue with: {resume}", error.filename) from error
