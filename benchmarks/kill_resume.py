"""Kill and resume a training: `python -m benchmarks.kill_resume --preset quick --kills 10 --run DIR`.

The training process gets SIGKILL at random instants spread over the run. Its metrics must show that each kill lost no
more than the step in flight. It exits with 1 if they do not, or if the run does not finish.
"""

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from curriculum.phases.steps import STEPS_PER_SAVE
from curriculum.run.folder import RunFolder, is_run, read_metrics

_PHASES = ("basics", "imitation", "selfplay", "evaluation")
_LEARNING = ("train", "measure", "match")
_ROUND = ("games", "train", "gate")
_POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill, and the metrics at its time."""

    seconds: float
    """Running time of the training until then, all its processes together."""
    lines: int
    """Number of lines of metrics."""
    last: str
    """The last of them, in a few words."""


def place_of(record: dict[str, Any]) -> tuple[int, ...]:
    """Return the progress of a run at a line of metrics; it only falls if work is done twice."""
    phase, step = _PHASES.index(record["phase"]), record.get("step") or 0
    if record["phase"] == "selfplay":
        return phase, record["iteration"], _ROUND.index(record["event"]), step
    return phase, 0, step, _LEARNING.index(record["event"])


def summary(record: dict[str, Any]) -> str:
    """Return a line of metrics in a few words."""
    words = [record["phase"], record["event"]]
    words += [f"{name} {record[name]}" for name in ("iteration", "step") if record.get(name) is not None]
    return " ".join(words)


def faults(records: Sequence[dict[str, Any]], kills: Sequence[Kill]) -> list[str]:
    """Return the losses beyond the steps in flight that the metrics of a finished run show; none if all is well."""
    found = []
    boundaries = {kill.lines for kill in kills}
    for number, (before, after) in enumerate(pairwise(records), start=1):
        if place_of(after) < place_of(before):
            found.append(f"line {number + 1} ({summary(after)}) goes back behind line {number} ({summary(before)})")
        repeated = before["event"] == after["event"] == "train" and place_of(after) == place_of(before)
        if repeated and number not in boundaries:
            found.append(f"line {number + 1} ({summary(after)}) appears twice, with no kill in between")
    steps: dict[tuple[str, int | None], list[int]] = {}
    for record in records:
        if record["event"] == "train":
            steps.setdefault((record["phase"], record.get("iteration")), [0]).append(record["step"])
    for (phase, iteration), done in steps.items():
        if any(after - before > STEPS_PER_SAVE for before, after in pairwise(done)):
            found.append(f"{phase}{'' if iteration is None else f' round {iteration}'}: steps are missing among {done}")
    repeats = sum(done.count(step) - 1 for done in steps.values() for step in set(done))
    if repeats > len(kills):
        found.append(f"{repeats} steps of training were done again after {len(kills)} kills")
    return found


def kill_and_resume(
    path: Path, options: Sequence[str], *, kills: int, over_s: float, seed: int
) -> tuple[list[Kill], float]:
    """Train in `path` with `gomoku train OPTIONS`, and kill it up to `kills` times; return the kills and the seconds.

    The instants are drawn uniformly from the first `over_s` seconds of the training. Raises `RuntimeError` if the
    training fails by itself.
    """
    chance = random.Random(seed)
    instants = sorted(chance.uniform(0, over_s) for _ in range(kills))
    done: list[Kill] = []
    ran_s = 0.0
    while True:
        resume = ["--resume"] if is_run(path) else list(options)
        command = [sys.executable, "-m", "gomoku_cli", "train", "--quiet", "--run", str(path), *resume]
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                seconds = ran_s + time.perf_counter() - start
                if len(done) < len(instants) and seconds >= instants[len(done)]:
                    process.kill()
                    break
                time.sleep(_POLL_S)
            _, errors = process.communicate()
        ran_s += time.perf_counter() - start
        if process.returncode == 0:
            return done, ran_s
        if process.returncode > 0:
            raise RuntimeError(f"gomoku train ended with exit code {process.returncode}: {errors.strip()}")
        records = read_metrics(path)
        done.append(Kill(ran_s, len(records), summary(records[-1]) if records else "nothing yet"))


def main() -> int:
    """Run the training to its end; print a row for each kill, and the losses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--run", type=Path, required=True, help="a new folder")
    parser.add_argument("--over", type=float, default=600.0, help="seconds of running over which the kills are spread")
    parser.add_argument("--seed", type=int, default=1, help="of the instants")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as in gomoku train")
    arguments = parser.parse_args()

    options = ["--preset", arguments.preset, *(word for value in arguments.set for word in ("--set", value))]
    kills, seconds = kill_and_resume(
        arguments.run, options, kills=arguments.kills, over_s=arguments.over, seed=arguments.seed
    )
    with RunFolder.open(arguments.run) as run:
        records = run.metrics()
    print(f"{'kill':>4}  {'after':>8}  {'last line before':<32}  first line after")
    for number, kill in enumerate(kills, start=1):
        after = summary(records[kill.lines]) if kill.lines < len(records) else "nothing"
        print(f"{number:>4}  {kill.seconds:>6.1f} s  {kill.last:<32}  {after}")
    found = faults(records, kills)
    print(f"{len(kills)} kills, {seconds:.0f} s of running, {len(records)} lines of metrics, the run is complete")
    print("\n".join(found) if found else "no more than the steps in flight was lost")
    return 1 if found or len(kills) < arguments.kills else 0


if __name__ == "__main__":
    sys.exit(main())
