"""Signals and lost terminals.

Each trial starts a command in a terminal of its own (a pseudo-terminal), brings it to a random instant of its work and
sends a signal, closes the terminal, or closes the reader of its output. The command must end in time with its
documented exit code, without a traceback and without a process left; the terminal must have its settings, its screen
and its cursor back; a run or match folder must be usable.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from benchmarks.campaigns.results import MARK, left_processes
from benchmarks.measuring import progress
from benchmarks.terminal import Terminal
from gomoku_cli.exit_codes import ExitCode

_INPUT = (b"\xe9", b"\xff\xfe", b"\x00", b"\x1b[999", b"\x1b", b"\x1b[<0;9;9", b"\r", b"\x1b[A", b"u", b"?", b"x" * 999)
"""Bytes for the board: not UTF-8, unfinished escape sequences, keys."""
_START_S = 0.6
"""Time in which Python may not have begun the program yet: a signal then ends it as the system does."""
_PATIENCE_S = 60.0


class Work(NamedTuple):
    """A command under test."""

    name: str
    command: str
    """Its command line; `{folder}` stands for the folder of the trial."""
    over_s: float
    """The instant is drawn from this time after the start, or after `shown`."""
    shown: bytes = b""
    """Text on the screen to wait for."""
    keys: bytes = b""
    """Keys pressed then."""
    continues: str = ""
    """The command line that must accept the folder afterwards."""
    reads: bytes = b""
    """Lines on stdin through a pipe, which stays open; empty: stdin is the terminal."""
    prints_soon: bool = False
    """True for work whose next line on stdout comes soon: then it notices that nobody reads it."""

    @property
    def is_board(self) -> bool:
        """True for the board, which needs a terminal."""
        return self.command.startswith("play")


_RUN = "--run {folder}/kept"
_MATCH = f"evaluate mentor:1 mentor:2 --games 400 {_RUN}"
_TOURNAMENT = f"tournament random mentor:1 mentor:2 --games 400 {_RUN}"
_LINES = b"START 15\nINFO timeout_turn 5000\nBEGIN\n"
_TURN = b"Your move."
WORKS = (
    Work("play: loading", "play --model mentor:1", 3.0),
    Work("play: my turn", "play --model mentor:1", 1.0, _TURN),
    Work("play: help", "play --model mentor:1", 1.0, _TURN, b"?"),
    Work("play: thinking", "play --seconds 60", 2.0, _TURN, b"\r"),
    Work("play: pondering", "play --ponder --simulations 50", 2.0, _TURN),
    Work("evaluate", _MATCH, 6.0, continues=_MATCH),
    Work("ladder", "ladder mentor:3 --games 4 --stop-at 0", 6.0),
    Work("suite", "suite mentor --seconds 1", 6.0),
    Work("tournament", _TOURNAMENT, 6.0, continues=_TOURNAMENT),
    Work("train", f"train --preset smoke {_RUN}", 12.0, continues=f"train {_RUN} --resume"),
    Work("openings", "openings --output {folder}/openings.txt --simulations 8 --count 500", 8.0),
    Work("warmup", "warmup", 4.0, prints_soon=True),
    Work("info", "info", 1.5, prints_soon=True),
    Work("engine: terminal", "engine --model mentor:1", 3.0, prints_soon=True),
    Work("engine: pipe", "engine --model mentor:1", 4.0, reads=_LINES, prints_soon=True),
)
SIGNALS = {"INT": signal.SIGINT, "TERM": signal.SIGTERM, "HUP": signal.SIGHUP, "QUIT": signal.SIGQUIT}
_HANG_UP, _NO_READER = "hang-up", "no reader"


def trial(work: Work, stop: str, chance: random.Random, folder: Path) -> list[str]:
    """Run one trial in an empty folder; return its faults."""
    size = (1, 1) if work.is_board and not work.shown and chance.random() < 0.3 else (30, 100)
    open_ends: dict[str, int] = {}
    streams: dict[str, int] = {}
    if stop == _NO_READER:
        open_ends["reader"], streams["stdout"] = os.pipe()
    if work.reads:
        streams["stdin"], open_ends["writer"] = os.pipe()
        # Bars are for a terminal; the trial reads remarks from it, or from a file.
        streams["stderr"] = os.open(folder / "errors", os.O_WRONLY | os.O_CREAT)
    terminal = Terminal(work.command.format(folder=folder).split(), {MARK: folder.name}, size, streams)
    process = terminal.process
    for descriptor in streams.values():
        os.close(descriptor)
    faults: list[str] = []
    try:
        if work.reads:
            os.write(open_ends["writer"], work.reads)
        if stop != _NO_READER and work.shown:
            terminal.wait_for(lambda: work.shown in terminal.text or process.poll() is not None, _PATIENCE_S)
            if work.shown not in terminal.text or process.poll() is not None:
                return [f"{work.shown.decode()!r} was never shown"]
            terminal.press(work.keys)
        instant = time.perf_counter() + chance.uniform(0, work.over_s)
        while time.perf_counter() < instant and process.poll() is None:
            if work.is_board and chance.random() < 0.1:
                terminal.press(chance.choice(_INPUT))
            terminal.read(0.02)
        ran_s = time.perf_counter() - terminal.started
        if stop in SIGNALS:
            process.send_signal(SIGNALS[stop])
        elif stop == _HANG_UP:
            terminal.hang_up()
        else:
            os.close(open_ends.pop("reader"))
            if work.reads:  # the engine notices with its next answer
                os.write(open_ends["writer"], b"ABOUT\n")
            elif not work.is_board:
                terminal.press(b"ABOUT\n")
        if not terminal.wait_for(lambda: process.poll() is not None, _PATIENCE_S):
            faults.append(f"it still runs {_PATIENCE_S:.0f} s after {stop}")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for descriptor in open_ends.values():
            os.close(descriptor)
    if stop == _NO_READER:  # the board needs a terminal; other work may end before it writes again
        allowed = {ExitCode.USAGE, ExitCode.INTERRUPTED} if work.is_board else {ExitCode.DONE, ExitCode.READER_GONE}
    else:
        allowed = {ExitCode.INTERRUPTED} if work.is_board else {ExitCode.DONE, ExitCode.INTERRUPTED}
    code, number = process.returncode, SIGNALS.get(stop, signal.SIGHUP)
    if code not in allowed and not (code == -number and ran_s < _START_S):
        faults.append(f"its exit code is {code} after {ran_s:.2f} s")
    if stop != _HANG_UP:
        faults += terminal.faults()
        terminal.hang_up()
    said = terminal.text + ((folder / "errors").read_bytes() if work.reads else b"")
    if b"Traceback" in said or b"Exception ignored" in said:
        faults.append("a traceback: " + said[-2000:].decode(errors="replace"))
    faults += left_processes(folder.name, 3.0)
    if work.continues and not faults and (folder / "kept").exists():
        faults += _continue(work.continues.format(folder=folder).split())
    return faults


def _continue(words: list[str]) -> list[str]:
    """Continue the work for a moment, and stop it; return its faults."""
    # SIGTERM to the command alone after 3 s, and SIGKILL later.
    limit = ["timeout", "--foreground", "--preserve-status", f"--kill-after={_PATIENCE_S}", "3"]
    command = [*limit, sys.executable, "-m", "gomoku_cli", *words]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode not in (ExitCode.DONE, ExitCode.INTERRUPTED):
        return [f"the continued work ended with {ended.returncode}: {ended.stderr[-2000:]}"]
    return []


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to repeat a failure")
    parser.add_argument("--seed", type=int, default=1)


def run(arguments: argparse.Namespace) -> int:
    """Run the trials; return 1 at the first failure."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="gomoku-signals-") as base:
        for number in range(arguments.first, arguments.first + arguments.trials):
            chance = random.Random(f"{arguments.seed}/{number}")
            work, stop = WORKS[number % len(WORKS)], chance.choice((*SIGNALS, _HANG_UP, _NO_READER))
            if stop == _NO_READER and not (work.prints_soon or work.is_board):
                stop = _HANG_UP
            folder = Path(base, f"trial-{os.getpid()}-{number}")
            folder.mkdir()
            found = trial(work, stop, chance, folder)
            counts[stop] += 1
            progress(f"{number}: {work.name}, {stop}: {'; '.join(found) or 'ok'}")
            if found:
                print(f"failed; again: --seed {arguments.seed} --first {number} --trials 1")
                return 1
    print(f"{counts.total()} trials over {len(WORKS)} works: {dict(counts)}")
    return 0
