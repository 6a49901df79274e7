"""SIGKILL at random instants of every command that writes.

The process group of a command dies just before an operation on a file, or some time after one, up to the next. Then the
same command runs again, until it finishes. After each kill all files must be whole and nothing finished may be gone; a
part of what was appended and not synchronised is lost sometimes, as by a power cut. After the finish the result must be
that of an undisturbed process with the same seed, without a stray file or process.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.campaigns import results
from benchmarks.campaigns.results import Snapshot
from benchmarks.campaigns.works import WORKS, Work
from benchmarks.measuring import Fault, progress, show
from curriculum.run.locking import FolderBusyError, release_lock, take_lock
from tests.support.project import ROOT

_CHILD = f"import json, sys, {__name__} as m; sys.exit(m.run_order(*json.loads(sys.argv[1])))"
_HANG_S = 600.0
_KILLS_PER_WORK = 12
_SEEDS = 3
"""Seeds of a command; an undisturbed process with each shows the right result."""
_CHANGES = ("os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir", "os.utime")
_SAVES = (
    ("curriculum.phases.steps", "STEPS_PER_SAVE", 4),
    ("curriculum.games.mentor_games", "_GAMES_PER_FILE", 2),
    ("curriculum.phases.round_games", "_SECONDS_PER_FILE", 0.15),
)
"""Saves in a killed command, more frequent than in others: small work then has as many of them as a long one."""


def on_each_change(happens: Callable[[str, Path], None]) -> None:
    """Call `happens` with the operation and the path before each operation of this process that changes a file."""
    fsync = os.fsync

    def noted_fsync(fd: Any) -> None:
        happens("fsync", Path(os.readlink(f"/proc/self/fd/{fd}")))
        fsync(fd)

    def audit(event: str, details: tuple[Any, ...]) -> None:
        written = event == "open" and isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR)
        if written or event in _CHANGES:
            path = details[0]
            path = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fsdecode(path)
            happens(event, Path(os.path.abspath(path)))

    os.fsync = noted_fsync
    sys.addaudithook(audit)


def run_order(words: list[str], folder: str, notes: str, operation: int, delay_s: float | None) -> int:
    """Run a command in this process, which dies as ordered; return its exit code.

    It dies at the file operation of this number under `folder`: just before it, or `delay_s` later; with 0 at none.
    `notes`: path of the files with its notes: `.count` of operations and seconds since the first, `.unsynced` file.
    """
    count, first = 0, 0.0

    def die() -> None:
        time.sleep(delay_s or 0.0)
        os.killpg(0, signal.SIGKILL)

    def happens(event: str, path: Path) -> None:
        nonlocal count, first
        if not path.is_relative_to(folder):
            return
        count, first = count + 1, first or time.perf_counter()
        # At each operation, since the engine ends without a last word.
        Path(f"{notes}.count").write_text(f"{count} {time.perf_counter() - first}")
        if count == operation and delay_s is not None:
            threading.Thread(target=die, daemon=True).start()
        elif count == operation:
            if event == "fsync":  # what was appended to this file is not on the disk yet
                Path(f"{notes}.unsynced").write_text(str(path))
            die()

    sys.argv = ["gomoku", *words]
    on_each_change(happens)
    from gomoku_cli.app import run

    for module, name, value in _SAVES:
        if module in sys.modules:  # the others should start as they do
            setattr(sys.modules[module], name, value)
    return run(words)


class Undisturbed(NamedTuple):
    """A finished work that nobody killed."""

    folder: Path
    output: str
    seconds: float
    """From its first file operation to its last."""
    operations: int


class Killer:
    """Kills one command after the other, in folders below `place`."""

    def __init__(self, place: Path) -> None:
        self.place, self.counts = place, Counter[tuple[str, str]]()
        self._undisturbed: dict[tuple[str, int], Undisturbed] = {}
        self._notes, self._mark = place / "notes", f"{os.getpid()}-command"

    def work(self, name: str, seed: int, chance: random.Random, goal: int) -> None:
        """Run a work to its end, with kills until it had `goal` of them in all. Raises `Fault`."""
        work, expected = WORKS[name], self.undisturbed(name, seed)
        folder = self._new_folder(work, seed)
        before, kills = Snapshot.of(folder), 0
        while True:
            operation, delay = 0, None
            if kills < _KILLS_PER_WORK and self.counts[name, "kills"] < goal:
                # Early kills come first, or a work that continues would be over after two.
                operation = chance.randint(1, max(2, round(min(1.0, 0.2 + 0.05 * kills) * expected.operations)))
                gap = 2 * expected.seconds / max(1, expected.operations)
                delay = None if chance.random() < 0.4 else chance.uniform(0, gap)
            code = self._run(work, folder, seed, operation, delay)
            if code == 0:
                break
            if code != -signal.SIGKILL:
                raise Fault(f"exit code {code} after {kills} kills: {self._said('err') or self._said('out')}")
            kills += 1
            now = Snapshot.of(folder)
            self.counts[name, "kills"] += 1
            self.counts[name, "writing"] += bool(results.stray(folder))
            found = results.unreadable(folder) + results.twice(folder) + before.lost(now)
            found += results.left_processes(self._mark)
            if found:
                when = "before" if delay is None else f"{delay:.4f} s after"
                raise Fault(f"kill {kills}, {when} file operation {operation}: {'; '.join(found[:3])}")
            self.counts[name, "cuts"] += self._cut(chance)
            before = Snapshot.of(folder)
        self.counts[name, "finished"] += 1
        if found := self._faults(work, folder, seed, before, expected):
            raise Fault(f"after {kills} kills and the finish: {'; '.join(found[:3])}")
        shutil.rmtree(folder.parent)

    def undisturbed(self, name: str, seed: int) -> Undisturbed:
        """Return the finished work of a process that nobody kills. Raises `Fault`."""
        if (name, seed) not in self._undisturbed:
            work = WORKS[name]
            folder = self._new_folder(work, seed)
            if code := self._run(work, folder, seed):
                raise Fault(f"exit code {code} without a kill: {self._said('err')}")
            operations, seconds = self._said("count").split()
            self._undisturbed[name, seed] = Undisturbed(folder, self._said("out"), float(seconds), int(operations))
        return self._undisturbed[name, seed]

    def _new_folder(self, work: Work, seed: int) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self.place)) / "work"
        folder.mkdir()
        work.prepare(folder, seed)
        return folder

    def _run(self, work: Work, folder: Path, seed: int, operation: int = 0, delay: float | None = None) -> int:
        for kind in ("count", "unsynced"):
            Path(f"{self._notes}.{kind}").unlink(missing_ok=True)
        order = json.dumps([work.words(folder, seed), str(folder.parent), str(self._notes), operation, delay])
        own = {"XDG_CACHE_HOME": str(folder)} if work.own_caches else {"GOMOKU_BACKEND": "torch"}
        own |= {"OMP_NUM_THREADS": "1", results.MARK: self._mark}
        with open(f"{self._notes}.out", "w") as out, open(f"{self._notes}.err", "w") as err:
            process = subprocess.Popen(
                [sys.executable, "-c", _CHILD, order],
                cwd=ROOT,
                env=os.environ | own,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                text=True,
                start_new_session=True,
            )
            try:
                process.communicate(work.stdin, timeout=_HANG_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise Fault(f"no end after {_HANG_S:.0f} s") from None
        return process.returncode

    def _said(self, kind: str) -> str:
        path = Path(f"{self._notes}.{kind}")
        return path.read_text(errors="replace").strip() if path.exists() else ""

    def _cut(self, chance: random.Random) -> bool:
        """Lose a part of what the killed command had appended and not yet synchronised; True if there was any."""
        path = Path(self._said("unsynced"))
        if path.suffix != ".jsonl" or not path.is_file():
            return False
        data = path.read_bytes()
        kept = chance.randint(data.rstrip(b"\n").rfind(b"\n") + 1, len(data) - 1)
        path.write_bytes(data[:kept] + bytes((len(data) - kept) * chance.randrange(2)))
        return True

    def _faults(self, work: Work, folder: Path, seed: int, before: Snapshot, expected: Undisturbed) -> list[str]:
        """Return the faults of a work that has finished after kills."""
        found = results.unreadable(folder) + results.twice(folder) + before.lost(Snapshot.of(folder))
        found += results.unfinished(folder.parent) + results.left_processes(self._mark)
        if work.own_caches:
            for name in ("engine", "warmup"):  # with the caches that killed commands filled
                code = self._run(WORKS[name], folder, seed)
                # A model that no command has opened yet is prepared with a note.
                said = [line for line in self._said("err").splitlines() if not line.startswith("note: preparing")]
                if code or said or "MESSAGE" in self._said("out"):
                    found.append(f"the next {name} ends with {code} and says {said}")
        else:
            ours, theirs = self._said("out"), expected.output
            found += results.differences(folder, expected.folder, loose=True)
            if ours.startswith("{") and results.timeless(json.loads(ours)) != results.timeless(json.loads(theirs)):
                found.append("its output differs from that of an undisturbed process")
        for lock in folder.rglob("lock"):
            try:
                release_lock(take_lock(lock, folder))
            except FolderBusyError as error:
                found.append(str(error))
        return found


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--only", choices=WORKS, nargs="+", default=list(WORKS), metavar="COMMAND")
    parser.add_argument("--seed", type=int, default=1, help="of the instants")


def run(arguments: argparse.Namespace) -> int:
    """Kill each command its share of the kills, and print a row for each. Raises `Fault`."""
    subprocess.run([sys.executable, "-m", "gomoku_cli", "warmup", "--quiet"], cwd=ROOT, check=True, capture_output=True)
    place = Path(tempfile.mkdtemp(prefix="gomoku-kills-"))
    killer, total = Killer(place), sum(WORKS[name].share for name in arguments.only)
    kinds, name, number = ("finished", "kills", "writing", "cuts"), "", 0
    try:
        for name in arguments.only:
            goal = -(-arguments.kills * WORKS[name].share // total)
            number = 0
            while killer.counts[name, "kills"] < goal:
                # Words, not a hash: the same on each machine.
                killer.work(name, 1 + number % _SEEDS, random.Random(f"{arguments.seed}/{name}/{number}"), goal)
                number += 1
            progress(f"{name}: {killer.counts[name, 'kills']} kills")
    except Fault as error:
        raise Fault(f"{name}, work {number}: {error}; seed {arguments.seed}, kept in {place}") from error
    finally:
        show({"command": each, **{kind: killer.counts[each, kind] for kind in kinds}} for each in arguments.only)
    print("no fault; writing: with an unfinished file left; cuts: of the power")
    shutil.rmtree(place)
    return 0
