"""Full disks: `python -m benchmarks.campaigns.full_disk --steps 8`.

Each command that writes runs on a disk (a tmpfs) that is full after so many KiB, for a growing number of them. It must
end with exit code 1 and one line that names a file there. With room it must then go on, and end with the same results
as on a large disk: nothing lost, nothing twice, no stray file. The same with a disk that cannot be written, a folder
that another process uses, and a full stdout. Exits with 1 at a failure, with the command and a copy of the disk.

Needs Linux, and root or user namespaces (`unshare`). The kernels must be compiled (`gomoku warmup`); their cache is not
on that disk.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.records.formats import read_games, write_games
from core.records.record import GameRecord
from core.rules import Rules
from curriculum.run.folder import is_run, read_metrics
from curriculum.run.json_files import read_json_lines
from curriculum.run.locking import release_lock, take_lock

_INSIDE = "GOMOKU_FULL_DISK"
_PAGE_KIB = 4
_ROOM_KIB = 256 << 10
_LIMIT_S = 600.0
_UNFINISHED = re.compile(r"\..+\.[0-9a-f]{8}")
_TINY = ("--preset", "smoke", *(word for key in (
    "rules.size=9",
    "imitation.opening_stones=[0, 2]",
    "evaluation.final_games=0",
) for word in ("--set", key)))  # fmt: skip
_RULES = ("--board-size", "9", "--openings", "empty")


class DiskFailure(Exception):
    """A command did not do on a full disk what this project promises."""


@dataclass(frozen=True, slots=True)
class Job:
    """A command that writes, its arguments, and its results."""

    name: str
    arguments: tuple[str, ...]
    """`{disk}` stands for the folder that it writes to, `{inputs}` for the one that it reads from."""
    results: Callable[[Path], Any]
    """Returns those results that must not depend on a full disk."""
    lock: str = ""
    """The lock of its folder."""
    before: str = ""
    """The job whose disk it continues from."""
    resume: bool = False
    """True if a run that exists takes --resume instead of the configuration."""


def _run_results(disk: Path) -> Any:
    metrics = [
        {key: record.get(key) for key in ("phase", "iteration", "event", "step", "opponent", "wins", "accepted")}
        for record in read_metrics(disk / "run")
        if record["phase"] != "selfplay" or record["event"] != "games"  # its files depend on timing
    ]
    games = sum(len(read_games(path)) for path in (disk / "run" / "games").glob("*.sgf"))
    names = sorted(
        str(path.relative_to(disk))
        for path in disk.rglob("*")
        if path.is_file() and not path.name.startswith("selfplay-")
    )
    return (
        metrics,
        games,
        names,
        {name: _weights(disk / "run" / "models" / f"{name}.safetensors") for name in _REPEATED},
    )


_REPEATED = ("basics", "imitation")
"""Models that come out the same to the last bit."""


def _weights(path: Path) -> str | None:
    """Return a hash of a model's tensors, which follow its header."""
    if not path.exists():
        return None
    data = path.read_bytes()
    return hashlib.sha256(data[8 + int.from_bytes(data[:8], "little") :]).hexdigest()[:12]


def _match_results(disk: Path) -> Any:
    matches = {
        str(lines.parent.relative_to(disk)): (
            sorted((line["game"], line["moves"], line["winner"]) for line in read_json_lines(lines)),
            sorted(game.moves for game in read_games(lines.with_name("games.sgf"))),
        )
        for lines in disk.rglob("games.jsonl")
    }
    games = sorted(game.moves for path in disk.glob("*.sgf") for game in read_games(path))
    return matches, games, _file_names(disk)


def _file_names(disk: Path) -> list[str]:
    return sorted(str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file())


def _file_results(disk: Path) -> Any:
    return {
        name: hashlib.sha256((disk / name).read_bytes()).hexdigest()[:12]
        for name in _file_names(disk)
    }  # fmt: skip


_REPORTS = ("--markdown", "{disk}/report.md", "--figure", "{disk}/figure.png")
_ALL_REPORTS = (*_REPORTS, "--games-file", "{disk}/all.sgf", "--junit", "{disk}/report.xml")
_JOBS = (
    Job("convert", ("convert", "{inputs}/games.sgf", "{disk}/games.psq"), _file_results),
    Job(
        "openings",
        ("openings", "--player", "mentor", "--count", "4", "--board-size", "9", "--stones", "2-4", "--max-value", "0.5",
         "--output", "{disk}/openings.txt", "--force", "--quiet"),
        _file_results,
    ),
    Job(
        "evaluate",
        ("evaluate", "random", "--against", "mentor:paper", "--games", "12", *_RULES, "--run", "{disk}/match",
         *_ALL_REPORTS, "--quiet", "--json"),
        _match_results,
        lock="match/lock",
    ),
    Job(
        "tournament",
        ("tournament", "random", "mentor:paper", "mentor:1", "--games", "2", *_RULES, "--run", "{disk}/match",
         *_ALL_REPORTS, "--quiet", "--json"),
        _match_results,
        lock="match/lock",
    ),
    Job(
        "ladder",
        ("ladder", "mentor:paper", "--from", "2", "--step", "2", "--to", "6", "--games", "2", "--stop-at", "0", *_RULES,
         "--run", "{disk}/ladder", *_REPORTS, "--quiet", "--json"),
        _match_results,
        lock="ladder/pure-mcts-2/lock",
    ),
    Job(
        "basics to a file",
        ("generate-basics", "--output", "{disk}/basics.npz", "--positions", "400", "--set", "rules.size=9", "--quiet"),
        _file_results,
    ),
    Job(
        "generate-basics",
        ("generate-basics", "--run", "{disk}/run", *_TINY, "--quiet"),
        _run_results,
        lock="run/state/lock",
    ),
    Job(
        "imitate",
        ("imitate", "--run", "{disk}/run", *_TINY, "--quiet"),
        _run_results,
        lock="run/state/lock",
        before="generate-basics",
    ),
    Job(
        "selfplay",
        ("selfplay", "--run", "{disk}/run", *_TINY, "--quiet"),
        _run_results,
        lock="run/state/lock",
        before="imitate",
    ),
    Job(
        "train",
        ("train", "--run", "{disk}/run", *_TINY, "--quiet"),
        _run_results,
        lock="run/state/lock",
        resume=True,
    ),
)  # fmt: skip


class Disk:
    """A tmpfs of any size, in a mount namespace of this process."""

    def __init__(self, path: Path) -> None:
        self.root = path
        path.mkdir(parents=True, exist_ok=True)
        _call("mount", "-t", "tmpfs", "-o", f"size={_ROOM_KIB}k", "none", str(path))
        self.path = path / "disk"
        self.path.mkdir()
        # A size of 0 means no limit, so one page is always in use.
        (path / "page").write_bytes(bytes(_PAGE_KIB << 10))

    def used_kib(self) -> int:
        """Return the KiB in use."""
        state = os.statvfs(self.root)
        return (state.f_blocks - state.f_bfree) * state.f_frsize >> 10

    def limit(self, room_kib: int) -> None:
        """Leave so many KiB free."""
        _call("mount", "-o", f"remount,size={self.used_kib() + room_kib}k", str(self.root))

    def enlarge(self) -> None:
        """Make room, and allow writes."""
        _call("mount", "-o", f"remount,rw,size={_ROOM_KIB}k", str(self.root))

    def protect(self) -> None:
        """Refuse writes."""
        _call("mount", "-o", "remount,ro", str(self.root))

    def fill_from(self, folder: Path | None) -> None:
        """Replace the content by a copy of `folder`, or by nothing."""
        self.enlarge()
        shutil.rmtree(self.path)
        if folder is None:
            self.path.mkdir()
        else:
            shutil.copytree(folder, self.path)

    def close(self) -> None:
        """Remove the disk."""
        subprocess.run(["umount", str(self.root)], check=False)


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


class Campaign:
    """All jobs, on one disk."""

    def __init__(self, folder: Path, *, steps: int, seed: int) -> None:
        self.disk = Disk(folder / "mount")
        self.inputs = folder / "inputs"
        self.saved = folder / "saved"
        self.inputs.mkdir()
        self._steps = steps
        self._chance = random.Random(seed)
        self.counts = {"full": 0, "read-only": 0, "busy": 0, "stdout": 0, "finished": 0}
        game = GameRecord(Rules(9), tuple(range(0, 80, 3)), black="one", white="two", note="x" * 400)
        write_games(self.inputs / "games.sgf", [game] * 40)

    def run(self, job: Job, rooms: Sequence[int] = ()) -> None:
        """Do one job with all its failures; `rooms`: the KiB of room instead of a series. Raises `DiskFailure`."""
        before = self._before(job)
        start = self.prepare(job)
        expected = job.results(self.disk.path)
        boundaries = self._boundaries(before)
        total = self.disk.used_kib() - start
        self._refuse_twice(job)
        for room in rooms or self._rooms(total, boundaries):
            self.disk.fill_from(before)
            self.disk.limit(room)
            try:
                self._full(job, room, expected)
            except DiskFailure as error:
                raise DiskFailure(f"{job.name}, {room} KiB of room: {error}") from error
        self._full_stdout(job)

    def prepare(self, job: Job) -> int:
        """Do a job on an empty disk and keep its files for the jobs that continue from it; return the KiB before it."""
        self.disk.fill_from(self._before(job))
        start = self.disk.used_kib()
        self._finish(job)
        shutil.copytree(self.disk.path, self.saved / job.name.replace(" ", "-"))
        return start

    def _before(self, job: Job) -> Path | None:
        return self.saved / job.before.replace(" ", "-") if job.before else None

    def _rooms(self, total: int, boundaries: Sequence[int]) -> Iterator[int]:
        """Yield the KiB of room of each attempt: one drawn from each part of the total, and around some boundaries."""
        pages = total // _PAGE_KIB
        found = {0, 1, 2}
        for step in range(self._steps):
            found.add(self._chance.randrange(step * pages // self._steps, (step + 1) * pages // self._steps + 1))
        for boundary in self._chance.sample(boundaries, min(self._steps // 2, len(boundaries))):
            page = boundary // _PAGE_KIB
            found |= {max(0, page - 1), page, page + 1}
        yield from (page * _PAGE_KIB for page in sorted(found))

    def _boundaries(self, before: Path | None) -> list[int]:
        """Return the KiB in use at the end of each new file, in the order of their times."""
        old = set(_file_names(before)) if before else set()
        files = [self.disk.path / name for name in _file_names(self.disk.path) if name not in old]
        found, used = [], 0
        for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
            used += -(-path.stat().st_size // (_PAGE_KIB << 10)) * _PAGE_KIB
            found.append(used)
        return found

    # Attempts

    def _full(self, job: Job, room: int, expected: Any) -> None:
        """Run the job on a full disk and then with room."""
        process = self._start(job)
        if process.returncode == 0:
            self.counts["finished"] += 1  # the room was enough
        else:
            self._check_line(process, "No space left on device")
            self.counts["full"] += 1
            self.disk.enlarge()
            self._finish(job)
        found = job.results(self.disk.path)
        if found != expected:
            raise DiskFailure(f"other results:\n{json.dumps(found)}\nexpected:\n{json.dumps(expected)}")
        stray = [name for name in _file_names(self.disk.path) if _UNFINISHED.fullmatch(Path(name).name)]
        if stray:
            raise DiskFailure(f"stray files: {', '.join(stray)}")

    def _refuse_twice(self, job: Job) -> None:
        """Run the job on a disk that cannot be written, and in a folder that another process uses."""
        self.disk.protect()
        try:
            self._check_line(self._start(job), "Read-only file system")
        finally:
            self.disk.enlarge()
        self.counts["read-only"] += 1
        if job.lock:
            lock = take_lock(self.disk.path / job.lock, self.disk.path)
            try:
                self._check_line(self._start(job), "another process works in")
            finally:
                release_lock(lock)
            self.counts["busy"] += 1

    def _full_stdout(self, job: Job) -> None:
        """Run a finished job again with a stdout that is full: one line, and all files."""
        if job.resume:
            return
        self.disk.enlarge()
        with open("/dev/full", "w") as full:
            process = self._start(job, stdout=full)
        self._check_line(process, "No space left on device", names="standard output")
        self.counts["stdout"] += 1

    def _finish(self, job: Job) -> None:
        process = self._start(job)
        if process.returncode:
            raise DiskFailure(f"with room: exit code {process.returncode}: {process.stderr.strip()[-2000:]}")

    def _check_line(self, process: "subprocess.CompletedProcess[str]", reason: str, names: str = "") -> None:
        """Check that a process failed with one line that gives the reason and a file on the disk, or `names`."""
        lines = [line for line in process.stderr.splitlines() if not line.startswith("note: ")]
        if process.returncode != 1 or len(lines) != 1:
            raise DiskFailure(f"exit code {process.returncode} and {len(lines)} lines: {process.stderr[-3000:]}")
        if reason not in lines[0] or (names or str(self.disk.path)) not in lines[0]:
            raise DiskFailure(f"the line does not name the file or the reason: {lines[0]}")

    def _start(self, job: Job, stdout: Any = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(job), stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=_LIMIT_S, check=False
        )

    def command(self, job: Job) -> list[str]:
        """Return the command line of a job."""
        words = [word.format(disk=self.disk.path, inputs=self.inputs) for word in job.arguments]
        if job.resume and is_run(self.disk.path / "run"):
            words = [words[0], "--run", f"{self.disk.path}/run", "--resume", "--quiet"]
        return [sys.executable, "-m", "gomoku_cli", *words]


def _enter_namespace() -> None:
    """Start this program again in a mount namespace of its own, which ends with it."""
    if _INSIDE in os.environ:
        return
    os.environ[_INSIDE] = "1"
    flags = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
    os.execvp("unshare", ["unshare", *flags, sys.executable, "-m", "benchmarks.campaigns.full_disk", *sys.argv[1:]])


@contextmanager
def _campaign(steps: int, seed: int) -> Iterator[Campaign]:
    with tempfile.TemporaryDirectory(prefix="gomoku-full-disk-") as folder:
        campaign = Campaign(Path(folder), steps=steps, seed=seed)
        try:
            yield campaign
        finally:
            campaign.disk.close()


def main() -> int:
    """Run the jobs; print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6, help="sizes for each command, and half as many files")
    parser.add_argument("--seed", type=int, default=1, help="of the sizes")
    parser.add_argument("--only", choices=[job.name for job in _JOBS], help="one command, and those it continues from")
    parser.add_argument("--room", type=int, action="append", default=[], metavar="KIB", help="with --only: this size")
    options = parser.parse_args()
    _enter_namespace()

    jobs = {job.name: job for job in _JOBS}
    wanted = {options.only} if options.only else set(jobs)
    needed = set(wanted)
    for job in reversed(_JOBS):
        if job.name in needed and job.before:
            needed.add(job.before)
    failure = None
    started = time.perf_counter()
    with _campaign(options.steps, options.seed) as campaign:
        job = _JOBS[0]
        try:
            for job in _JOBS:
                if job.name not in wanted:
                    if job.name in needed:
                        campaign.prepare(job)
                    continue
                before, since = dict(campaign.counts), time.perf_counter()
                campaign.run(job, options.room if job.name == options.only else ())
                done = {kind: count - before[kind] for kind, count in campaign.counts.items()}
                print(f"{job.name}: {done}, {time.perf_counter() - since:.0f} s", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        except (DiskFailure, subprocess.TimeoutExpired) as error:
            failure = str(error)
            kept = Path(tempfile.mkdtemp(prefix="gomoku-full-disk-kept-"))
            shutil.copytree(campaign.disk.path, kept / "disk")
            print(f"{job.name}: {failure}", file=sys.stderr)
            print(f"seed {options.seed}; the disk is kept in {kept}; the command:", file=sys.stderr)
            print(shlex.join(campaign.command(job)), file=sys.stderr)
        counts = campaign.counts
    print(
        f"{counts['full']} full disks, {counts['finished']} with just enough room, {counts['read-only']} read-only, "
        f"{counts['busy']} busy folders, {counts['stdout']} full outputs in {time.perf_counter() - started:.0f} s: "
        + ("nothing lost, nothing twice" if failure is None else "FAILED")
    )
    return 0 if failure is None else 1


if __name__ == "__main__":
    sys.exit(main())
