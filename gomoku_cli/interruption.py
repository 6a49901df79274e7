"""Ctrl-C: the first finishes the step and saves, the second stops at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

import typer

from curriculum.reporting import Conduct, Interrupted
from gomoku_cli.console import make_reporter
from gomoku_cli.exit_codes import ExitCode

_SHOW_CURSOR = b"\x1b[?25h"
_CLEAR_LINE = b"\r\x1b[K"


def _write(text: bytes, for_terminal: bytes = b"") -> None:
    """Straight to the descriptor: a handler may have interrupted a write to `sys.stderr`."""
    with suppress(OSError):  # nobody may listen any more
        os.write(2, (for_terminal if os.isatty(2) else b"") + text)


def _stop_at_once(resume: str | None) -> None:
    ending = f"; continue with: {resume}" if resume else ""
    _write(f"stopped{ending}\n".encode(), _CLEAR_LINE + _SHOW_CURSOR)
    os._exit(ExitCode.INTERRUPTED)


@contextmanager
def conducting(*, quiet: bool = False, resume: str | None = None) -> Iterator[Conduct]:
    """What long work reports with and asks whether to stop, while Ctrl-C and SIGTERM ask it to.

    `resume`: the command that continues the work, told to whoever stopped it. Ends the command with exit code 130
    when the work stopped because it was asked to.
    """
    asked = False

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            _stop_at_once(resume)
        asked = True
        doing = b"finishing this step" if resume else b"stopping"
        _write(doing + b"; press Ctrl-C again to stop at once\n", _CLEAR_LINE)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield Conduct(make_reporter(quiet), lambda: asked)
    except Interrupted:
        ending = f"; continue with: {resume}" if resume else ""
        print(f"stopped{', everything so far is saved' if resume else ''}{ending}", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
