"""Kills between any two writes of a run: `python -m benchmarks.campaigns.kill_writes`.

A small run of all phases works undisturbed, and each of its file operations is intercepted: opening for writing,
synchronising, renaming, removing, cutting, making a folder. The folder is copied before each one, as a kill would leave
it there, and once more with a part of the last line of metrics. Every copy is opened as a run, which mends it. Those
that differ then, times apart, are finished and compared with the undisturbed run: models, states, samples, games,
settings and metrics, all but times. Exits with 1 at a difference.

No process dies here, so that a whole run is tried in minutes; `kill_commands` kills real commands at such instants.
"""

import argparse
import hashlib
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open

from core.rules import Rules
from curriculum.config import (
    BasicsConfig,
    Config,
    EvaluationConfig,
    GateConfig,
    ImitationConfig,
    SelfplayConfig,
    TrainingConfig,
)
from curriculum.games import mentor_games
from curriculum.phases import round_games, steps
from curriculum.phases.all import run_all
from curriculum.reporting import Conduct
from curriculum.run import folder
from curriculum.run.folder import RunFolder, is_run
from nets.config import Backend, NetConfig, Precision, RuntimeChoice, set_runtime
from search.tree.settings import SearchSettings

SMALL = Config(
    rules=Rules(7, 4),
    net=NetConfig.tower(4, 1, hidden=4),
    search=SearchSettings(simulations=8),
    training=TrainingConfig(batch_size=16),
    basics=BasicsConfig(positions=48, epochs=2, noise_stones=(0, 12)),
    imitation=ImitationConfig(
        teacher="mentor:paper", games=6, passes=2, bar_games=2, bar_every=1, held_out_share=0.3, bar_score=1.0
    ),
    selfplay=SelfplayConfig(iterations=2, games=4, concurrent_games=2, draws_per_position=2.0, window=150),
    gate=GateConfig(games=2, simulations=4, threshold=0.0),
    evaluation=EvaluationConfig(final_games=2, opponents=("random", "mentor:paper")),
)
"""All phases, accepted and rejected candidates, several saves in each training."""
OVERLAPPED = replace(SMALL, selfplay=replace(SMALL.selfplay, overlap=True))
_STEPS_PER_SAVE = 2
_GAMES_PER_FILE = 3
_CHANGES = ("os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir")
_TIMES = ("time", "date")


class Instants:
    """Copies of a folder before each file operation in it; equal ones are kept once, times apart."""

    def __init__(self, folder: Path, copies: Path) -> None:
        self._folder, self._copies = folder, copies
        self._known: set[str] = set()
        self._is_on = False
        self.operations = 0
        """File operations so far."""
        self.copies: list[Path] = []
        """The copies, in order."""
        sys.addaudithook(self._audit)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the operations of the block."""
        fsync = os.fsync

        def noted_fsync(descriptor: Any) -> None:
            self._happens(os.readlink(f"/proc/self/fd/{descriptor}"), appended=True)
            fsync(descriptor)

        os.fsync, self._is_on = noted_fsync, True
        try:
            yield
        finally:
            os.fsync, self._is_on = fsync, False

    def _audit(self, event: str, details: tuple[Any, ...]) -> None:
        if not self._is_on:
            return
        if event == "open":
            path, _, flags = details
            if isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR):
                self._happens(path)
        elif event in _CHANGES:
            self._happens(details[0])

    def _happens(self, path: Any, *, appended: bool = False) -> None:
        """Copy the folder; twice before a line that was just `appended` is on the disk, the second time with a part."""
        if isinstance(path, int) or not os.path.abspath(os.fsdecode(path)).startswith(f"{self._folder}{os.sep}"):
            return
        self._is_on = False  # the copy's own operations do not count
        self.operations += 1
        self._keep(cut=False)
        if appended and os.path.basename(os.fsdecode(path)) == "metrics.jsonl":
            self._keep(cut=True)
        self._is_on = True

    def _keep(self, *, cut: bool) -> None:
        if not is_run(self._folder):
            return
        copy = self._copies / f"{len(self.copies):04d}"
        shutil.copytree(self._folder, copy)
        metrics = copy / "metrics.jsonl"
        if cut and metrics.exists():
            text = metrics.read_bytes()
            start = text.rfind(b"\n", 0, -1) + 1
            metrics.write_bytes(text[: (start + len(text)) // 2])
        RunFolder.open(copy).close()
        digest = hashlib.sha256(
            "".join(f"{file.relative_to(copy)}\0{content(file)!r}\n" for file in _files(copy)).encode()
        ).hexdigest()
        if digest in self._known:
            shutil.rmtree(copy)
        else:
            self._known.add(digest)
            self.copies.append(copy)


def prepare(seconds_per_file: float = 1e9) -> None:
    """Save often in this process, at the same steps each time; one thread, since the nets are tiny."""
    steps.STEPS_PER_SAVE = _STEPS_PER_SAVE
    mentor_games._GAMES_PER_FILE = _GAMES_PER_FILE
    round_games._SECONDS_PER_FILE = seconds_per_file
    folder.commit_of_source = lambda: None  # it starts a process at every opening
    set_runtime(RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32))  # no conversion of each model
    if torch.get_num_threads() > 1:
        torch.set_num_threads(1)


def make_run(config: Config, place: Path) -> tuple[Path, Instants]:
    """Make an undisturbed run below `place`; return it, and the copies of it before its operations."""
    run, copies = place / "whole" / "run", place / "copies"
    run.parent.mkdir(parents=True)
    copies.mkdir()
    instants = Instants(run, copies)
    with instants.watching(), RunFolder.create(run, config) as created:
        run_all(created, Conduct())
    return run, instants


def finish(run: Path) -> None:
    """Open a run and do the rest of its work."""
    with RunFolder.open(run) as opened:
        run_all(opened, Conduct())


def differences(run: Path, whole: Path) -> list[str]:
    """Return the differences between two finished runs, apart from times."""
    ours, theirs = ({file.relative_to(path): file for file in _files(path)} for path in (run, whole))
    found = [f"{name} is one file too many" for name in sorted(ours.keys() - theirs.keys())]
    found += [f"{name} is missing" for name in sorted(theirs.keys() - ours.keys())]
    for name in sorted(ours.keys() & theirs.keys()):
        one, other = content(ours[name]), content(theirs[name])
        if one != other:
            found.append(f"{name} differs{_first_difference(one, other)}")
    return found


def _first_difference(one: Any, other: Any) -> str:
    if not isinstance(one, list) or not isinstance(other, list):
        return ""
    if len(one) != len(other):
        return f": {len(one)} lines, not {len(other)}"
    return next((f": {mine} is not {theirs}" for mine, theirs in zip(one, other, strict=True) if mine != theirs), "")


def content(file: Path) -> Any:
    """Return the content of a file of a run without times; the notes of openings are times and machines alone."""
    if file.name in ("environment.json", "lock"):
        return None
    if file.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in file.read_bytes().splitlines()]
    if file.suffix == ".json":
        return _timeless(json.loads(file.read_bytes()))
    if file.suffix == ".safetensors" and file.parent.name == "state":
        with safe_open(file, framework="numpy") as tensors:
            arrays = {name: np.asarray(tensors.get_tensor(name)).tobytes() for name in tensors.keys()}  # noqa: SIM118
            return arrays, _timeless(json.loads(tensors.metadata()["progress"]))
    return file.read_bytes()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(item) for key, item in value.items() if "second" not in key and key not in _TIMES}
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def try_copy(copy: Path, whole: Path) -> list[str]:
    """Finish a copy and compare it with the undisturbed run; remove it if they are equal."""
    prepare()
    try:
        finish(copy)
    except Exception as error:  # any at all is a fault of the run
        return [f"it cannot be finished: {type(error).__name__}: {error}"]
    found = differences(copy, whole)
    if not found:
        shutil.rmtree(copy)
    return found


def campaign(config: Config, place: Path, workers: int, chosen: slice) -> tuple[int, int, list[str]]:
    """Try the copies of a run; return the numbers of operations and of copies, and the faults."""
    whole, instants = make_run(config, place)
    copies = instants.copies[chosen]
    faults: list[str] = []
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        tried = {pool.submit(try_copy, copy, whole): copy for copy in copies}
        for number, future in enumerate(as_completed(tried), start=1):
            faults += [f"{tried[future]}: {fault}" for fault in future.result()[:3]]
            if number % 10 == 0:
                print(f"{number} of {len(copies)} copies, {len(faults)} faults", flush=True)
    return instants.operations, len(copies), faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the campaign; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2, metavar="N", help="processes that finish copies")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each n-th copy only")
    parser.add_argument("--overlap", action="store_true", help="with selfplay.overlap")
    options = parser.parse_args(arguments)
    prepare()
    start = time.perf_counter()
    place = Path(tempfile.mkdtemp(prefix="gomoku-kill-writes-"))
    config = OVERLAPPED if options.overlap else SMALL
    operations, copies, faults = campaign(config, place, options.workers, slice(None, None, options.every))
    for fault in itertools.islice(faults, 20):
        print(fault)
    print(
        f"{operations} file operations, {copies} different runs after them, {len(faults)} faults, "
        f"{time.perf_counter() - start:.0f} s"
    )
    if faults:
        print(f"the folders are in {place}")
        return 1
    shutil.rmtree(place)
    return 0


if __name__ == "__main__":
    sys.exit(main())
