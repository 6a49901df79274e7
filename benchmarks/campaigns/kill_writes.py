"""Kills between any two writes of a run.

A small run of all phases works undisturbed, and each of its file operations is intercepted: opening for writing,
synchronising, renaming, removing, cutting, making a folder. The folder is copied before each one, as a kill would leave
it there, and once more with a part of the last line of metrics. Every copy is opened as a run, which mends it. Those
that differ then, times apart, are finished and compared with the undisturbed run: models, states, samples, games,
settings and metrics, all but times.

No process dies here, so that a whole run is tried in minutes; `commands` kills real commands at such instants.
"""

import argparse
import hashlib
import shutil
import tempfile
from pathlib import Path

import torch

from benchmarks.campaigns.kill_commands import on_each_change
from benchmarks.campaigns.results import content, differences, files_of
from benchmarks.measuring import progress
from curriculum.config import Config
from curriculum.games import mentor_games
from curriculum.phases import round_games, steps
from curriculum.phases.all import run_all
from curriculum.presets import resolve
from curriculum.reporting import Context
from curriculum.run import folder
from curriculum.run.folder import RunFolder, is_run
from nets.config import Backend, Precision, RuntimeChoice, set_runtime
from tests.support.runs import SETTINGS

_MATCHES = ("evaluation.final_games=2", "evaluation.opponents=['random','mentor:paper']")
_SETTINGS = (*SETTINGS, "net.value_head=conv1-1,linear-4,linear", *_MATCHES)
"""All phases, accepted and rejected candidates, several saves in each training."""


def copy_of(run: Path, copy: Path, *, cut: bool) -> str:
    """Copy a run as a kill would leave it, and mend the copy; return a hash of it, times apart.

    `cut`: the copy has a part of the last line of metrics only, as if that was not on the disk.
    """
    shutil.copytree(run, copy)
    metrics = copy / "metrics.jsonl"
    if cut and metrics.exists():
        text = metrics.read_bytes()
        metrics.write_bytes(text[: (text.rfind(b"\n", 0, -1) + 1 + len(text)) // 2])
    RunFolder.open(copy).close()
    contents = "".join(f"{name}\0{content(path)!r}\n" for name, path in files_of(copy).items())
    return hashlib.sha256(contents.encode()).hexdigest()


def prepare() -> None:
    """Save often in this process, at the same steps each time; one thread, since the nets are tiny."""
    steps.STEPS_PER_SAVE = 2
    mentor_games._GAMES_PER_FILE = 3
    round_games._SECONDS_PER_FILE = 1e9
    folder.commit_of_source = lambda: None  # it starts a process at every opening
    set_runtime(RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32))  # no conversion of each model
    torch.set_num_threads(1)


def make_run(config: Config, place: Path) -> tuple[Path, list[Path], int]:
    """Make an undisturbed run below `place`; return it, copies before its file operations, and their number.

    Of equal copies the first is kept.
    """
    run, copies, operations, is_on = place / "whole" / "run", dict[str, Path](), 0, True
    run.parent.mkdir(parents=True)

    def happens(event: str, path: Path) -> None:
        nonlocal operations, is_on
        if not is_on or not path.is_relative_to(run) or path == run:
            return
        is_on = False  # the copy's own operations do not count
        operations += 1
        cuts = (False, True) if event == "fsync" and path.name == "metrics.jsonl" else (False,)
        for cut in cuts if is_run(run) else ():
            copy = place / "copies" / f"{len(copies):04d}"
            if copies.setdefault(copy_of(run, copy, cut=cut), copy) is not copy:
                shutil.rmtree(copy)
        is_on = True

    on_each_change(happens)
    with RunFolder.create(run, config) as created:
        run_all(created, Context())
    is_on = False
    return run, list(copies.values()), operations


def try_copy(copy: Path, whole: Path) -> list[str]:
    """Finish a copy and compare it with the undisturbed run; remove it if they are equal."""
    try:
        with RunFolder.open(copy) as opened:
            run_all(opened, Context())
    except Exception as error:  # any at all is a fault of the run
        return [f"it cannot be finished: {type(error).__name__}: {error}"]
    found = differences(copy, whole)
    if not found:
        shutil.rmtree(copy)
    return found


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--overlap", action="store_true", help="with selfplay.overlap")


def run(arguments: argparse.Namespace) -> int:
    """Try the copies of a run; return 1 at a difference, and keep the folders."""
    prepare()
    place = Path(tempfile.mkdtemp(prefix="gomoku-kill-writes-"))
    overlap = f"selfplay.overlap={str(arguments.overlap).lower()}"
    whole, copies, operations = make_run(resolve("smoke", assignments=[*_SETTINGS, overlap]), place)
    faults: list[str] = []
    for number, copy in enumerate(copies, start=1):
        faults += [f"{copy}: {fault}" for fault in try_copy(copy, whole)[:3]]
        progress(f"{number} of {len(copies)} copies, {len(faults)} faults")
    print("\n".join(faults[:20]))
    print(f"{operations} file operations, {len(copies)} different runs after them, {len(faults)} faults")
    if not faults:
        shutil.rmtree(place)
    return int(bool(faults))
