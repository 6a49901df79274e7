"""Lines of a manager, read on a thread of their own, so that END and the end of the input count during a move too."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from queue import Queue
from typing import NamedTuple

from core.input_limits import MAX_COMMAND_LENGTH, MAX_COMMANDS_AHEAD
from gomoku_cli.gomocup.scheduling import wake_up_early

_BREAK = re.compile(rb"[\r\n]")
_CHUNK = 1 << 16
_KEPT = MAX_COMMAND_LENGTH + 1


class Line(NamedTuple):
    """One line, without its end."""

    text: str
    """In latin-1, which decodes any byte. The protocol itself needs ASCII only."""
    read_at: float
    """Instant of `time.monotonic`."""


class LineCutter:
    """Cuts a stream of bytes into lines. It keeps at most one character more of a line than `MAX_COMMAND_LENGTH`."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in `chunk`. They may be blank."""
        *ended, rest = _BREAK.split(chunk)
        lines = []
        for line in ended:
            lines.append((self._rest + line[:_KEPT])[:_KEPT])
            self._rest = b""
        self._rest = (self._rest + rest[:_KEPT])[:_KEPT]
        return lines

    def finish(self) -> list[bytes]:
        """Return the last line, if it has no line feed."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


class LineReader:
    """Reads the lines of a descriptor to its end, or to the line END."""

    def __init__(self, descriptor: int, *, leave: Callable[[], None]) -> None:
        """The reading thread calls `leave` for an END that arrives before the earlier lines are answered.

        The move in progress then no longer matters. An END that is read together with the commands before it, as from
        a file, takes effect after their answers.
        """
        self._descriptor = descriptor
        self._cutter = LineCutter()
        self._leave = leave
        self._waiting: Queue[Line | None] = Queue(MAX_COMMANDS_AHEAD)
        self._over = threading.Event()
        threading.Thread(target=self._read, name="lines", daemon=True).start()

    @property
    def over(self) -> bool:
        """True after END or the end of the input."""
        return self._over.is_set()

    def ahead(self) -> list[Line]:
        """Return the lines that wait behind the one that is being answered."""
        with self._waiting.mutex:
            return [line for line in self._waiting.queue if line is not None]

    def __iter__(self) -> Iterator[Line]:
        """Yield the lines before END that are not blank."""
        while (line := self._waiting.get()) is not None:
            yield line
            self._waiting.task_done()

    def _read(self) -> None:
        wake_up_early()
        while not self.over:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except OSError:  # a closed console
                chunk = b""
            read_at = time.monotonic()
            behind = self._waiting.unfinished_tasks > 0
            raw = self._cutter.feed(chunk) if chunk else self._cutter.finish()
            lines = [Line(text, read_at) for one in raw if (text := one.decode("latin-1").strip())]
            ends = [number for number, line in enumerate(lines) if line.text.split()[0].upper() == "END"]
            if ends or not chunk:
                self._over.set()
            if ends and behind and chunk:  # a last line without its end comes alone, even from a file
                self._leave()
            for line in lines[: ends[0] if ends else None]:
                self._waiting.put(line)
        self._waiting.put(None)
