"""Workers on Ray: `python -m benchmarks.workers`.

Two questions. Do one-core workers on a local Ray play as many games a second as this process does on the same cores?
And how many workers does one driver feed? For the second, workers return ready-made games at once, so that the driver
is the limit; it takes them, and writes them into a run folder as in training.
"""

import argparse
import pickle
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from core.cores import cores
from core.evaluation import PositionBatch
from core.position import Position
from core.records.record import GameRecord
from core.rules import Rules
from curriculum.arena.opening_sets import BALANCED, load_openings
from curriculum.arena.players import model_path
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.replay import Replay
from curriculum.presets import resolve
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples
from curriculum.workers.crew import Crew, Job
from curriculum.workers.local import Local
from curriculum.workers.ray_crew import RayCrew
from nets.checkpoint import read_info

_PLIES = 45
"""Length of a ready-made game: the mean of self-play from balanced openings."""
_SIMULATIONS_OF_A_GAME = 400 * _PLIES
_GAMES_PER_FILE = 512


@dataclass(frozen=True)
class Ready:
    """Games that are finished before they begin."""

    rules: Rules

    at_once = 64
    files = ()

    def open(self, files: Mapping[Path, Path]) -> "ReadyBench":
        """See `curriculum.workers.crew.Job`."""
        return ReadyBench(self.rules)


class ReadyBench:
    """Answers every number with the same game, under that number."""

    def __init__(self, rules: Rules) -> None:
        random = np.random.default_rng(1)
        position = Position(rules)
        batch = PositionBatch.empty(_PLIES, rules.cells)
        for row in range(_PLIES):
            batch.stones[row], batch.to_move[row] = position.stones, position.side_to_move
            batch.last_moves[row] = position.last_moves
            position.push(int(random.choice(position.legal_moves())))
        policies = np.zeros((_PLIES, rules.cells), np.float32)
        for row in range(_PLIES):
            visited = random.choice(rules.cells, 30, replace=False)
            policies[row, visited] = random.dirichlet(np.full(30, 0.3))
        self._samples = Samples(batch, policies, random.uniform(-1, 1, _PLIES).astype(np.float32))
        comments = [f"value {value:+.3f} for black" for value in self._samples.values]
        self._record = GameRecord(rules, tuple(position.moves), None, black="a", white="b", comments=comments)
        self.counts: Mapping[str, int] = {"simulations": 0}

    def play(
        self, numbers: Iterator[int | None], finished: Callable[[int, SelfPlayGame], None], stop: Callable[[], bool]
    ) -> None:
        """See `curriculum.workers.crew.Bench`."""
        while not stop() and (number := next(numbers, None)) is not None:
            finished(number, self.game(number))

    def game(self, number: int) -> SelfPlayGame:
        """Return the game under a number, with arrays of its own."""
        return SelfPlayGame(number, self._samples.rows(np.arange(_PLIES)), self._record, 0)

    def close(self) -> None:
        """See `curriculum.workers.crew.Bench`."""


def games_a_second(crew: Crew, job: Job[SelfPlayGame], settle_s: float, seconds: float) -> float:
    """Return the rate of simulations, divided by those of a game.

    Games that began together end together, so finished games alone would tell little about so short a time.
    """
    begun = time.perf_counter()
    marks: list[tuple[float, int]] = []

    with crew.open(job) as team:

        def stop() -> bool:
            now = time.perf_counter()
            if now - begun > settle_s:
                marks.append((now, team.counts.get("simulations", 0)))
            return now - begun > settle_s + seconds

        team.play(range(1_000_000), lambda number, game: None, stop)
    (first, before), (last, after) = marks[0], marks[-1]
    return (after - before) / (last - first) / _SIMULATIONS_OF_A_GAME


def measure_ratio(model: str, seconds: float, settle_s: float, repeats: int) -> None:
    """Print games a second of this process and of one-core workers, in turns."""
    path = model_path(model)
    assert path is not None
    info = read_info(path)
    config = resolve("hour")
    config = replace(
        config,
        rules=info.rules,
        net=info.net,
        search=replace(config.search, simulations=400),
        selfplay=replace(config.selfplay, concurrent_games=32, balanced_share=1.0, random_share=0.0),
    )
    job = SelfPlayJob(config, 0, load_openings(BALANCED, config.rules, for_training=True), path)
    ratios: list[float] = []
    with RayCrew("ray", workers=cores()) as crew:
        for _ in range(repeats):
            here = games_a_second(Local(), job, settle_s, seconds)
            there = games_a_second(crew, job, settle_s, seconds)
            ratios.append(there / here)
            print(f"this process {here:.2f} games/s, {cores()} workers {there:.2f}: {there / here:.2f}", flush=True)
    print(f"median ratio of {repeats}: {statistics.median(ratios):.2f}")
    print(f"one worker: {here / cores():.2f} games/s (this process, a core)")


def measure_driver(games: int, workers: int) -> None:
    """Print how many ready-made games a second the driver takes and writes."""
    config = Config()
    with (
        TemporaryDirectory() as folder,
        RayCrew("ray", workers=workers) as crew,
        RunFolder.create(Path(folder) / "run", config) as run,
    ):
        replay = Replay(run, Conduct())
        pending: list[SelfPlayGame] = []
        seen: set[int] = set()
        since = Progress.of({})

        def save() -> None:
            nonlocal pending, since
            now = Progress.of({"simulations": len(seen)})
            replay.save(0, pending, since, now)
            pending, since = [], now

        def finished(number: int, game: SelfPlayGame) -> None:
            assert number not in seen
            seen.add(number)
            pending.append(game)
            if len(pending) >= _GAMES_PER_FILE:
                save()

        with crew.open(Ready(config.rules)) as team:
            team.play(range(workers), finished, lambda: False)  # all workers have started
            before, start = time.process_time(), time.perf_counter()
            team.play(range(workers, games), finished, lambda: False)
            seconds, used = time.perf_counter() - start, time.process_time() - before
        if pending:
            save()
        assert len(seen) == games
    count = games - workers
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count:,} games from {workers} workers in {seconds:.1f} s: {count / seconds:,.0f} games/s")
    print(f"the driver's own time: {1000 * used / count:.2f} ms a game, so {count / used:,.0f} games/s on its core")
    size = len(pickle.dumps(ReadyBench(config.rules).game(0), protocol=5))
    print(f"a game of {_PLIES} moves on the way: {size / 1024:,.0f} KiB")
    print(f"the driver's largest memory: {peak:,.0f} MiB")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="default")
    parser.add_argument("--seconds", type=float, default=30.0, help="of each measurement of games")
    parser.add_argument("--settle", type=float, default=20.0, help="seconds of play before it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--games", type=int, default=20_000, help="ready-made games")
    parser.add_argument("--workers", type=int, default=4, help="workers that return ready-made games")
    parser.add_argument("--only", choices=("ratio", "driver"))
    arguments = parser.parse_args()
    if arguments.only != "ratio":
        measure_driver(arguments.games, arguments.workers)
    if arguments.only != "driver":
        measure_ratio(arguments.model, arguments.seconds, arguments.settle, arguments.repeats)


if __name__ == "__main__":
    main()
