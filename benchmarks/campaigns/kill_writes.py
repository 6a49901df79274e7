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

_SETTINGS = (
    *("rules.size=7", "rules.connect=4", "net.value_head=conv1-1,linear-4,linear", "training.batch_size=16"),
    *("basics.positions=48", "basics.epochs=2", "basics.noise_stones=[0,12]", "imitation.games=6"),
    *("imitation.held_out_share=0.3", "imitation.bar_every=1", "imitation.bar_score=1.0", "gate.games=2"),
    *("selfplay.iterations=2", "selfplay.games=4", "selfplay.concurrent_games=2", "selfplay.window=150"),
    *("selfplay.draws_per_position=2.0", "gate.simulations=4", "gate.threshold=0.0"),
    "evaluation.opponents=['random','mentor:paper']",
)
"""All phases, accepted and rejected candidates, several saves in each training."""


class Instants:
    """Copies of a run before each file operation in it; equal ones are kept once, times apart."""

    def __init__(self, run: Path, copies: Path) -> None:
        self._run, self._place = run, copies
        self._known: set[str] = set()
        self.is_on = False
        self.operations = 0
        """File operations so far."""
        self.copies: list[Path] = []
        """The copies, in order."""
        on_each_change(self._happens)

    def _happens(self, event: str, path: Path) -> None:
        """Copy the run; twice before a line of metrics that is just appended is on the disk, once with a part of it."""
        if not self.is_on or not path.is_relative_to(self._run) or path == self._run:
            return
        self.is_on = False  # the copy's own operations do not count
        self.operations += 1
        self._keep(cut=False)
        if event == "fsync" and path.name == "metrics.jsonl":
            self._keep(cut=True)
        self.is_on = True

    def _keep(self, *, cut: bool) -> None:
        if not is_run(self._run):
            return
        copy = self._place / f"{len(self.copies):04d}"
        shutil.copytree(self._run, copy)
        metrics = copy / "metrics.jsonl"
        if cut and metrics.exists():
            text = metrics.read_bytes()
            metrics.write_bytes(text[: (text.rfind(b"\n", 0, -1) + 1 + len(text)) // 2])
        RunFolder.open(copy).close()
        contents = "".join(f"{name}\0{content(path)!r}\n" for name, path in files_of(copy).items())
        digest = hashlib.sha256(contents.encode()).hexdigest()
        if digest in self._known:
            shutil.rmtree(copy)
        else:
            self._known.add(digest)
            self.copies.append(copy)


def prepare() -> None:
    """Save often in this process, at the same steps each time; one thread, since the nets are tiny."""
    steps.STEPS_PER_SAVE = 2
    mentor_games._GAMES_PER_FILE = 3
    round_games._SECONDS_PER_FILE = 1e9
    folder.commit_of_source = lambda: None  # it starts a process at every opening
    set_runtime(RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32))  # no conversion of each model
    torch.set_num_threads(1)


def make_run(config: Config, place: Path) -> tuple[Path, Instants]:
    """Make an undisturbed run below `place`; return it, and the copies of it before its operations."""
    run, copies = place / "whole" / "run", place / "copies"
    run.parent.mkdir(parents=True)
    copies.mkdir()
    instants = Instants(run, copies)
    instants.is_on = True
    with RunFolder.create(run, config) as created:
        run_all(created, Context())
    instants.is_on = False
    return run, instants


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
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each n-th copy only")
    parser.add_argument("--overlap", action="store_true", help="with selfplay.overlap")


def run(arguments: argparse.Namespace) -> int:
    """Try the copies of a run; return 1 at a difference, and keep the folders."""
    prepare()
    place = Path(tempfile.mkdtemp(prefix="gomoku-kill-writes-"))
    overlap = f"selfplay.overlap={str(arguments.overlap).lower()}"
    whole, instants = make_run(resolve("smoke", assignments=[*_SETTINGS, overlap]), place)
    copies, faults = instants.copies[:: arguments.every], []
    for number, copy in enumerate(copies, start=1):
        faults += [f"{copy}: {fault}" for fault in try_copy(copy, whole)[:3]]
        progress(f"{number} of {len(copies)} copies, {len(faults)} faults")
    print("\n".join(faults[:20]))
    print(f"{instants.operations} file operations, {len(copies)} different runs after them, {len(faults)} faults")
    if not faults:
        shutil.rmtree(place)
    return int(bool(faults))
