"""SIGKILL of workers and drivers.

Trains a small run with workers on a local Ray, again and again. Meanwhile workers die at random instants, and drivers,
which are started anew. Every run must end with exactly its games, bit by bit those of a run without workers and without
deaths, and no worker may be left; Ray's own agents end by themselves within two minutes.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.campaigns.results import MARK, content, left_processes, processes_of, twice
from benchmarks.measuring import Fault, progress
from curriculum.training.files import read_kept_games

_WORKER = "ray::Worker"
_SETTINGS = (
    *("rules.size=9", "selfplay.iterations=3", "selfplay.games=48", "selfplay.concurrent_games=8"),
    *("selfplay.balanced_share=0.5", "search.simulations=64", "gate.games=8", "gate.simulations=32"),
    "evaluation.final_games=0",
)


def command(folder: Path, workers: int) -> list[str]:
    """Return the command that trains the run, from where it was left."""
    words = f"selfplay --new --quiet --run {folder} --preset smoke {' '.join(f'--set {each}' for each in _SETTINGS)}"
    words += f" --workers ray --num-workers {workers}" if workers else ""
    return [sys.executable, "-m", "gomoku_cli", *words.split()]


def outcome(folder: Path) -> tuple[dict[tuple[int, int], bytes], Any]:
    """Return the samples of each game, by round and number, and the tensors of the model."""
    games: dict[tuple[int, int], bytes] = {}
    for path in sorted((folder / "replay").glob("selfplay-*.npz")):
        samples, lengths, metadata = read_kept_games(path, 81)
        first = 0
        for number, length in zip(metadata["games"], lengths, strict=True):
            key, game = (metadata["iteration"], number), samples.rows(slice(first, first + length))
            games[key] = b"".join(each.tobytes() for each in (game.policies, game.values, game.positions.stones))
            first += length
    return games, content(folder / "models" / "best.safetensors")[0]


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--kills", type=int, default=100, help="of workers")
    parser.add_argument("--drivers", type=int, default=20, help="kills of drivers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mean", type=float, default=4.0, help="mean seconds between two kills")


def run(arguments: argparse.Namespace) -> int:
    """Train until there were enough deaths. Raises `Fault`."""
    chance, marks = random.Random(arguments.seed), []
    killed = drivers = runs = 0

    def train(folder: Path) -> bool:
        """Train until the end or the driver's death; return True at the end."""
        nonlocal killed, drivers
        mark = f"{os.getpid()}-{runs}-{drivers}"
        marks.append(mark)
        process = subprocess.Popen(command(folder, 2), stdout=subprocess.DEVNULL, env=os.environ | {MARK: mark})
        while process.poll() is None:
            time.sleep(chance.expovariate(1 / arguments.mean))
            share = arguments.drivers / (arguments.kills + arguments.drivers)
            if drivers < arguments.drivers and chance.random() < share and process.poll() is None:
                process.kill()
                process.wait()
                drivers += 1
                if left := left_processes(mark, 20.0, _WORKER):
                    raise Fault(f"after the driver's death {'; '.join(left)}")
                return False
            victims = [*processes_of(mark, _WORKER)]
            if victims and killed < arguments.kills:
                os.kill(chance.choice(victims), signal.SIGKILL)
                killed += 1
        if process.returncode:
            raise Fault(f"the driver ended with {process.returncode}")
        return True

    with TemporaryDirectory() as scratch:
        straight = Path(scratch, "straight")
        subprocess.run(command(straight, 0), check=True, stdout=subprocess.DEVNULL)
        games, model = outcome(straight)
        while killed < arguments.kills or drivers < arguments.drivers:
            folder = Path(scratch, f"run-{runs}")
            while not train(folder):
                pass
            found, found_model = outcome(folder)
            if again := twice(folder):
                raise Fault("; ".join(again))
            other = [key for key in games.keys() | found.keys() if games.get(key) != found.get(key)]
            if other or found_model != model:
                raise Fault(f"other games: {sorted(other)}; the same model: {found_model == model}")
            runs += 1
            progress(f"{runs} runs, {killed} workers and {drivers} drivers killed: all games as without")
    if left := [line for mark in marks for line in left_processes(mark, 120.0)]:
        raise Fault("; ".join(left))
    print(f"{runs} runs, {killed} workers and {drivers} drivers killed: all games and models as without")
    return 0
