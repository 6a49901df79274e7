"""Kill every command that writes: `python -m benchmarks.campaigns.kill_commands --kills 1000`.

The process group of a command gets SIGKILL at random instants: some uniform over its running time, some just before an
operation on a file, some a few milliseconds after one. Then the same command runs again, until it finishes. After each
kill all files must be whole and nothing finished may be gone; after the finish the result must be that of an
undisturbed process with the same seed, without a stray file or process. Exits with 1 at a fault, and keeps its folder.

Most commands run in processes forked from a server with everything imported, so that each kill hits work; those with
caches of their own (`warmup`, `engine`) run from the import on.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.campaigns.kill_worker import Counts, Fault, Undisturbances, Worker
from benchmarks.campaigns.kill_works import ROOT, WORKS

_SEEDS = 3
"""Seeds of a command; an undisturbed process with each shows the right result."""


class Campaign:
    """Kills of many commands by some workers, counted."""

    def __init__(
        self, names: Sequence[str], place: Path, *, kills: int, seed: int, power_cuts: bool, forks: bool
    ) -> None:
        self.counts = {name: Counts() for name in names}
        total = sum(WORKS[name].share for name in names)
        self._wanted = {name: -(-kills * WORKS[name].share // total) for name in names}
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
            f"again: python -m benchmarks.campaigns.kill_commands --seed {arguments.seed} "
            f"--commands '{found[0].split(',')[0]}'"
        )
        print(f"kept: {place}")
        return 1
    shutil.rmtree(place)
    return 0 if kills >= arguments.kills else 1


if __name__ == "__main__":
    sys.exit(main())
