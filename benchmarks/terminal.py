"""A command of the program in a pseudo-terminal, as a person starts it. Needs a Unix system."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

_MODES = {b"1049": b"l", b"1000": b"l", b"1003": b"l", b"1006": b"l", b"2004": b"l", b"25": b"h", b"7": b"h"}
"""Modes of the terminal, and the state in which they must be left: no alternate screen, no mouse, a cursor."""
_MODE = re.compile(rb"\x1b\[\?(\d+)([hl])")


class Terminal:
    """`gomoku` with these words in a terminal and a session of its own; `text` is all that was written to it.

    `streams`: other files than the terminal for `stdin`, `stdout` or `stderr`.
    """

    def __init__(
        self,
        words: Sequence[str],
        environment: dict[str, str],
        size: tuple[int, int] = (24, 80),
        streams: Mapping[str, Any] | None = None,
    ) -> None:
        self.master, self.slave = pty.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self._before = termios.tcgetattr(self.slave)
        self.text = b""
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gomoku_cli", *words],
            env=os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | environment,
            preexec_fn=self._enter,
            **{"stdin": self.slave, "stdout": self.slave, "stderr": self.slave} | dict(streams or {}),
        )

    def _enter(self) -> None:
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    def read(self, seconds: float) -> bytes:
        """Return what comes within a time, at once when something has come."""
        found = b""
        if self.master < 0:
            time.sleep(seconds)
        elif select.select([self.master], [], [], seconds)[0]:
            with suppress(OSError):
                found = os.read(self.master, 1 << 16)
        self.text += found
        return found

    def wait_for(self, happened: Callable[[], bool], seconds: float = 60.0) -> bool:
        """Read until something happened; return False if it does not in time."""
        end = time.perf_counter() + seconds
        while not happened():
            if time.perf_counter() > end:
                return False
            self.read(0.01)
        return True

    def until(self, holds: Callable[[bytes], bool]) -> float:
        """Wait until `holds` of all that was written; return the seconds since the start of the command."""
        if not self.wait_for(lambda: holds(self.text)):
            raise SystemExit(f"it never came; the end of the output is {self.text[-600:]!r}")
        return time.perf_counter() - self.started

    def answer(self, keys: bytes, holds: Callable[[bytes], bool]) -> float:
        """Send keys, and wait until `holds` of what is written after them; return the seconds until then."""
        before, start = len(self.text), time.perf_counter()
        self.press(keys)
        self.until(lambda text: holds(text[before:]))
        return time.perf_counter() - start

    def quiet(self, seconds: float = 0.3) -> None:
        """Read until nothing comes for some time."""
        while self.read(seconds):
            pass

    def press(self, keys: bytes) -> None:
        """Send keys, unless the terminal is full of unread ones."""
        if select.select([], [self.master], [], 0.5)[1]:
            os.write(self.master, keys)

    def end(self, number: int | None = None) -> float:
        """End the command by Ctrl-C or by a signal, close the terminal, and return the seconds until its end."""
        start = time.perf_counter()
        if number is None:
            self.press(b"\x03")
        else:
            self.process.send_signal(number)
        self.wait_for(lambda: self.process.poll() is not None)
        seconds = time.perf_counter() - start
        self.quiet(0.1)
        self.hang_up()
        return seconds

    def faults(self) -> list[str]:
        """Return the settings and modes of the terminal that are not as they were."""
        self.quiet(0.1)
        found = [] if termios.tcgetattr(self.slave) == self._before else ["the settings of the terminal have changed"]
        last = dict(_MODE.findall(self.text))
        wrong = [mode for mode, state in _MODES.items() if last.get(mode, state) != state]
        return found + [f"mode {mode.decode()} was left {last[mode].decode()}" for mode in wrong]

    def hang_up(self) -> None:
        """Close the terminal as a terminal program does that is closed."""
        for descriptor in (self.slave, self.master):
            with suppress(OSError):
                os.close(descriptor)
        self.slave = self.master = -1
