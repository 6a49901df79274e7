"""Full disks.

Each command that writes runs on a disk (a tmpfs) that is full after so many KiB, for a growing number of them. It must
end with exit code 1 and one line that names a file there. With room it must then go on, and end with the same results
as on a large disk: nothing lost, nothing twice, no stray file. The same with a disk that cannot be written, a folder
that another process uses, and a full stdout.

Needs Linux, and root or user namespaces (`unshare`). The kernels must be compiled (`gomoku warmup`); their cache is not
on that disk.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.campaigns.results import differences, stray, twice
from benchmarks.campaigns.works import WORKS, Work
from benchmarks.measuring import Fault, show
from curriculum.run.locking import release_lock, take_lock

_INSIDE = "GOMOKU_FULL_DISK"
_PAGE_KIB, _ROOM_KIB = 4, 256 << 10
_LIMIT_S = 600.0
_SEED = 1
_FULL = "No space left on device"
_NAMES = [name for name, work in WORKS.items() if not work.own_caches]


class Disk:
    """A tmpfs of any size, in a mount namespace of this process."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "disk"
        self.path.mkdir(parents=True)
        _call("mount", "-t", "tmpfs", "-o", f"size={_ROOM_KIB}k", "none", str(root))
        # A size of 0 means no limit, so one page is always in use.
        (root / "page").write_bytes(bytes(_PAGE_KIB << 10))

    def used_kib(self) -> int:
        """Return the KiB in use."""
        state = os.statvfs(self.root)
        return (state.f_blocks - state.f_bfree) * state.f_frsize >> 10

    def remount(self, options: str) -> None:
        """Change the size of the disk, or protect it."""
        _call("mount", "-o", f"remount,{options}", str(self.root))

    def empty(self, work: Work) -> None:
        """Make room, and replace the content by the input of a work."""
        self.remount(f"rw,size={_ROOM_KIB}k")
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        work.prepare(self.path, _SEED)


def _call(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


def _start(work: Work, disk: Disk, stdout: Any = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-m", "gomoku_cli", *work.words(disk.path, _SEED)]
    return subprocess.run(words, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=_LIMIT_S, check=False)


def _finish(work: Work, disk: Disk) -> None:
    process = _start(work, disk)
    if process.returncode:
        raise Fault(f"with room: exit code {process.returncode}: {process.stderr.strip()[-2000:]}")


def _check_line(process: "subprocess.CompletedProcess[str]", reason: str, name: Path | str) -> None:
    """Check that a process failed with one line that gives the reason and the name."""
    lines = [line for line in process.stderr.splitlines() if not line.startswith("note: ")]
    if process.returncode != 1 or len(lines) != 1:
        raise Fault(f"exit code {process.returncode} and {len(lines)} lines: {process.stderr[-3000:]}")
    if reason not in lines[0] or str(name) not in lines[0]:
        raise Fault(f"the line does not name the file or the reason: {lines[0]}")


def _rooms(used: int, files: Sequence[Path], steps: int, chance: random.Random) -> list[int]:
    """Return the KiB of room of each attempt: one drawn from each part of the total, and around the ends of files."""
    pages, ends, end = used // _PAGE_KIB, [], 0
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns):
        end += -(-path.stat().st_size // (_PAGE_KIB << 10))
        ends.append(end)
    found = {0, 1, 2} | {
        chance.randrange(step * pages // steps, (step + 1) * pages // steps + 1) for step in range(steps)
    }
    for page in chance.sample(ends, min(steps // 2, len(ends))):
        found |= {max(0, page - 1), page, page + 1}
    return [page * _PAGE_KIB for page in sorted(found)]


def try_work(work: Work, disk: Disk, kept: Path, steps: int, chance: random.Random) -> Counter[str]:
    """Do one work with all failures of its disk; return their counts. Raises `Fault`."""
    counts: Counter[str] = Counter()
    disk.empty(work)
    start = disk.used_kib()
    _finish(work, disk)
    shutil.copytree(disk.path, kept)
    files = [path for path in disk.path.rglob("*") if path.is_file()]
    rooms = _rooms(disk.used_kib() - start, files, steps, chance)
    if work.prints:
        with open("/dev/full", "w") as full:
            _check_line(_start(work, disk, full), _FULL, "standard output")
        counts["full stdout"] += 1
    disk.remount("ro")
    _check_line(_start(work, disk), "Read-only file system", disk.path)
    counts["read-only"] += 1
    disk.remount(f"rw,size={_ROOM_KIB}k")
    for lock in sorted(disk.path.rglob("lock"))[:1]:
        held = take_lock(lock, disk.path)
        _check_line(_start(work, disk), "another process works in", disk.path)
        release_lock(held)
        counts["in use"] += 1
    for room in rooms:
        disk.empty(work)
        disk.remount(f"size={disk.used_kib() + room}k")
        process = _start(work, disk)
        counts["room enough" if process.returncode == 0 else "full"] += 1
        if process.returncode:
            _check_line(process, _FULL, disk.path)
            disk.remount(f"rw,size={_ROOM_KIB}k")
            _finish(work, disk)
        if found := differences(disk.path, kept, loose=True) + stray(disk.path) + twice(disk.path):
            raise Fault(f"{room} KiB of room: {'; '.join(found[:3])}")
    return counts


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--steps", type=int, default=6, help="sizes for each command, and half as many files")
    parser.add_argument("--seed", type=int, default=1, help="of the sizes")
    parser.add_argument("--only", choices=_NAMES, nargs="+", default=_NAMES, metavar="COMMAND")


def run(arguments: argparse.Namespace) -> int:
    """Run the works in a mount namespace of their own, which ends with this process; return 1 at the first failure."""
    if _INSIDE not in os.environ:
        os.environ[_INSIDE] = "1"
        flags = ["--mount"] if os.geteuid() == 0 else ["--map-root-user", "--mount"]
        words = [sys.executable, "-m", "benchmarks.campaigns.faults", *sys.argv[1:]]
        os.execvp("unshare", ["unshare", *flags, *words])
    with tempfile.TemporaryDirectory(prefix="gomoku-full-disk-") as folder:
        disk, chance = Disk(Path(folder, "mount")), random.Random(arguments.seed)
        name = ""
        try:
            for name in arguments.only:
                kept = Path(folder, f"kept-{name.replace(' ', '-')}")
                show([{"command": name, **try_work(WORKS[name], disk, kept, arguments.steps, chance)}], arguments.json)
        except (Fault, subprocess.TimeoutExpired) as error:
            copy = Path(tempfile.mkdtemp(prefix="gomoku-full-disk-kept-"), "disk")
            shutil.copytree(disk.path, copy)
            print(f"{name}: {error}; seed {arguments.seed}, the disk is kept in {copy}")
            return 1
        finally:
            subprocess.run(["umount", str(disk.root)], check=False)
    print("nothing lost, nothing twice")
    return 0
