"""Measure the board of `gomoku play` in a pseudo-terminal: `python -m benchmarks.screen`.

It starts the command as a person would and watches what it writes. Times are those of this machine with whatever else
runs on it: upper bounds. Needs a Unix system. Games go to a temporary folder.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from pathlib import Path

_LIMIT_S = 60.0
_SAVED_S = 5.0
PRIORITY = 0
"""Nice value of the screen's process group, below 0 beside other work; needs root and Linux."""


class Board:
    """A command with a screen in a pseudo-terminal; `gomoku play` keeps its games in `folder`."""

    def __init__(self, folder: Path, *options: str, command: str = "play", size: tuple[int, int] = (80, 24)) -> None:
        environment = os.environ | {"XDG_DATA_HOME": str(folder), "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        environment.pop("NO_COLOR", None)
        self.started = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            if PRIORITY:
                Path("/proc/self/autogroup").write_text(str(PRIORITY))
            os.execvpe(sys.executable, [sys.executable, "-m", "gomoku_cli", command, *options], environment)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.text = b""

    def read(self, seconds: float) -> bytes:
        """Return what comes within a time, at once when something has come."""
        if not select.select([self._terminal], [], [], seconds)[0]:
            return b""
        try:
            found = os.read(self._terminal, 1 << 16)
        except OSError:
            return b""
        self.text += found
        return found

    def until(self, holds: Callable[[bytes], bool]) -> float:
        """Wait until `holds` of all that was written; return the seconds since the start of the command."""
        deadline = time.perf_counter() + _LIMIT_S
        while not holds(self.text):
            self._raise_engine()
            if time.perf_counter() > deadline:
                raise SystemExit(f"it never came; the end of the output is {self.text[-600:]!r}")
            self.read(0.01)
        return time.perf_counter() - self.started

    def _raise_engine(self) -> None:
        """Give the engine's process, which has a session of its own, the same priority."""
        if PRIORITY:
            for child in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
                Path(f"/proc/{child}/autogroup").write_text(str(PRIORITY))

    def quiet(self, seconds: float = 0.3) -> None:
        """Read until nothing comes for some time."""
        while self.read(seconds):
            pass

    def press(self, keys: bytes) -> None:
        """Send keys."""
        os.write(self._terminal, keys)

    def end(self, number: int) -> float:
        """Send a signal, and return the seconds until the process has ended."""
        before = time.perf_counter()
        os.kill(self.pid, number)
        self.wait()
        return time.perf_counter() - before

    def wait(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            self.read(0.005)


def measure(trials: int) -> dict[str, object]:
    """Return all figures."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        painted, answered = [], []
        for trial in range(trials + 1):
            board = Board(folder)
            board.until(lambda text: b"Your move" in text)
            board.press(b"\r")
            taken = board.until(lambda text: b"Loading default" in text or b"is thinking" in text)
            answer = board.until(lambda text: text.rpartition(b"Loading default")[2].count(b"Your move") > 0)
            if trial:  # the first one warms the caches
                painted.append(taken)
                answered.append(answer)
            board.press(b"\x03")
            board.wait()
        figures["board_painted_and_move_taken_s"] = _spread(painted)
        figures["first_answer_played_s"] = _spread(answered)
        figures |= _while_thinking(folder)
        figures |= _quitting(folder, trials)
        figures["killed_games_resumed"] = _killed(folder, trials)
    return figures


def _spread(times: list[float]) -> dict[str, float]:
    return {"median": round(statistics.median(times), 3), "max": round(max(times), 3)}


def _while_thinking(folder: Path) -> dict[str, object]:
    """Return the latency of keys during a long think, and the bytes of a cursor move when nothing else changes."""
    board = Board(folder, "--seconds", "60")
    board.until(lambda text: b"Your move" in text)
    board.press(b"\r")
    board.until(lambda text: b"simulations. White" in text)
    times: list[float] = []
    for step in range(200):
        board.quiet(0.02)
        before = time.perf_counter()
        board.press(b"\x1b[D" if step % 8 < 4 else b"\x1b[C")
        cursor = b"\x1b[1;38;2;255;255;255;48;2;74;44;6m"
        written = b""
        while cursor not in written:
            written += board.read(1.0)
        times.append(1000 * (time.perf_counter() - before))
    board.press(b"\x03")
    board.wait()
    times.sort()
    board = Board(folder, "--two-players")
    board.until(lambda text: b"Black to move" in text)
    board.quiet(1.0)
    sizes = []
    for step in range(20):
        board.press(b"\x1b[D" if step % 8 < 4 else b"\x1b[A")
        start = len(board.text)
        board.quiet(0.2)
        sizes.append(len(board.text) - start)
    board.press(b"\x03")
    board.wait()
    return {
        "key_to_cursor_while_thinking_ms": {
            "median": round(statistics.median(times), 1),
            "p95": round(times[int(0.95 * len(times))], 1),
            "max": round(times[-1], 1),
        },
        "bytes_of_a_cursor_move": {"median": statistics.median(sizes), "max": max(sizes)},
    }


def _quitting(folder: Path, trials: int) -> dict[str, object]:
    """Return the seconds of an end during a long think, by the key and by signals."""
    figures: dict[str, object] = {}
    for name, number in (("ctrl_c", None), ("sigterm", signal.SIGTERM), ("sighup", signal.SIGHUP)):
        times = []
        for _ in range(trials):
            board = Board(folder, "--seconds", "10")
            board.until(lambda text: b"Your move" in text)
            board.press(b"\r")
            board.until(lambda text: b"simulations. White" in text)
            if number is None:
                before = time.perf_counter()
                board.press(b"\x03")
                board.wait()
                times.append(time.perf_counter() - before)
            else:
                times.append(board.end(number))
            board.quiet(0.1)
            if b"Traceback" in board.text or b"\x1b[?1049l" not in board.text:
                raise SystemExit(f"{name}: the terminal was not restored: {board.text[-600:]!r}")
        figures[f"quit_by_{name}_s"] = _spread(times)
    return figures


def _killed(folder: Path, trials: int) -> str:
    """Kill the screen's process right after its n-th stone is drawn; count the games that `--resume` has whole."""
    whole = 0
    games = folder / "killed" / "gomoku" / "games"
    for trial in range(trials):
        board = Board(folder / "killed", "--two-players")
        board.until(lambda text: b"Black to move" in text)
        moves = 1 + trial % 5
        for move in range(moves):
            turn = b"White to move" if move % 2 == 0 else b"Black to move"
            start = len(board.text)
            board.press(b"\r\x1b[D")
            board.until(lambda text, start=start, turn=turn: turn in text[start:])  # type: ignore[misc]
        board.end(signal.SIGKILL)
        deadline = time.perf_counter() + _SAVED_S  # the engine's process may still be importing what it saves with
        while time.perf_counter() < deadline and _moves_of_newest(games) != moves:
            time.sleep(0.05)
        whole += _moves_of_newest(games) == moves
    return f"{whole} of {trials}"


def _moves_of_newest(games: Path) -> int:
    """Return the number of moves of the newest game in a folder, 0 without one."""
    files = sorted(games.glob("*.sgf"), key=lambda path: path.stat().st_mtime)
    return files[-1].read_text().count("\n;") if files else 0


def main() -> None:
    """Print the figures as JSON."""
    global PRIORITY
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--priority", type=int, default=0, help="nice value of the screen's process group")
    arguments = parser.parse_args()
    PRIORITY = arguments.priority
    print(json.dumps(measure(arguments.trials), indent=1))


if __name__ == "__main__":
    main()
