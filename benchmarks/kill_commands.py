"""Kill every command that writes: `python -m benchmarks.kill_commands --kills 1000`.

The process group of a command gets SIGKILL at random instants: some uniform over its running time, some just before an
operation on a file, some a few milliseconds after one. Then the same command runs again, until it finishes. After each
kill all files must be whole and nothing finished may be gone; after the finish the result must be that of an
undisturbed process with the same seed, without a stray file or process. Exits with 1 at a fault, and keeps its folder.

Most commands run in processes forked from a server with everything imported, so that each kill hits work; those with
caches of their own (`warmup`, `engine`) run from the import on.
"""

import argparse
import json
import os
import random
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import kill_checks as checks
from benchmarks.kill_child import MARK, STEPS_PER_SAVE, Order
from core.jit import KERNEL_FOLDER
from curriculum.run.folder import is_run, read_metrics
from curriculum.run.locking import FolderBusyError, release_lock, take_lock

ROOT = Path(__file__).resolve().parent.parent
_ENGINE = f"engine:{shlex.join((sys.executable, str(ROOT / 'tests' / 'support' / 'engines' / 'scripted.py')))}"
_HANG_S = 600.0
_SEEDS = 3
"""Seeds of a command; an undisturbed process with each shows the right result."""
_KILLS_PER_WORK = 12
_RUN = {
    "rules.size": "7",
    "rules.connect": "4",
    "basics.noise_stones": "[0, 12]",
    "training.batch_size": "32",
    "imitation.games": "6",
    "selfplay.iterations": "2",
    "selfplay.games": "12",
    "selfplay.concurrent_games": "6",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A command that writes."""

    words: Callable[[Path, int], list[str]]
    """The words of its command line, in a folder and with a seed; also to continue it."""
    share: int
    """Weight among the kills."""
    continues: bool = False
    """True if it goes on where it was killed; others start anew."""
    prepare: Callable[[Path, int], None] = lambda folder, seed: None
    """Puts its input into a new folder."""
    own_caches: bool = False
    """True for a process of its own whose caches are in the folder."""
    stdin: str = ""


def _run_words(folder: Path, seed: int) -> list[str]:
    settings = [word for item in _RUN.items() for word in ("--set", "=".join(item))]
    return ["--quiet", "--run", str(folder), "--preset", "smoke", "--seed", str(seed), *settings]


def _train(folder: Path, seed: int) -> list[str]:
    if is_run(folder):
        return ["train", "--quiet", "--run", str(folder), "--resume"]
    return ["train", *_run_words(folder, seed)]


def _basics(folder: Path, seed: int) -> list[str]:
    return ["generate-basics", *_run_words(folder, seed), "--output", str(folder.parent / f"{folder.name}.npz")]


def _match(command: Sequence[str], reports: Sequence[str]) -> Callable[[Path, int], list[str]]:
    def words(folder: Path, seed: int) -> list[str]:
        files = [word for name in reports for word in (f"--{name.split('.')[0]}", str(folder / f"out-{name}"))]
        kept = ["--run", str(folder / "match")] if command[0] != "suite" else []
        return [*command, "--seed", str(seed), "--quiet", "--json", *kept, *files]

    return words


def _openings(folder: Path, seed: int) -> list[str]:
    options = ["--judge", "mentor:1", "--board-size", "9", "--count", "12", "--seed", str(seed)]
    return ["openings", *options, "--force", "--quiet", "--output", str(folder / "openings.txt")]


def _games_to_convert(folder: Path, seed: int) -> None:
    from core.position import Position
    from core.records.formats import write_games
    from core.records.record import GameRecord
    from core.rules import Rules

    chance, games = random.Random(seed), []
    for _ in range(100):
        position = Position(Rules())
        while not position.is_game_over() and position.ply < 80:
            position.push(int(chance.choice(position.legal_moves().tolist())))
        outcome = position.outcome()
        games.append(GameRecord(Rules(), tuple(position.moves), outcome.winner if outcome else None))
    write_games(folder / "in.sgf", games)


def _part_of_the_kernels(folder: Path, seed: int) -> None:
    """Copy the kernels of this machine into the caches of the work, without those of a tenth of the functions."""
    target = folder / "gomoku" / KERNEL_FOLDER.name
    shutil.copytree(KERNEL_FOLDER, target)
    chance = random.Random(seed)
    for index in sorted(target.rglob("*.nbi")):
        if chance.random() < 0.1:
            for path in (index, *index.parent.glob(f"{index.stem}.*.nbc")):
                path.unlink()


def _kernels_without_graphs(folder: Path, seed: int) -> None:
    shutil.copytree(KERNEL_FOLDER, folder / "gomoku" / KERNEL_FOLDER.name)


_REPORTS = ("games-file.sgf", "figure.svg", "junit.xml", "markdown.md")
_FAST = ("--simulations", "8")
_MATCH = ("evaluate", "random", "--against", "mentor:1", "--games", "24", "--board-size", "9")
_WITH_ENGINE = ("evaluate", "random", "--against", _ENGINE, "--games", "12", "--board-size", "9", "--seconds", "5")
_NET_MATCH = ("evaluate", "default", "--against", "random", "--games", "6", *_FAST)
_TABLE = ("tournament", "random", "mentor:1", "pure-mcts:8", "--games", "6", "--board-size", "9")
_LADDER = ("ladder", "mentor:1", "--from", "4", "--step", "4", "--to", "12", "--games", "6", "--stop-at", "0")

WORKS: dict[str, Work] = {
    "train": Work(words=_train, share=24, continues=True),
    "generate-basics": Work(words=_basics, share=7, continues=True),
    "imitate": Work(words=lambda f, s: ["imitate", *_run_words(f, s)], share=8, continues=True),
    "selfplay": Work(words=lambda f, s: ["selfplay", *_run_words(f, s)], share=12, continues=True),
    "evaluate": Work(words=_match(_MATCH, _REPORTS), share=10, continues=True),
    "evaluate (net)": Work(words=_match(_NET_MATCH, ("games-file.psq", "figure.png")), share=4, continues=True),
    "evaluate (engine)": Work(words=_match(_WITH_ENGINE, _REPORTS), share=5, continues=True),
    "tournament": Work(words=_match(_TABLE, _REPORTS), share=8, continues=True),
    "ladder": Work(words=_match(_LADDER, ("figure.svg", "markdown.md")), share=5, continues=True),
    "suite": Work(words=_match(("suite", "mentor:1"), ("junit.xml", "markdown.md")), share=3),
    "openings": Work(words=_openings, share=3),
    "convert": Work(
        words=lambda f, s: ["convert", str(f / "in.sgf"), str(f / "out.psq")], share=3, prepare=_games_to_convert
    ),
    "warmup": Work(
        words=lambda f, s: ["warmup", "--quiet"],
        share=5,
        continues=True,
        prepare=_part_of_the_kernels,
        own_caches=True,
    ),
    "engine": Work(
        words=lambda f, s: ["engine", "--model", "default", "--simulations", "8"],
        share=3,
        continues=True,
        prepare=_kernels_without_graphs,
        own_caches=True,
        stdin="START 15\nBEGIN\nEND\n",
    ),
}
"""The commands of the campaign by name."""


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
    """A server of `benchmarks.kill_child`, started when it is needed, and the commands that it runs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._process: subprocess.Popen[str] | None = None

    def start(self, order: Order, environment: Mapping[str, str] | None) -> "Command":
        """Start a command; with an `environment` of its own it is a process from the import on."""
        if environment is not None:
            words = [sys.executable, "-m", "benchmarks.kill_child", order.to_json()]
            process = subprocess.Popen(
                words, cwd=ROOT, env={**self._environment, **environment}, start_new_session=True
            )
            return Command(process.pid, lambda: process.wait(), lambda seconds: _ended(process, seconds))
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.kill_child"],
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
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "GOMOKU_BACKEND": "torch", "PYTHONWARNINGS": "ignore"}
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


class Campaign:
    """Kills of many commands by some workers, counted."""

    def __init__(
        self, names: Sequence[str], place: Path, *, kills: int, seed: int, power_cuts: bool, forks: bool
    ) -> None:
        self.counts = {name: Counts() for name in names}
        total = sum(WORKS[name].share for name in names)
        self._wanted = {name: max(1, round(kills * WORKS[name].share / total)) for name in names}
        self._place, self._kills, self._seed, self._power_cuts, self._forks = place, kills, seed, power_cuts, forks
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._started: dict[str, int] = dict.fromkeys(names, 0)

    def run(self, workers: int) -> None:
        """Run until all kills are done, a fault is found or Ctrl-C."""
        undisturbed = Undisturbances(self._place)
        threads = [
            threading.Thread(target=self._work, args=(number, undisturbed), daemon=True) for number in range(workers)
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.2)
        except KeyboardInterrupt:
            print("stopping after the works in progress", file=sys.stderr)
            self._stop.set()
            for thread in threads:
                thread.join()

    def _next(self) -> tuple[str, int] | None:
        """Return the command that lacks most of its kills, and the number of its work."""
        with self._lock:
            shares = {name: self.counts[name].kills / wanted for name, wanted in self._wanted.items()}
            lacking = [name for name, share in shares.items() if share < 1]
            if not lacking or self._stop.is_set():
                return None
            name = min(lacking, key=lambda each: (self._started[each] > self.counts[each].finished, shares[each]))
            self._started[name] += 1
            return name, self._started[name]

    def _work(self, number: int, undisturbed: Undisturbances) -> None:
        worker = Worker(self._place, number, undisturbed, power_cuts=self._power_cuts, forks=self._forks)
        try:
            while (chosen := self._next()) is not None:
                name, index = chosen
                counts = self.counts[name]
                # Words, not a hash: the same on each machine.
                chance = random.Random(f"{self._seed}/{name}/{index}")
                start, before = time.perf_counter(), counts.kills
                try:
                    worker.work(
                        name,
                        1 + index % _SEEDS,
                        chance,
                        counts,
                        lambda name=name, counts=counts: counts.kills < self._wanted[name] and not self._stop.is_set(),
                    )
                except Fault as error:
                    counts.faults.append(f"{name}, work {index}: {error}")
                    print(f"FAULT: {counts.faults[-1]}; kept in {worker.place}", file=sys.stderr)
                    self._stop.set()
                done = sum(each.kills for each in self.counts.values())
                seconds = time.perf_counter() - start
                did = f"{name}, work {index}: {counts.kills - before} kills in {seconds:.0f} s"
                print(f"{done:>5} of {self._kills} kills; {did}", file=sys.stderr)
        finally:
            worker.close()

    def table(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        yield f"{'command':<18} {'finished':>8} {'kills':>6} {'working':>8} {'writing':>8} {'cuts':>5} {'faults':>7}"
        rows = [
            (name, c.finished, c.kills, c.working, c.writing, c.cuts, len(c.faults)) for name, c in self.counts.items()
        ]
        sums = tuple(sum(int(row[column]) for row in rows) for column in range(1, 7))
        for name, *figures in (*rows, ("all", *sums)):
            finished, kills, working, writing, cuts, faults = figures
            yield f"{name:<18} {finished:>8} {kills:>6} {working:>8} {writing:>8} {cuts:>5} {faults:>7}"
        yield "working: kills while files changed; writing: with an unfinished file or line left; cuts: of the power"


def _warm_up() -> None:
    """Complete this machine's caches, of which some works get a part."""
    subprocess.run([sys.executable, "-m", "gomoku_cli", "warmup", "--quiet"], cwd=ROOT, check=True, capture_output=True)


def main() -> int:
    """Run the campaign and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--commands", default=",".join(WORKS), help="comma-separated; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    parser.add_argument("--workers", type=int, default=2, help="commands at a time")
    parser.add_argument(
        "--no-power-cuts", action="store_true", help="leave the unsynchronised tails of killed commands as they are"
    )
    parser.add_argument("--no-fork", action="store_true", help="run every command from the import on; much slower")
    arguments = parser.parse_args()
    names = [name.strip() for name in arguments.commands.split(",")]
    if unknown := [name for name in names if name not in WORKS]:
        parser.error(f"{unknown[0]} is none of {', '.join(WORKS)}")

    place = Path(tempfile.mkdtemp(prefix="gomoku-kills-"))
    _warm_up()
    start = time.perf_counter()
    campaign = Campaign(
        names,
        place,
        kills=arguments.kills,
        seed=arguments.seed,
        power_cuts=not arguments.no_power_cuts,
        forks=not arguments.no_fork,
    )
    campaign.run(arguments.workers)
    minutes = (time.perf_counter() - start) / 60
    print("\n".join(campaign.table()))
    found = [fault for counts in campaign.counts.values() for fault in counts.faults]
    kills = sum(counts.kills for counts in campaign.counts.values())
    print(f"{kills} kills in {minutes:.1f} min, seed {arguments.seed}")
    if found:
        print("\n".join(found))
        print(
            f"again: python -m benchmarks.kill_commands --seed {arguments.seed} --commands '{found[0].split(',')[0]}'"
        )
        print(f"kept: {place}")
        return 1
    shutil.rmtree(place)
    return 0 if kills >= arguments.kills else 1


if __name__ == "__main__":
    sys.exit(main())
