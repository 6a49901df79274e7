"""Worker of `benchmarks.campaigns.kill_commands`: runs a command again and again, kills it, and checks what is left."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.campaigns import kill_checks as checks
from benchmarks.campaigns.kill_child import MARK, STEPS_PER_SAVE, Order
from benchmarks.campaigns.kill_works import ROOT, WORKS, Work
from curriculum.run.folder import read_metrics
from curriculum.run.locking import FolderBusyError, release_lock, take_lock

_HANG_S = 600.0
_KILLS_PER_WORK = 12


class Fault(Exception):
    """A check failed; the message says which."""


@dataclass(slots=True)
class Counts:
    """Counts of a command."""

    finished: int = 0
    kills: int = 0
    working: int = 0
    """Kills between the first operation on a file and the end."""
    writing: int = 0
    """Kills that left an unfinished file or an unfinished line."""
    cuts: int = 0
    """Kills made worse: the tail of an unsynchronised file was lost or filled with zeros."""
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A finished work that nobody killed."""

    folder: Path
    output: str
    seconds: float
    operations: int


class Server:
    """A server of `benchmarks.campaigns.kill_child`, started when it is needed, and the commands that it runs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._process: subprocess.Popen[str] | None = None

    def start(self, order: Order, environment: Mapping[str, str] | None) -> "Command":
        """Start a command; with an `environment` of its own it is a process from the import on."""
        if environment is not None:
            words = [sys.executable, "-m", "benchmarks.campaigns.kill_child", order.to_json()]
            process = subprocess.Popen(
                words, cwd=ROOT, env={**self._environment, **environment}, start_new_session=True
            )
            return Command(process.pid, lambda: process.wait(), lambda seconds: _ended(process, seconds))
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.campaigns.kill_child"],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
                start_new_session=True,
            )
            self._answer()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(order.to_json() + "\n")
        self._process.stdin.flush()
        stream = self._process.stdout
        pid = self._answer()["pid"]
        return Command(
            pid, lambda: self._answer()["code"], lambda seconds: bool(select.select([stream], [], [], seconds)[0])
        )

    def _answer(self) -> dict[str, Any]:
        assert self._process is not None and self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the server of the commands died")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.communicate()


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Command:
    """A running command, the leader of its process group."""

    pid: int
    code: Callable[[], int]
    """Waits for the end and returns the exit code; minus the signal of a kill."""
    ends_within: Callable[[float], bool]

    def kill(self) -> None:
        """Kill the process group."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def left_processes(mark: str, patience_s: float = 5.0) -> list[int]:
    """Return the processes whose environment has the mark and that do not end in time."""
    ends = time.perf_counter() + patience_s
    while True:
        left = [int(path.name) for path in Path("/proc").glob("[0-9]*") if _has_mark(path, mark)]
        if not left or time.perf_counter() > ends:
            return left
        time.sleep(0.02)


def _has_mark(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return False


class Worker:
    """Kills one command after the other."""

    def __init__(
        self, place: Path, number: int, undisturbed: "Undisturbances", *, power_cuts: bool = True, forks: bool = True
    ) -> None:
        """`forks`: False runs every command from the import on."""
        self.place = place / f"worker-{number}"
        self.place.mkdir()
        self._number = number
        self._power_cuts = power_cuts
        self._undisturbed = undisturbed
        self._forks = forks
        self._mark = f"{os.getpid()}-{number}-command"
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "GOMOKU_BACKEND": "torch",
            "PYTHONWARNINGS": "ignore::DeprecationWarning",
        }
        self._server = Server({**environment, "PYTHONPATH": str(ROOT)})
        self._orders = 0

    def close(self) -> None:
        """End the server."""
        self._server.close()

    def work(self, name: str, seed: int, chance: random.Random, counts: Counts, wanted: Callable[[], bool]) -> None:
        """Run a work to its end, with kills while more are wanted. Raises `Fault`."""
        work = WORKS[name]
        expected = self._undisturbed.of(name, seed, self)
        folder = self._new_folder(work, seed)
        kills: list[checks.Kill] = []
        before = checks.Snapshot.of(folder)
        for attempt in range(10 * _KILLS_PER_WORK):
            killed_s, order = self._order(work, folder, seed, chance, expected, attempt, wanted)
            code = self._run(work, folder, order, killed_s)
            now = checks.Snapshot.of(folder)
            if code == 0:
                counts.finished += 1
                break
            if code != -signal.SIGKILL:
                raise Fault(f"exit code {code} after {len(kills)} kills: {self._said('err') or self._said('out')}")
            counts.kills += 1
            in_operation = killed_s is None or now != before
            counts.working += in_operation
            unfinished = [path for path in checks.files_of(folder) if checks.is_unfinished(path)]
            counts.writing += bool(unfinished) or self._is_cut(folder)
            found = checks.unreadable(folder) + checks.twice(folder) + before.lost(now)
            if left := left_processes(self._mark):
                found.append(f"processes {left} outlive the killed command")
            if found:
                raise Fault(f"after kill {len(kills) + 1} ({_describe(order, killed_s)}): {checks.first(found)}")
            if self._power_cuts:
                counts.cuts += self._cut(chance)
            before = checks.Snapshot.of(folder)
            kills.append(checks.Kill(len(before.lines.get("metrics.jsonl", ()))))
        else:
            raise Fault("the work never finishes")
        self._check_finished(work, folder, before, kills, expected)
        shutil.rmtree(folder.parent)

    def undisturbed(self, name: str, seed: int, place: Path) -> Undisturbed:
        """Return the finished work of a process that nobody kills. Raises `Fault`."""
        work = WORKS[name]
        folder = self._new_folder(work, seed, place)
        start = time.perf_counter()
        code = self._run(work, folder, self._new_order(work, folder, seed), None)
        if code:
            raise Fault(f"exit code {code} without a kill: {self._said('err')}")
        operations = int(self._said("count")) if not work.own_caches else 40
        return Undisturbed(folder, self._said("out"), time.perf_counter() - start, operations)

    def _new_folder(self, work: Work, seed: int, place: Path | None = None) -> Path:
        place = Path(tempfile.mkdtemp(dir=place or self.place))
        folder = place / "work"
        folder.mkdir()
        work.prepare(folder, seed)
        return folder

    def _new_order(self, work: Work, folder: Path, seed: int, operation: int = 0, delay: float | None = None) -> Order:
        self._orders += 1
        notes = self.place / "notes"
        for kind in ("out", "err", "count", "unsynced"):
            Path(f"{notes}.{kind}").unlink(missing_ok=True)
        stdin = ""
        if work.stdin:
            stdin = f"{notes}.in"
            Path(stdin).write_text(work.stdin)
        return Order(
            words=work.words(folder, seed),
            folder=str(folder.parent),
            notes=str(notes),
            mark=self._mark,
            stdin=stdin,
            operation=operation,
            delay_s=delay,
        )

    def _order(
        self,
        work: Work,
        folder: Path,
        seed: int,
        chance: random.Random,
        expected: Undisturbed,
        attempt: int,
        wanted: Callable[[], bool],
    ) -> tuple[float | None, Order]:
        """Return the seconds to an external kill (None: the command kills itself, or is not killed), and the order."""
        if attempt >= _KILLS_PER_WORK or not wanted():
            return None, self._new_order(work, folder, seed)
        # A work that continues gets early kills first, or it would be over after two.
        span = min(1.0, 0.2 + 0.05 * attempt) if work.continues else 1.0
        way = chance.random()
        if way < 0.4:
            return chance.uniform(0, span * expected.seconds), self._new_order(work, folder, seed)
        operation = chance.randint(1, max(10, round(span * expected.operations)))
        delay = None if way < 0.7 else chance.choice((0.0, chance.uniform(0, 0.002), chance.uniform(0, 0.02)))
        return None, self._new_order(work, folder, seed, operation, delay)

    def _run(self, work: Work, folder: Path, order: Order, kill_after_s: float | None) -> int:
        own: dict[str, str] | None = None
        if work.own_caches:
            own = {"XDG_CACHE_HOME": str(folder), "GOMOKU_BACKEND": "", MARK: self._mark}
        elif not self._forks:
            own = {MARK: self._mark}
        command = self._server.start(order, own)
        if kill_after_s is None:
            if command.ends_within(_HANG_S):
                return command.code()
            command.kill()
            command.code()
            raise Fault(f"no end after {_HANG_S:.0f} s ({_describe(order, None)})")
        if not command.ends_within(kill_after_s):
            command.kill()
        return command.code()

    def _said(self, kind: str) -> str:
        path = self.place / f"notes.{kind}"
        return path.read_text(errors="replace").strip() if path.exists() else ""

    @staticmethod
    def _is_cut(folder: Path) -> bool:
        return any(not path.read_bytes().endswith(b"\n") for path in folder.rglob("*.jsonl") if path.stat().st_size)

    def _cut(self, chance: random.Random) -> bool:
        """Lose a part of what the killed command had appended and not yet synchronised; True if there was any."""
        path = Path(self._said("unsynced"))
        if path.suffix != ".jsonl" or not path.is_file():
            return False
        data = path.read_bytes()
        last = data.rstrip(b"\n").rfind(b"\n") + 1
        kept = chance.randint(last, len(data) - 1)
        zeros = len(data) - kept if chance.random() < 0.5 else 0
        path.write_bytes(data[:kept] + bytes(zeros))
        return True

    def _check_finished(
        self, work: Work, folder: Path, before: checks.Snapshot, kills: Sequence[checks.Kill], expected: Undisturbed
    ) -> None:
        said = self._said("err")
        found = checks.unreadable(folder) + checks.twice(folder) + before.lost(checks.Snapshot.of(folder))
        found += checks.unfinished(folder.parent)
        if left := left_processes(self._mark):
            found.append(f"processes {left} outlive the command")
        if work.own_caches:
            found += self._caches_work(folder)
        else:
            found += checks.differences(folder.parent, expected.folder.parent)
            if not checks.same_output(self._said("out"), expected.output, folder, expected.folder):
                found.append("its output differs from that of an undisturbed process")
        for lock in folder.rglob("lock"):
            try:
                release_lock(take_lock(lock, folder))
            except FolderBusyError as error:
                found.append(str(error))
        if (folder / "metrics.jsonl").exists():
            found += checks.faults(read_metrics(folder), kills, STEPS_PER_SAVE)
        if found:
            raise Fault(f"after {len(kills)} kills and the finish: {checks.first(found)} {said}".strip())

    def _caches_work(self, folder: Path) -> list[str]:
        """Return the faults of the next commands with caches that killed commands filled."""
        found = []
        for name in ("engine", "warmup"):
            code = self._run(WORKS[name], folder, self._new_order(WORKS[name], folder, 0), None)
            out, err = self._said("out"), self._said("err")
            if code or err or "MESSAGE" in out or (name == "warmup" and "already" not in out):
                found.append(f"the next {name} ends with exit code {code} and says {err!r}, {out!r}")
        return found


class Undisturbances:
    """Undisturbed works by name and seed, each made once."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._made: dict[tuple[str, int], Undisturbed] = {}
        self._lock = threading.Lock()
        self._locks: dict[tuple[str, int], threading.Lock] = {}

    def of(self, name: str, seed: int, worker: Worker) -> Undisturbed:
        """Return the work, made by `worker` if it is missing."""
        key = name, seed
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if key not in self._made:
                self._made[key] = worker.undisturbed(name, seed, self._place)
            return self._made[key]


def _describe(order: Order, killed_s: float | None) -> str:
    if killed_s is not None:
        return f"{killed_s:.3f} s after its start"
    if not order.operation:
        return "not killed"
    return f"{'before' if order.delay_s is None else f'{order.delay_s:.4f} s after'} file operation {order.operation}"
