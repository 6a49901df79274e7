"""Another program, spoken to line by line through pipes, and always ended."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

_MAX_LINE_BYTES = 4096
"""Longer lines are cut."""
_MAX_LINES = 64
"""Lines kept that nobody has asked for yet; older ones go."""
_MAX_STDERR_BYTES = 4096
"""The end of stderr that is kept."""
_MAX_LAST_WORDS = 120
"""Characters of its last line that an error quotes."""
_STOP_EVERY_S = 0.02
"""How often whoever waits for a line asks whether to stop."""
_END_S = 1.0
"""How long a program may take to end by itself once it is told to."""
_TERMINATE_S = 0.5
"""And then, how long to end after SIGTERM."""
_WIND_UP_S = 1.0
"""How long what is left of an ended program may take: its exit code, the ends of its pipes."""

_GUARD = 'read -r line; kill -s KILL -- "-$1"; rm -rf -- "$2"'
"""Waits until the pipe from this process closes, which it does however this process ends; then kills the program and
removes its folder."""


class ProgramEndedError(Exception):
    """The program is gone, or has closed its output; says how."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the program wrote."""

    text: str
    """Without spaces and line ends around it; never empty."""
    at: float
    """`time.monotonic()` when it was read."""


class EngineProcess:
    """A program with all that it starts, in a session of its own.

    Two threads read what it writes, so that it never waits for a reader and no answer is timed by when somebody had
    time to look at it. What is kept is bounded, whatever it writes. Ctrl-C at the terminal does not reach it. Where
    this process ends without closing it, even by a signal, a shell that waits for that kills it. On Windows there is
    no such shell, and what the program has started is not ended with it.
    """

    def __init__(self, command: Sequence[str], is_talk: Callable[[str], bool]) -> None:
        """Starts `command`. Lines that `is_talk` are dropped as they come. Raises `OSError`."""
        self.started_at = time.monotonic()
        """`time.monotonic()` just before it was started."""
        with ExitStack() as undo:
            self._folder = tempfile.TemporaryDirectory(prefix="gomoku-engine-", ignore_cleanup_errors=True)
            undo.callback(self._folder.cleanup)
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            undo.push(self._process)
            undo.callback(self._process.kill)
            self._guard = _start_guard(self._process.pid, self._folder.name)
            undo.pop_all()
        self._is_talk = is_talk
        self._lines: deque[Line] = deque(maxlen=_MAX_LINES)
        self._stderr = b""
        self._output_closed = False
        self._closed = False
        self._told = threading.Condition()
        """Held to touch the lines; notified when there is one more, or the output is closed."""
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_lines, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def folder(self) -> str:
        """An empty folder for its files, removed with it."""
        return self._folder.name

    def send(self, lines: Iterable[str]) -> float:
        """Writes `lines`; returns `time.monotonic()` just before. Raises `ProgramEndedError`."""
        assert self._process.stdin is not None
        text = "".join(f"{line}\r\n" for line in lines).encode()
        now = time.monotonic()
        try:
            self._process.stdin.write(text)
            self._process.stdin.flush()
        except OSError:
            raise ProgramEndedError(self._how_it_ended()) from None
        return now

    def forget_lines(self) -> None:
        """Drops the lines that came before anything was asked."""
        with self._told:
            self._lines.clear()

    def next_line(self, deadline: float, stop: Callable[[], bool]) -> Line | None:
        """The oldest line not yet taken; None if none has come by `deadline` (`time.monotonic()`) or `stop` said yes.

        Raises `ProgramEndedError` where none can come any more.
        """
        with self._told:
            while not self._lines and not self._output_closed:
                left = deadline - time.monotonic()
                if left <= 0 or stop():
                    return None
                self._told.wait(min(left, _STOP_EVERY_S))
            if self._lines:
                return self._lines.popleft()
        raise ProgramEndedError(self._how_it_ended())

    def close(self, farewell: str | None) -> None:
        """Ends the program and all that it has started; does nothing the second time.

        `farewell` is the line that asks it to end by itself. None where it would not listen: it is told by SIGTERM
        at once. In the end everything that is left is killed.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if farewell is not None:
                with suppress(ProgramEndedError):
                    self.send([farewell])
                    self._wait(_END_S)
            if self._process.poll() is None:
                self._signal(signal.SIGTERM)
                self._wait(_TERMINATE_S)
        finally:
            self._kill()

    def _kill(self) -> None:
        if sys.platform != "win32":
            self._signal(signal.SIGKILL)  # also for what it has started: that may outlive it
        else:
            self._process.kill()
        self._wait(_WIND_UP_S)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            assert self._guard.stdin is not None
            self._guard.stdin.close()
        assert self._process.stdin is not None
        with suppress(OSError):  # what it has not read is still to be written
            self._process.stdin.close()
        for reader in self._readers:
            reader.join(_WIND_UP_S)
        self._folder.cleanup()

    def _signal(self, number: signal.Signals) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids it for what has ended
                os.killpg(self._process.pid, number)
        else:
            self._process.terminate()

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _how_it_ended(self) -> str:
        """One clause: its exit code or signal, and the last line of stderr."""
        self._wait(_WIND_UP_S)
        code = self._process.poll()
        if code is None:
            return "it closed its input or its output"
        how = f"it was ended by {_signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"
        self._readers[1].join(_WIND_UP_S)
        last = self._stderr.decode(errors="replace").strip().splitlines()[-1:]
        return f"{how}; its last words were {last[0].strip()[:_MAX_LAST_WORDS]!r}" if last else how

    # On the threads that read

    def _read_lines(self, stream: IO[bytes]) -> None:
        rest = b""
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                now = time.monotonic()
                *complete, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
                rest = rest[:_MAX_LINE_BYTES]
                texts = [line[:_MAX_LINE_BYTES].decode(errors="replace").strip() for line in complete]
                with self._told:
                    self._lines.extend(Line(text, now) for text in texts if text and not self._is_talk(text))
                    self._told.notify_all()
        with self._told:
            self._output_closed = True
            self._told.notify_all()

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self._stderr = (self._stderr + chunk)[-_MAX_STDERR_BYTES:]


def _start_guard(group: int, folder: str) -> "subprocess.Popen[bytes] | None":
    if sys.platform == "win32":
        return None
    return subprocess.Popen(
        ["/bin/sh", "-c", _GUARD, "sh", str(group), folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
