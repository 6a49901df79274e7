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
from enum import Enum, auto
from errno import ECHILD
from typing import IO

from core.input_limits import MAX_ANSWER_BYTES, MAX_ANSWERS_AHEAD, MAX_STDERR_BYTES
from search.engines import guard
from search.players import Stop

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
_GUARD_S = 4.0
"""Time for the guard to end what is left; it needs less (`guard`)."""
_WIND_UP_S = 1.0
"""Time to wait for the exit code of an ended program and for the ends of its pipes."""


class ProgramEndedError(Exception):
    """The program is gone, or has closed its output; the text is the reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that the program wrote."""

    text: str
    """Without spaces and line ends around it; never empty."""
    at: float
    """`time.monotonic()` when it was read."""


class Kind(Enum):
    """The kinds of a program's lines."""

    ANSWER = auto()
    ERROR = auto()
    """Its own words on what went wrong."""
    TALK = auto()
    """A remark that no reader waits for: it is dropped at once."""
    OTHER = auto()


class EngineProcess:
    """A program with all that it starts, in a session of its own.

    Two threads read its output. So the program never waits for a reader, and the time of a line is the time at which
    it came. Memory for its output is bounded. Ctrl-C at the terminal does not reach it. A guard (`guard`) starts it,
    and ends it with all its children when it ends, when it is closed, when its memory exceeds a limit, and when this
    process ends, even by a signal. On Windows there is no guard, so none of this holds for its children.
    """

    def __init__(self, command: Sequence[str], kind_of: Callable[[str], Kind], *, max_bytes: int | None = None) -> None:
        """Start `command`. Raises `OSError`.

        `kind_of(text)`: the kind of a line. `max_bytes`: maximum memory of the program and all that it starts, on
        Linux; None for no limit.
        """
        self._max_bytes = max_bytes
        self._control: int | None = None
        """The pipe that the guard watches."""
        self._report: IO[bytes] | None = None
        """The pipe on which the guard reports."""
        with ExitStack() as undo:
            self._folder = tempfile.TemporaryDirectory(prefix="gomoku-engine-", ignore_cleanup_errors=True)
            undo.callback(self._folder.cleanup)
            self._process = self._start(command, undo)
            undo.pop_all()
        self.started_at = time.monotonic()
        """`time.monotonic()` just after it was started."""
        assert self._process.stdin is not None
        if sys.platform != "win32":  # a write there waits for as long as the program does not read
            os.set_blocking(self._process.stdin.fileno(), False)
        self._kind_of = kind_of
        self._said = ""
        """Its last line that was no answer."""
        self._complained = ""
        """Its last error."""
        self._lines: deque[Line] = deque(maxlen=MAX_ANSWERS_AHEAD)
        self._stderr = b""
        self._ending: list[bytes] = []
        """The last words of the guard."""
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

    def next_line(self, deadline: float, stop: Stop) -> Line | None:
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
            if self._control is not None:
                os.close(self._control)  # the guard ends what is left
                self._wait(_GUARD_S)
            elif self._process.poll() is None:
                self._process.terminate()
        finally:
            self._wind_up()

    def _start(self, command: Sequence[str], undo: ExitStack) -> "subprocess.Popen[bytes]":
        """Return the guard, or on Windows the program, with the program's standard streams."""

        def start(*words: str, pass_fds: tuple[int, ...] = ()) -> "subprocess.Popen[bytes]":
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, bufsize=0, pass_fds=pass_fds
            )
            undo.push(process)
            undo.callback(process.kill)
            return process

        if sys.platform == "win32":
            return start(*command)
        watched, self._control = os.pipe()
        undo.callback(os.close, self._control)
        reports, report = os.pipe()
        self._report = open(reports, "rb")  # noqa: SIM115 - open as long as the process
        undo.push(self._report)
        try:
            arguments = (str(watched), str(report), str(self._max_bytes or 0), self._folder.name)
            process = start(
                sys.executable, "-I", "-S", guard.__file__, *arguments, *command, pass_fds=(watched, report)
            )
        finally:
            os.close(watched)
            os.close(report)
        word, _, errno = self._report.readline().decode().partition(" ")
        if word.strip() != "started":
            number = int(errno) if errno else ECHILD
            raise OSError(number, os.strerror(number))
        return process

    def _wind_up(self) -> None:
        self._process.kill()
        self._wait(_WIND_UP_S)
        if self._report is not None:
            self._report.close()
        assert self._process.stdin is not None
        with suppress(OSError):  # flushing lines that it has not read fails
            self._process.stdin.close()
        for reader in self._readers:
            reader.join(_WIND_UP_S)
        self._folder.cleanup()

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def _how_it_ended(self) -> str:
        """Return one clause: its exit code, signal or memory, and its last words."""
        self._wait(_WIND_UP_S)
        code = self._process.poll()
        if code is None:
            return "it closed its input or its output"
        used_bytes = 0
        if self._report is not None:
            self._ending = self._ending or self._report.read().split()
            ending = dict(zip(self._ending[::2], map(int, self._ending[1::2]), strict=True))
            code, used_bytes = ending.get(b"ended", code), ending.get(b"memory", 0)
        for reader in self._readers:
            reader.join(_WIND_UP_S)
        if used_bytes and self._max_bytes:
            how = f"it used {used_bytes / 1e6:,.0f} MB of memory, above the limit of {self._max_bytes / 1e6:,.0f} MB"
        else:
            how = f"it was ended by {_signal_name(-code)}" if code < 0 else f"it ended with exit code {code}"
        stderr = self._stderr.decode(errors="replace").strip().splitlines()[-1:]
        words = self._complained or "".join(stderr) or self._said
        return f"{how}; its last words were {words.strip()[:_MAX_LAST_WORDS]!r}" if words else how

    # On the threads that read

    def _read_lines(self, stream: IO[bytes]) -> None:
        rest = b""
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                now = time.monotonic()
                *complete, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
                rest = rest[:MAX_ANSWER_BYTES]
                texts = [line[:MAX_ANSWER_BYTES].decode(errors="replace").strip() for line in complete]
                self._keep_lines(texts, now)
        self._keep_lines([rest.decode(errors="replace").strip()], time.monotonic())
        with self._changed:
            self._output_closed = True
            self._changed.notify_all()

    def _keep_lines(self, texts: Sequence[str], now: float) -> None:
        with self._changed:
            for text in filter(None, texts):
                kind = self._kind_of(text)
                if kind is not Kind.TALK:
                    self._lines.append(Line(text, now))
                if kind is Kind.ERROR:
                    self._complained = text
                elif kind is not Kind.ANSWER:
                    self._said = text
            self._changed.notify_all()

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                self._stderr = (self._stderr + chunk)[-MAX_STDERR_BYTES:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
