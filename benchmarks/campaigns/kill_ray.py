"""SIGKILL of workers and drivers: `python -m benchmarks.campaigns.kill_ray --kills 100 --drivers 20`.

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

import numpy as np

from curriculum.training.samples import read_kept_games
from nets.checkpoint import load_arrays

_MARK = "GOMOKU_CAMPAIGN"
_AGENTS_END_S = 120.0
SETTINGS = (
    "rules.size=9",
    "selfplay.iterations=3",
    "selfplay.games=48",
    "selfplay.concurrent_games=8",
    "selfplay.balanced_share=0.5",
    "search.simulations=64",
    "gate.games=8",
    "gate.simulations=32",
    "evaluation.final_games=0",
)


def command(folder: Path, workers: int) -> list[str]:
    """Return the command that trains the run, from where it was left."""
    words = [sys.executable, "-m", "gomoku_cli", "selfplay", "--run", str(folder), "--quiet"]
    if not (folder / "config.toml").exists():
        words += ["--new", "--preset", "smoke", *(word for each in SETTINGS for word in ("--set", each))]
    if workers:
        words += ["--workers", "ray", "--num-workers", str(workers)]
    return words


def processes_of(mark: str) -> dict[int, str]:
    """Return the processes with this mark in their environment, by their numbers, with their command lines."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and f"{_MARK}={mark}".encode() in (entry / "environ").read_bytes():
                words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                if words:
                    found[int(entry.name)] = words
        except OSError:
            continue  # it has ended
    return found


def workers_of(mark: str) -> list[int]:
    """Return the workers' processes with this mark."""
    return [each for each, words in processes_of(mark).items() if words.startswith("ray::Worker")]


def outcome(folder: Path) -> tuple[dict[tuple[int, int], Any], dict[str, Any]]:
    """Return the samples of each game, by round and number, and the arrays of the model."""
    games: dict[tuple[int, int], Any] = {}
    for path in sorted((folder / "replay").glob("selfplay-*.npz")):
        samples, lengths, metadata = read_kept_games(path, 81)
        first = 0
        for number, length in zip(metadata["games"], lengths, strict=True):
            key = (metadata["iteration"], number)
            if key in games:
                raise SystemExit(f"game {key} is there twice")
            games[key] = samples.rows(slice(first, first + length))
            first += length
    return games, dict(load_arrays(folder / "models" / "best.safetensors")[0])


def check(found: Any, expected: Any) -> None:
    """Exit with an error if a run differs."""
    games, arrays = found
    right, right_arrays = expected
    if games.keys() != right.keys():
        raise SystemExit(f"games are missing or too many: {sorted(games.keys() ^ right.keys())}")
    for key, game in games.items():
        if not (
            np.array_equal(game.policies, right[key].policies)
            and np.array_equal(game.values, right[key].values)
            and np.array_equal(game.positions.stones, right[key].positions.stones)
        ):
            raise SystemExit(f"game {key} is another one")
    if any(not np.array_equal(arrays[name], right_arrays[name]) for name in right_arrays):
        raise SystemExit("the model is another one")


def main() -> None:
    """Run until there were enough deaths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="of workers")
    parser.add_argument("--drivers", type=int, default=20, help="kills of drivers")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mean", type=float, default=4.0, help="mean seconds between two kills")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    killed = drivers = runs = 0
    marks: list[str] = []
    with TemporaryDirectory() as scratch:
        straight = Path(scratch) / "straight"
        subprocess.run(command(straight, 0), check=True, stdout=subprocess.DEVNULL)
        expected = outcome(straight)
        while killed < arguments.kills or drivers < arguments.drivers:
            folder = Path(scratch) / f"run-{runs}"
            done = False
            while not done:
                mark = f"{os.getpid()}-{runs}-{drivers}"
                marks.append(mark)
                process = subprocess.Popen(
                    command(folder, arguments.workers),
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, _MARK: mark},
                )
                while process.poll() is None:
                    time.sleep(chance.expovariate(1 / arguments.mean))
                    share = arguments.drivers / (arguments.kills + arguments.drivers)
                    if drivers < arguments.drivers and chance.random() < share and process.poll() is None:
                        process.kill()
                        process.wait()
                        drivers += 1
                        deadline = time.monotonic() + 20
                        while (left := workers_of(mark)) and time.monotonic() < deadline:
                            time.sleep(0.2)
                        if left:
                            raise SystemExit(f"workers are left after the driver's death: {left}")
                        break
                    victims = workers_of(mark)
                    if victims and killed < arguments.kills:
                        os.kill(chance.choice(victims), signal.SIGKILL)
                        killed += 1
                else:
                    if process.returncode:
                        raise SystemExit(f"the driver ended with {process.returncode}")
                    done = True
            check(outcome(folder), expected)
            runs += 1
            print(f"{runs} runs, {killed} workers and {drivers} drivers killed: all games as without", flush=True)
    deadline = time.monotonic() + _AGENTS_END_S
    while left := [words for mark in marks for words in processes_of(mark).values()]:
        if time.monotonic() > deadline:
            raise SystemExit(f"processes are left: {left}")
        time.sleep(1)


if __name__ == "__main__":
    main()
