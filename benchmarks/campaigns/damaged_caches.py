"""Damages the caches and runs commands.

Each trial copies a warm cache, damages it, and runs a command. The command must end with exit code 0 and the results of
a sound cache, without a traceback, with one note at most; and, where the damage can be mended, without a note the
second time. Full and read-only disks are file systems in memory (`unshare`, Linux only). Foreign owners need root.
"""

import argparse
import json
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.campaigns.results import stray, timeless
from benchmarks.measuring import progress, show
from core.compiled.jit import KERNELS

_NOTE = re.compile(r"made again|cannot be (?:used|written)|belongs to another|other users may write")
_LIMIT_S = 600
_STRANGER = 12345
_GAME = "START 15\nTURN 7,7\nEND\n"
_COMMANDS = {
    "warmup": ["warmup", "--json"],
    "engine": ["engine", "--model", "default", "--simulations", "50"],
    "evaluate": ["evaluate", "default", "--against", "random", "--games", "2", "--simulations", "8", "--json"],
    "match": ["evaluate", "random", "--against", "random", "--games", "2", "--json"],
    "info": ["info", "default", "--json"],
}
_QUICK = ("match", "info")
"""Commands that compile in a few seconds if no cached kernel can be used."""

Damage = Callable[[Path, random.Random], object]


def _cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def _flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 8, 100))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def _noise(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(chance.choice((1, 50, path.stat().st_size))))


def _folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()
    if chance.random() < 0.5:
        (path / "file").touch()


def _link(path: Path, chance: random.Random) -> None:
    target = path.parent.parent / "elsewhere"
    path.rename(target)
    path.symlink_to(chance.choice((target, path, path.parent / "nowhere")))


def _pipe(path: Path, chance: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def _swap(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.choice(sorted(path.parent.iterdir())).read_bytes())


def _leftover(path: Path, chance: random.Random) -> None:
    path.rename(path.with_name(f".{path.name}.{chance.randbytes(4).hex()}"))


_OF_A_FILE: dict[str, Damage] = {
    "empty": lambda path, chance: path.write_bytes(b""),
    "cut short": _cut,
    "flipped": _flip,
    "noise": _noise,
    "another format": lambda path, chance: path.write_bytes(path.read_bytes().replace(b"format 2", b"format 9", 1)),
    "group-writable": lambda path, chance: path.chmod(0o660),
    "writable by all": lambda path, chance: path.chmod(0o666),
    "unreadable": lambda path, chance: path.chmod(0),
    "a folder": _folder,
    "a link": _link,
    "a pipe": _pipe,
    "another file's content": _swap,
    "a killed writer": _leftover,
    "removed": lambda path, chance: path.unlink(),
    "foreign": lambda path, chance: os.chown(path, _STRANGER, _STRANGER),
}
_OF_A_FOLDER: dict[str, Damage] = {
    "foreign folder": lambda path, chance: os.chown(path, _STRANGER, _STRANGER),
    "loose folder": lambda path, chance: path.chmod(0o777),
    "a file for a folder": lambda path, chance: (shutil.rmtree(path), path.touch()),
}
_OF_A_DISK = {
    "full disk": 'dd if=/dev/zero of="$0/fill" bs=64k 2>/dev/null; dd if=/dev/zero of="$0/rest" bs=1 2>/dev/null; true',
    "read-only disk": 'mount -o remount,ro "$0"',
}
"""Shell commands that make the disk of the cache so; `$0` is its folder."""
_STAYS = {"foreign folder", "a file for a folder", *_OF_A_DISK}
"""Damages that only the user can mend."""


def run_command(name: str, cache: Path, before: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command with a cache, behind the command line `before`."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return subprocess.run(
        [*before, sys.executable, "-m", "gomoku_cli", *_COMMANDS[name]],
        env=environment | {"XDG_CACHE_HOME": str(cache)},
        input=_GAME if name == "engine" else "",
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )


def result(name: str, out: str) -> object:
    """Return the part of an output that does not depend on the cache."""
    if name == "engine":
        return [line for line in out.splitlines() if not line.startswith("MESSAGE")]
    facts = json.loads(out)
    if name == "warmup":
        return sorted(facts)
    return timeless(facts)


def notes(name: str, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the notes about a cache; `warmup` repeats its own in its result."""
    lines = done.stderr.splitlines() + ([] if name == "warmup" else done.stdout.splitlines())
    return [line for line in lines if _NOTE.search(line)]


def fault(name: str, done: subprocess.CompletedProcess[str], expected: object, max_notes: int) -> str | None:
    """Return the fault of a command that ended, or None."""
    if done.returncode:
        return f"exit code {done.returncode}: {done.stderr[-2000:]}"
    if "Traceback" in done.stderr:
        return done.stderr[-2000:]
    found = notes(name, done)
    if len(found) > max_notes:
        return f"{len(found)} notes instead of {max_notes}: " + " | ".join(found)
    if (got := result(name, done.stdout)) != expected:
        return f"the result is {got} instead of {expected}"
    return None


def choose(chance: random.Random, disks: bool) -> tuple[str, str]:
    """Return a damage and a command."""
    kinds = [(name, tuple(_COMMANDS)) for name in _OF_A_FILE for _ in range(3)]
    kinds += [(name, _QUICK if name in _STAYS else tuple(_COMMANDS)) for name in _OF_A_FOLDER]
    kinds += [(name, tuple(_COMMANDS)) for name in _OF_A_DISK for _ in range(2) if disks]
    if sys.platform == "win32" or os.geteuid() != 0:
        kinds = [kind for kind in kinds if not kind[0].startswith("foreign")]
    damage, commands = chance.choice(kinds)
    return damage, chance.choice(commands)


def trial(
    chance: random.Random, damage: str, name: str, warm: Path, cache: Path, expected: object
) -> tuple[str | None, bool]:
    """Damage a copy of a warm cache and run a command; return the fault, if any, and if the damage was noted."""
    shutil.copytree(warm, cache, symlinks=True)
    kinds = [cache / "gomoku" / "graphs", cache / "gomoku" / KERNELS.path.name]
    folder = chance.choice([*kinds, *([cache / "gomoku"] if damage in _OF_A_FOLDER else [])])
    before: list[str] = []
    if damage in _OF_A_FOLDER:
        _OF_A_FOLDER[damage](folder, chance)
    else:
        files = sorted(path for path in folder.iterdir() if stat.S_ISREG(path.lstat().st_mode))
        _OF_A_FILE[damage if damage in _OF_A_FILE else "cut short"](chance.choice(files), chance)
    if damage in _OF_A_DISK:
        size = '$(($(du -sk "$1" | cut -f1) + 512))k'
        script = f'mount -t tmpfs -o size={size} tmpfs "$0" && cp -a "$1/." "$0" && {_OF_A_DISK[damage]} && '
        script += 'shift && exec "$@"'
        mounted = cache.with_name("disk")
        mounted.mkdir(exist_ok=True)
        before = ["unshare", "-rm", "sh", "-c", script, str(mounted), str(cache)]
        done = run_command(name, mounted, before)
    else:
        done = run_command(name, cache)
    noted = bool(notes(name, done))
    wrong = fault(name, done, expected, 1)
    if wrong is None and damage not in _STAYS:
        again = run_command(name, cache)
        wrong = fault(name, again, expected, 0)
        if wrong is not None:
            wrong = f"the second time: {wrong}"
        elif noted and (left := stray(cache)):
            wrong = f"left behind: {left}"
    return wrong, noted


def has_disks() -> bool:
    """Return True if this user may mount a file system in memory."""
    command = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial, to repeat a failure")


def run(arguments: argparse.Namespace) -> int:
    """Run the trials and print the counts of the damages; return 1 at the first failure, and keep its cache."""
    base, disks = Path(tempfile.mkdtemp(prefix="damaged-caches-")), has_disks()
    warm, counts = base / "warm", Counter[str]()
    warm.mkdir()
    progress("filling a cache, which takes up to two minutes")
    for name in _COMMANDS:
        run_command(name, warm)
    expected = {name: result(name, run_command(name, warm).stdout) for name in _COMMANDS}
    for number in range(arguments.first, arguments.first + arguments.trials):
        chance = random.Random(f"{arguments.seed}/{number}")
        damage, name = choose(chance, disks)
        wrong, was_noted = trial(chance, damage, name, warm, base / str(number), expected[name])
        if wrong is not None:
            print(f"trial {number}, {damage}, gomoku {' '.join(_COMMANDS[name])}: {wrong}")
            print(f"again: --seed {arguments.seed} --first {number} --trials 1; kept: {base / str(number)}")
            return 1
        shutil.rmtree(base / str(number))
        counts[f"{damage}, {'noted' if was_noted else 'not met'}"] += 1
        progress(f"{counts.total()} of {arguments.trials} trials: {damage}, {name}")
    show(({"trials": count, "damage": damage} for damage, count in sorted(counts.items())), arguments.json)
    shutil.rmtree(base)
    return 0
