"""The engine as a process: pipes, signals, and the end."""

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from core.errors import FailedError
from core.files.atomic import naming
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.gomocup.lines import Line
from gomoku_cli.process import SIGNALS

if TYPE_CHECKING:  # the process handles signals and END while the engine's modules load
    from gomoku_cli.gomocup.commands import Engine

_LAST_LINE_S = 0.2
"""Maximum delay of an END by a line that is being written. A manager that does not read would delay it for ever."""


class Answers:
    """Writes lines to a descriptor, each of them at once and complete."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def write(self, line: str) -> None:
        """Write one line. Raises `BrokenPipeError` if the reader has closed the pipe, and `OSError`."""
        rest = line.encode("ascii", "backslashreplace") + b"\n"
        with self._lock, naming(Path("stdout")):
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]

    def leave(self) -> None:
        """End the process without another line. Any thread may call this."""
        self._lock.acquire(timeout=_LAST_LINE_S)
        os._exit(ExitCode.DONE)


@contextmanager
def protocol_pipes() -> Iterator[tuple[int, int]]:
    """Yield input and output descriptors for the protocol alone.

    Meanwhile stdin is empty for other readers, and other output goes to stderr. Raises `FailedError` if one is closed.
    """
    if sys.stdin is None or sys.stdout is None:
        raise FailedError(f"{'stdin' if sys.stdin is None else 'stdout'} is closed; the engine needs both of them open")
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield kept
    finally:
        sys.stdout.flush()
        for descriptor, own in enumerate(kept):
            os.dup2(own, descriptor)
            os.close(own)


def end_on_signals() -> None:
    """Let the signals end the process at once and without a word: there is nothing to save."""

    def end(number: int, frame: FrameType | None) -> None:
        os._exit(ExitCode.INTERRUPTED)

    for number in SIGNALS:
        signal.signal(number, end)


def serve(engine: "Engine", lines: Iterable[Line], answers: Answers) -> None:
    """Answer the lines until they end or the reader of the answers closes the pipe."""
    with suppress(BrokenPipeError):
        for line in lines:
            for answer in engine.answer(line.text, line.read_at):
                answers.write(answer)
        for answer in engine.finish():
            answers.write(answer)
