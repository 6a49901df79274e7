"""Lines from a manager, read on a thread of their own: END and the end of the input are seen during a move too."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from queue import Queue
from typing import NamedTuple

_BREAK = re.compile(rb"[\r\n]")
MAX_LENGTH = 1000
"""No command of the protocol comes near it; what is longer is cut to one character more."""

_CHUNK = 1 << 16
_KEPT = MAX_LENGTH + 1
_MAX_WAITING = 10_000
"""Lines that are read ahead."""


class Line(NamedTuple):
    """One line, without its end."""

    text: str
    """In latin-1: any byte is some character, and the protocol needs none beyond ASCII."""
    read_at: float
    """By `time.monotonic`."""


class LineCutter:
    """Cuts bytes into lines, however they come, and keeps no more of a line than shows it to be too long."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that `chunk` ends, which may be empty."""
        *ended, rest = _BREAK.split(chunk)
        lines = []
        for line in ended:
            lines.append((self._rest + line[:_KEPT])[:_KEPT])
            self._rest = b""
        self._rest = (self._rest + rest[:_KEPT])[:_KEPT]
        return lines

    def finish(self) -> list[bytes]:
        """The last line, if it had no end."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


class LineReader:
    """Reads a descriptor to its end, or to the line END."""

    def __init__(self, descriptor: int, *, leave: Callable[[], None]) -> None:
        """`leave` is called, on the reading thread, for an END that comes while earlier lines are still being handled.

        What is thought about then is of no interest any more. An END that was read together with the commands before
        it, as from a file, comes after their answers.
        """
        self._descriptor = descriptor
        self._cutter = LineCutter()
        self._leave = leave
        self._waiting: Queue[Line | None] = Queue(_MAX_WAITING)
        self._over = threading.Event()
        threading.Thread(target=self._read, name="lines", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether END or the end of the input was read: nobody waits for more."""
        return self._over.is_set()

    def __iter__(self) -> Iterator[Line]:
        """The lines that are not blank up to END, which is not among them."""
        while (line := self._waiting.get()) is not None:
            yield line
            self._waiting.task_done()

    def _read(self) -> None:
        while not self.over:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:  # a console that was closed
                chunk = b""
            read_at = time.monotonic()
            behind = self._waiting.unfinished_tasks > 0
            raw = self._cutter.feed(chunk) if chunk else self._cutter.finish()
            lines = [Line(text, read_at) for one in raw if (text := one.decode("latin-1").strip())]
            ends = [number for number, line in enumerate(lines) if line.text.split()[0].upper() == "END"]
            if ends or not chunk:
                self._over.set()
            if ends and behind:
                self._leave()
            for line in lines[: ends[0] if ends else None]:
                self._waiting.put(line)
        self._waiting.put(None)
