"""Benchmarks of the mentor: `python -m benchmarks.mentor match|versions|threads|vcf`.

`match` lets the mentor play itself with other limits: `--nodes 20000 --against 2000`. `versions` lets it play an older
version at equal time, each as `gomoku engine`, one game at a time, so that both may use all cores: `--checkout DIR`
is a working copy of the older one (`git worktree add DIR COMMIT`). The same command with `--run DIR` continues a
stopped match. A machine that is busy with other work slows several threads more than one, so there `threads` says more:
a mentor with `--threads` plays one with a single thread, and each move ends after the same number of `--nodes` of its
first thread, which is equal time where each thread has a core. `vcf` times the search for a victory by continuous
fours on the tactical suite's positions that have one of seven fours or more.
"""

import argparse
import json
import math
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from core.cores import cores
from core.position import Position
from core.rules import Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.suite import load_suite
from curriculum.arena.tournament import play_match, play_tournament
from curriculum.reporting import Conduct
from search.limits import Limit
from search.mentor.deepening import SLICE
from search.mentor.player import Mentor
from search.players import Decision, Player, never
from search.solvers.vcf import find_vcf, new_vcf_work

_KIND = "fours-7+"
_REPEATS = 5
_ROOT = Path(__file__).resolve().parents[1]


def match(nodes: int, against: int, games: int, seed: int) -> dict[str, object]:
    """Return the result of a match of two limits from balanced openings."""
    rules = Rules()
    return play_match(
        Mentor(Limit(nodes=nodes), name=f"{nodes} nodes"),
        Mentor(Limit(nodes=against), name=f"{against} nodes"),
        rules=rules,
        openings=load_openings("balanced", rules),
        games=games,
        seed=seed,
        conduct=Conduct(),
    ).to_json()


def versions(checkout: Path, seconds: float, games: int, *, threads: int | None, seed: int, run: Path | None) -> int:
    """Play the match of this version against that of a checkout, which prints itself; return its exit code."""

    def engine(folder: Path, *arguments: str) -> str:
        # The current folder comes first where Python looks for modules.
        words = ("env", "-C", str(folder.resolve()), sys.executable, "-m", "gomoku_cli", "engine", *arguments)
        return f"engine:{shlex.join(words)}"

    own = engine(_ROOT, *(() if threads is None else ("--threads", str(threads))))
    command = [sys.executable, "-m", "gomoku_cli", "evaluate", own, "--against", engine(checkout)]
    command += ["--games", str(games), "--seconds", str(seconds), "--concurrency", "1", "--seed", str(seed)]
    command += [] if run is None else ["--run", str(run)]
    return subprocess.run(command, check=False).returncode


class _Counted(Player):
    """The mentor with a number of nodes of its first thread a move, searched as by the clock."""

    def __init__(self, nodes: int, threads: int) -> None:
        self.name = f"{threads} threads"
        self._checks = max(nodes // SLICE, 1)
        self._mentor = Mentor(Limit(seconds=math.inf), variety=0, threads=threads)

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        return [self._choose(position, seed) for position, seed in zip(positions, seeds, strict=True)]

    def _choose(self, position: Position, seed: int) -> Decision:
        checks = iter(range(self._checks))
        return self._mentor.choose(position, seed=seed, stop=lambda: next(checks, None) is None)


def match_of_threads(threads: int, nodes: int, games: int, seed: int) -> dict[str, object]:
    """Return the result of a match between several threads and one, one game at a time."""
    rules = Rules()
    players = (_Counted(nodes, threads), _Counted(nodes, 1))
    schedule = fixtures(2, games, openings=load_openings("balanced", rules), seed=seed)
    tournament = play_tournament(players, schedule, rules=rules, conduct=Conduct(), side_by_side=1)
    return tournament.matches[0, 1].to_json()


def vcf() -> dict[str, object]:
    """Return the median and the longest time of a search, in milliseconds, each with an empty table."""
    puzzles = [puzzle for puzzle in load_suite("tactics") if puzzle.kind == _KIND]
    times = []
    for position in (Position.from_moves(Rules(), puzzle.moves) for puzzle in puzzles):
        runs = []
        for _ in range(_REPEATS + 1):  # the first of all compiles
            work = new_vcf_work(position.rules)
            started = time.thread_time()
            find_vcf(position, work=work)
            runs.append(1000 * (time.thread_time() - started))
        times.append(statistics.median(runs[1:]))
    return {"positions": len(times), "median_ms": statistics.median(times), "longest_ms": max(times)}


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("match", "versions", "threads", "vcf"))
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--against", type=int, default=2_000)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkout", type=Path, help="working copy of the older version")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of a move")
    parser.add_argument("--threads", type=int, help="of the first player; all cores by default")
    parser.add_argument("--run", type=Path, help="folder that keeps the games")
    arguments = parser.parse_args()
    if arguments.what == "versions":
        if arguments.checkout is None:
            parser.error("versions needs --checkout")
        sys.exit(
            versions(
                arguments.checkout,
                arguments.seconds,
                arguments.games,
                threads=arguments.threads,
                seed=arguments.seed,
                run=arguments.run,
            )
        )
    if arguments.what == "match":
        figures = match(arguments.nodes, arguments.against, arguments.games, arguments.seed)
    elif arguments.what == "threads":
        figures = match_of_threads(arguments.threads or cores(), arguments.nodes, arguments.games, arguments.seed)
    else:
        figures = vcf()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
