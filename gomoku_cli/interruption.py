"""Ctrl-C and SIGTERM: the first finishes the step and saves, the second stops at once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from curriculum.reporting import Conduct, Interrupted
from gomoku_cli.console import make_reporter
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.printable import echo

_SHOW_CURSOR = b"\x1b[?25h"
_CLEAR_LINE = b"\r\x1b[K"


def _write(text: bytes, for_terminal: bytes = b"") -> None:
    """Write to the descriptor of stderr: the signal may have interrupted a write to `sys.stderr`."""
    with suppress(OSError):  # the other end may be closed
        os.write(2, (for_terminal if os.isatty(2) else b"") + text)


def _stop_at_once(resume: str | None) -> None:
    ending = f"; continue with: {resume}" if resume else ""
    _write(f"stopped{ending}\n".encode(), _CLEAR_LINE + _SHOW_CURSOR)
    os._exit(ExitCode.INTERRUPTED)


@contextmanager
def conducting(*, quiet: bool = False, resume: str | None = None) -> Iterator[Conduct]:
    """Yield the conduct of long work: its reporter, and a stop check that Ctrl-C and SIGTERM make true.

    `resume`: the command that continues the work, printed when it stops. Stopped work ends the command with exit
    code 130.
    """
    requested = False

    def request(number: int, frame: FrameType | None) -> None:
        nonlocal requested
        if requested:
            _stop_at_once(resume)
        requested = True
        doing = b"finishing this step" if resume else b"stopping"
        _write(doing + b"; press Ctrl-C again to stop at once\n", _CLEAR_LINE)

    before = {number: signal.signal(number, request) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield Conduct(make_reporter(quiet), lambda: requested)
    except Interrupted:
        ending = f"; continue with: {resume}" if resume else ""
        echo(f"stopped{', everything so far is saved' if resume else ''}{ending}", err=True)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
