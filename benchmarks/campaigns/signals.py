"""Signals and lost terminals: `python -m benchmarks.campaigns.signals --trials 200`.

Each trial starts a command in a terminal of its own (a pseudo-terminal), brings it to a random instant of its work and
sends a signal, closes the terminal, or closes the reader of its output. The command must end in time with its
documented exit code, without a traceback and without a process left; the terminal must have its settings, its screen
and its cursor back; a run or match folder must be usable. The first failure ends the campaign with exit code 1.
"""

import argparse
import fcntl
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

DONE, INTERRUPTED, READER_GONE = 0, 130, 141
_INPUT = (b"\xe9", b"\xff\xfe", b"\x00", b"\x1b[999", b"\x1b", b"\x1b[<0;9;9", b"\r", b"\x1b[A", b"u", b"?", b"x" * 999)
"""Bytes for the board: not UTF-8, unfinished escape sequences, keys."""
_MODES = {b"1049": b"l", b"1000": b"l", b"1003": b"l", b"1006": b"l", b"2004": b"l", b"25": b"h", b"7": b"h"}
"""Modes of the terminal, and the state in which they must be left: no alternate screen, no mouse, a cursor."""
_MODE = re.compile(rb"\x1b\[\?(\d+)([hl])")
_START_S = 0.6
"""Time in which Python may not have begun the program yet: a signal then ends it as the system does."""
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Work:
    """A command under test."""

    name: str
    arguments: tuple[str, ...]
    """`{folder}` stands for the folder of the trial."""
    over_s: float
    """The instant is drawn from this time after the start, or after `shown`."""
    shown: bytes = b""
    """Text on the screen to wait for."""
    keys: bytes = b""
    """Keys pressed then."""
    is_board: bool = False
    prints_soon: bool = True
    """False for work that takes minutes to its next line on stdout: only then it notices that nobody reads it."""
    continues: tuple[str, ...] = ()
    """The command that must accept the folder afterwards."""
    reads: bytes = b""
    """Lines on stdin through a pipe, which stays open; empty: stdin is the terminal."""


_MATCH = ("evaluate", "mentor:1", "--against", "mentor:2", "--games", "400", "--run", "{folder}/match")
_TOURNAMENT = ("tournament", "random", "mentor:1", "mentor:2", "--games", "400", "--run", "{folder}/cup")
_TRAIN = ("train", "--preset", "smoke", "--run", "{folder}/run")
WORKS = (
    Work("play: loading", ("play", "--model", "mentor:1"), 3.0, is_board=True),
    Work("play: my turn", ("play", "--model", "mentor:1"), 1.0, b"Your move.", is_board=True),
    Work("play: help", ("play", "--model", "mentor:1"), 1.0, b"Your move.", b"?", is_board=True),
    Work("play: thinking", ("play", "--seconds", "60"), 2.0, b"Your move.", b"\r", is_board=True),
    Work("play: pondering", ("play", "--ponder", "--simulations", "50"), 2.0, b"Your move.", is_board=True),
    Work("evaluate", _MATCH, 6.0, prints_soon=False, continues=_MATCH),
    Work("ladder", ("ladder", "mentor:3", "--games", "4", "--stop-at", "0"), 6.0, prints_soon=False),
    Work("suite", ("suite", "mentor", "--seconds", "1"), 6.0, prints_soon=False),
    Work("tournament", _TOURNAMENT, 6.0, prints_soon=False, continues=_TOURNAMENT),
    Work("train", _TRAIN, 12.0, prints_soon=False, continues=(*_TRAIN[:1], *_TRAIN[3:], "--resume")),
    Work(
        "openings",
        ("openings", "--output", "{folder}/openings.txt", "--simulations", "8", "--count", "500"),
        8.0,
        prints_soon=False,
    ),
    Work("warmup", ("warmup",), 4.0),
    Work("info", ("info",), 1.5),
    Work("engine: terminal", ("engine", "--model", "mentor:1"), 3.0),
    Work("engine: pipe", ("engine", "--model", "mentor:1"), 4.0, reads=b"START 15\nINFO timeout_turn 5000\nBEGIN\n"),
)
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "QUIT": signal.SIGQUIT}
STOPS = (*SIGNALS, "hang-up", "no reader")


@dataclass(slots=True)
class Terminal:
    """A pseudo-terminal, with what was written to it."""

    master: int
    slave: int
    before: list[object] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    reader: threading.Thread | None = None
    closing: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def open(cls, rows: int, columns: int) -> "Terminal":
        """Open a terminal and begin to read what is written to it."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self = cls(master, slave, termios.tcgetattr(slave))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def _read(self) -> None:
        while not self.closing.is_set():
            if select.select([self.master], [], [], _POLL_S)[0]:
                try:
                    self.text += os.read(self.master, 1 << 16)
                except OSError:
                    return

    def press(self, keys: bytes) -> None:
        """Write keys, unless the terminal is full of unread ones."""
        if select.select([], [self.master], [], 0.5)[1]:
            os.write(self.master, keys)

    def hang_up(self) -> None:
        """Close the terminal as a terminal program does that is closed."""
        self.closing.set()
        assert self.reader is not None
        self.reader.join()
        for descriptor in (self.slave, self.master):
            with suppress(OSError):
                os.close(descriptor)

    def faults(self) -> list[str]:
        """Return what is not as it was."""
        time.sleep(5 * _POLL_S)
        found = [] if termios.tcgetattr(self.slave) == self.before else ["the settings of the terminal have changed"]
        last = {mode: state for mode, state in _MODE.findall(bytes(self.text))}
        found += [
            f"mode {mode.decode()} was left {last[mode].decode()}"
            for mode, state in _MODES.items()
            if last.get(mode, state) != state
        ]
        return found


def _leftovers(mark: str) -> list[str]:
    """Return the processes that have `mark` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if mark.encode() in (entry / "environ").read_bytes():
                    found.append(f"{entry.name} {(entry / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()}")
    return found


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait_for(happened: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def trial(work: Work, stop: str, chance: random.Random, folder: Path, patience_s: float) -> list[str]:
    """Run one trial in an empty folder; return its faults."""
    mark = f"GOMOKU_TRIAL={folder.name}"
    environment = os.environ | dict([mark.split("=")]) | {"TERM": "xterm-256color"}
    size = (1, 1) if work.is_board and not work.shown and chance.random() < 0.3 else (30, 100)
    terminal = Terminal.open(*size)
    arguments = [word.format(folder=folder) for word in work.arguments]
    stdout = stdin = terminal.slave
    source = sink = lines = feed = -1
    if stop == "no reader":
        source, sink = os.pipe()
        stdout = sink
    if work.reads:
        lines, feed = os.pipe()
        stdin = lines

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(terminal.slave, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    errors_at = folder / "errors"
    start = time.monotonic()
    with open(errors_at, "wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "gomoku_cli", *arguments],
            stdin=stdin,
            stdout=stdout,
            # Bars are for a terminal; the trial reads remarks from it, or from a file.
            stderr=errors if work.reads else terminal.slave,
            env=environment,
            preexec_fn=own_terminal,
            pass_fds=[terminal.slave],
        )
    for descriptor in (sink, lines):
        if descriptor >= 0:
            os.close(descriptor)
    faults: list[str] = []
    try:
        if work.reads:
            os.write(feed, work.reads)
        if stop != "no reader" and work.shown:
            seen = _wait_for(lambda: work.shown in terminal.text or process.poll() is not None, patience_s)
            if not seen or process.poll() is not None:
                return [f"{work.shown.decode()!r} was never shown"]
            terminal.press(work.keys)
        instant = time.monotonic() + chance.uniform(0, work.over_s)
        while time.monotonic() < instant and process.poll() is None:
            if work.is_board and chance.random() < 0.1:
                terminal.press(chance.choice(_INPUT))
            time.sleep(_POLL_S)
        ran_s = time.monotonic() - start
        if stop in SIGNALS:
            process.send_signal(SIGNALS[stop])
        elif stop == "hang-up":
            terminal.hang_up()
        else:
            os.close(source)
            source = -1
            if not work.is_board:
                terminal.press(b"ABOUT\n")  # the engine notices with its next answer
        if not _wait_for(lambda: process.poll() is not None, patience_s):
            faults.append(f"it still runs {patience_s:.0f} s after {stop}")
            _end(process)
    finally:
        _end(process)
        for descriptor in (source, feed):
            if descriptor >= 0:
                os.close(descriptor)
    code = process.returncode
    if stop == "no reader":
        # The board needs a terminal; other work may end before it writes again.
        allowed = {2, INTERRUPTED} if work.is_board else {DONE, READER_GONE}
    else:
        allowed = {INTERRUPTED} if work.is_board else {DONE, INTERRUPTED}
    number = SIGNALS.get(stop, signal.SIGHUP)
    if code not in allowed and not (code == -number and ran_s < _START_S):
        faults.append(f"its exit code is {code} after {ran_s:.2f} s")
    said = bytes(terminal.text) + errors_at.read_bytes()
    if b"Traceback" in said or b"Exception ignored" in said:
        faults.append("a traceback: " + said[-2000:].decode(errors="replace"))
    if stop != "hang-up":
        faults += terminal.faults()
        terminal.hang_up()
    if not _wait_for(lambda: not _leftovers(mark), 3.0):
        faults += [f"a process is left: {line}" for line in _leftovers(mark)]
    if work.continues and not faults and any((folder / name).exists() for name in ("match", "cup", "run")):
        faults += _continue(work, folder, environment, patience_s)
    return faults


def _continue(work: Work, folder: Path, environment: dict[str, str], patience_s: float) -> list[str]:
    """Continue the work for a moment, and stop it; return its faults."""
    command = [sys.executable, "-m", "gomoku_cli", *(word.format(folder=folder) for word in work.continues)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    time.sleep(3.0)
    process.terminate()
    try:
        _, said = process.communicate(timeout=patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        return [f"the continued work still runs {patience_s:.0f} s after SIGTERM"]
    if process.returncode not in (DONE, INTERRUPTED):
        return [f"the continued work ended with {process.returncode}: {said[-2000:].decode(errors='replace')}"]
    return []


def _main(arguments: argparse.Namespace, works: Sequence[Work]) -> int:
    counts: Counter[str] = Counter()
    slowest = 0.0
    start = time.monotonic()
    base = Path(tempfile.mkdtemp(prefix="gomoku-signals-"))
    try:
        for number in range(arguments.first, arguments.first + arguments.trials):
            chance = random.Random(f"{arguments.seed}/{number}")
            work, stop = works[number % len(works)], chance.choice(STOPS)
            if stop == "no reader" and not work.prints_soon:
                stop = "hang-up"
            folder = base / f"trial-{os.getpid()}-{number}"
            folder.mkdir()
            began = time.monotonic()
            found = trial(work, stop, chance, folder, arguments.patience)
            slowest = max(slowest, time.monotonic() - began)
            counts[stop] += 1
            print(f"{number}: {work.name}, {stop}: {'; '.join(found) or 'ok'}", file=sys.stderr, flush=True)
            if found:
                again = f"--seed {arguments.seed} --first {number} --trials 1"
                only = f" --only {arguments.only!r}" if arguments.only else ""
                print(f"failed: {work.name}, {stop}; again: python -m benchmarks.campaigns.signals {again}{only}")
                return 1
            shutil.rmtree(folder)
    except KeyboardInterrupt:
        pass
    finally:
        shutil.rmtree(base, ignore_errors=True)
        kinds = ", ".join(f"{count} {stop}" for stop, count in sorted(counts.items()))
        seconds = time.monotonic() - start
        print(f"{counts.total()} trials over {len(works)} works in {seconds:.0f} s ({kinds or 'none'})")
    return 0


def main() -> int:
    """Run the trials and print their number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="only works whose name contains this text")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for a command to show its screen, to end")
    arguments = parser.parse_args()
    works = [work for work in WORKS if arguments.only in work.name]
    return _main(arguments, works) if works else parser.error("no work has such a name")


if __name__ == "__main__":
    sys.exit(main())
