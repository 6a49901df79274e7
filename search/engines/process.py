"""Another program behind pipes: lines to it, lines from it, and its end in every case."""

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

from core.limits import MAX_ANSWER_BYTES, MAX_ANSWERS_AHEAD, MAX_STDERR_BYTES

_MAX_LAST_WORDS = 120
"""Characters of its last line that an error quotes."""
_SEND_S = 1.0
"""Time for a program to make room for lines in its input. The pipe holds many requests, so room is short only if it
does not read them."""
_ROOM_EVERY_S = 0.005
_STOP_EVERY_S = 0.02
"""Interval between two calls of `stop` while waiting for a line."""
_END_S = 1.0
"""Time for a program to end by itself after its farewell."""
_TERMINATE_S = 0.5
"""Time for it to end after SIGTERM."""
_WIND_UP_S = 1.0
"""Time to wait for the exit code of an ended program and for the ends of its pipes."""

_GUARD = 'read -r line; kill -s KILL -- "-$1"; rm -rf -- "$2"'
"""Waits until the pipe from this process closes, which it does however this process ends; then kills the program and
removes its folder."""


class ProgramEndedError(Exception):
    """The program is gone, or has closed its output; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the program wrote."""

    text: str
    """Without spaces and line ends around it; never empty."""
    at: float
    """`time.monotonic()` when it was read."""


class EngineProcess:
    """A program with all that it starts, in a session of its own.

    Two threads read its output. So the program never waits for a reader, and the time of a line is the time at which
    it came. Memory for its output is bounded. Ctrl-C at the terminal does not reach it. If this process ends without
    closing it, even by a signal, a waiting shell kills it. On Windows there is no such shell, and the program's own
    children are not ended with it.
    """

    def __init__(self, command: Sequence[str], is_talk: Callable[[str], bool]) -> None:
        """Start `command`. Lines for which `is_talk` is True are dropped at once. Raises `OSError`."""
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
                bufsize=0,
            )
            undo.push(self._process)
            undo.callback(self._process.kill)
            self._guard = _start_guard(self._process.pid, self._folder.name)
            undo.pop_all()
        assert self._process.stdin is not None
        if sys.platform != "win32":  # a write there waits for as long as the program does not read
            os.set_blocking(self._process.stdin.fileno(), False)
        self._is_talk = is_talk
        self._lines: deque[Line] = deque(maxlen=MAX_ANSWERS_AHEAD)
        self._stderr = b""
        self._output_closed = False
        self._closed = False
        self._changed = threading.Condition()
        """Held to touch the lines; notified when a line comes, or the output is closed."""
        assert self._process.stdout is not None and self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_lines, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_stderr, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def folder(self) -> str:
        """Path of an empty folder for the program's files, removed with the program."""
        return self._folder.name

    def send(self, lines: Iterable[str]) -> float:
        """Write `lines`; return `time.monotonic()` just before. Raises `ProgramEndedError`."""
        assert self._process.stdin is not None
        text = "".join(f"{line}\r\n" for line in lines).encode()
        now = time.monotonic()
        try:
            while text:
                text = text[self._process.stdin.write(text) or 0 :]
                if text:  # the pipe is full
                    if time.monotonic() > now + _SEND_S:
                        raise ProgramEndedError("it does not read its input")
                    time.sleep(_ROOM_EVERY_S)
        except OSError:
            raise ProgramEndedError(self._how_it_ended()) from None
        return now

    def forget_lines(self) -> None:
        """Drop the lines that came before the next request."""
        with self._changed:
            self._lines.clear()

    def next_line(self, deadline: float, stop: Callable[[], bool]) -> Line | None:
        """Return the oldest line not yet taken, or None once `deadline` (`time.monotonic()`) passes or `stop` is True.

        Raises `ProgramEndedError` if no line can come any more.
        """
        with self._changed:
            while not self._lines and not self._output_closed:
                left = deadline - time.monotonic()
                if left <= 0 or stop():
                    return None
                self._changed.wait(min(left, _STOP_EVERY_S))
            if self._lines:
                return self._lines.popleft()
        raise ProgramEndedError(self._how_it_ended())

    def close(self, farewell: str | None) -> None:
        """End the program and all that it has started; a second call does nothing.

        `farewell` is the line that asks it to end by itself; with None it gets SIGTERM at once. Whatever is left after
        that is killed.
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
            self._signal(signal.SIGKILL)  # its children may outlive it
        else:
            self._process.kill()
        self._wait(_WIND_UP_S)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            assert self._guard.stdin is not None
            self._guard.stdin.close()
        assert self._process.stdin is not None
        with suppress(OSError):  # flushing lines that it has not read fails
            self._process.stdin.close()
        for reader in self._readers:
            reader.join(_WIND_UP_S)
        self._folder.cleanup()

    def _signal(self, number: signal.Signals) -> None:
        if sys.platform != "win32":
            with suppress(ProcessLookupError, PermissionError):  # macOS forbids a signal to an ended process
                os.killpg(self._process.pid, number)
        else:
            self._process.terminate()

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _how_it_ended(self) -> str:
        """Return one clause: its exit code or signal, and the last line of stderr."""
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
                rest = rest[:MAX_ANSWER_BYTES]
                texts = [line[:MAX_ANSWER_BYTES].decode(errors="replace").strip() for line in complete]
                with self._changed:
                    self._lines.extend(Line(text, now) for text in texts if text and not self._is_talk(text))
                    self._changed.notify_all()
        with self._changed:
            self._output_closed = True
            self._changed.notify_all()

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]


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
