"""The killed side of `kill_commands`: a command that dies at a file operation of its own, or from outside.

`python -m benchmarks.campaigns.kill_child` is a server: it imports everything and loads the kernels once, then forks a
process for each order on its stdin, so that a command starts at once. With an order as its argument it runs that one
command, from the import on.
"""

import importlib
import json
import os
import signal
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MARK = "GOMOKU_KILLED_BY"
"""Variable in the environment of all processes that a command starts."""
STEPS_PER_SAVE = 4
_MENTOR_GAMES_PER_FILE = 2
_SECONDS_PER_FILE = 0.15
"""Saves in a killed command, more frequent than in others: small work then has as many of them as a long one."""

_PRELOADED = (
    "matplotlib.pyplot",
    "openvino",
    "torch",
    "curriculum.arena.session",
    "curriculum.phases.all",
    "gomoku_cli.app",
    "gomoku_cli.reports.match_figure",
    "gomoku_cli.reports.terminal",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command to run, and the instant of its death."""

    words: list[str]
    """Words of the command line, after `gomoku`."""
    folder: str
    """File operations are counted under this folder."""
    notes: str
    """Path of the files with the notes of this process: `.out`, `.err`, `.count` of operations, `.unsynced` file."""
    mark: str
    """Value of `MARK`."""
    stdin: str = ""
    operation: int = 0
    """The process dies at the file operation of this number; 0: at none."""
    delay_s: float | None = None
    """None: before that operation; else so much later."""

    def to_json(self) -> str:
        """Return the order as one line."""
        return json.dumps(asdict(self))


class _FileOperations:
    """Counts the operations that change files of a folder, and kills the process group at one of them."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._folder = os.path.realpath(order.folder) + os.sep
        self._fired = False
        self.count = 0

    def watch(self) -> None:
        """Begin; a process watches once."""
        fsync = os.fsync

        def noted_fsync(descriptor: Any) -> None:
            self._happens("fsync", os.readlink(f"/proc/self/fd/{descriptor}"))
            fsync(descriptor)

        os.fsync = noted_fsync
        sys.addaudithook(self._audit)

    def _audit(self, event: str, details: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = details
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
                self._happens(event, path)
        elif event in ("os.rename", "os.remove", "os.truncate", "os.mkdir", "os.utime"):
            self._happens(event, details[0])

    def _happens(self, event: str, path: Any) -> None:
        if self._fired:
            return
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        if not os.path.realpath(os.fsdecode(path)).startswith(self._folder):
            return
        self.count += 1
        if self.count == self._order.operation:
            self._fired = True
            if self._order.delay_s is None:
                if event == "fsync":  # what was appended to this file is not on the disk yet
                    Path(f"{self._order.notes}.unsynced").write_text(os.fsdecode(path))
                _kill_group()
            threading.Thread(target=_kill_later, args=(self._order.delay_s,), daemon=True).start()


def _kill_later(seconds: float) -> None:
    time.sleep(seconds)
    _kill_group()


def _kill_group() -> None:
    os.killpg(0, signal.SIGKILL)


def _run(order: Order) -> int:
    for descriptor, name, flags in (
        (0, order.stdin or os.devnull, os.O_RDONLY),
        (1, f"{order.notes}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        (2, f"{order.notes}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
    ):
        opened = os.open(name, flags)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.argv = ["gomoku", *order.words]
    os.environ[MARK] = order.mark
    operations = _FileOperations(order)
    operations.watch()
    try:
        from gomoku_cli.app import run

        _save_more_often()
        return run(order.words)
    finally:
        Path(f"{order.notes}.count").write_text(str(operations.count))


def _save_more_often() -> None:
    # Only in commands that import these modules anyway: the others should start as they do.
    for module, name, value in (
        ("curriculum.phases.steps", "STEPS_PER_SAVE", STEPS_PER_SAVE),
        ("curriculum.games.mentor_games", "_GAMES_PER_FILE", _MENTOR_GAMES_PER_FILE),
        ("curriculum.phases.round_games", "_SECONDS_PER_FILE", _SECONDS_PER_FILE),
    ):
        if module in sys.modules:
            setattr(sys.modules[module], name, value)


def _preload() -> None:
    """Import all that commands use and load the kernels, without a thread that a fork would lose."""
    for module in _PRELOADED:
        importlib.import_module(module)
    from curriculum.bench import warmup

    for name, _, part in warmup._PARTS:
        if name != "model":
            part()


def _serve() -> None:
    _preload()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        order = Order(**json.loads(line))
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            sys.exit(_run(order))
        os.setpgid(pid, pid)
        print(json.dumps({"pid": pid}), flush=True)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(_run(Order(**json.loads(sys.argv[1]))))
    _serve()
