"""The jobs of the phases for workers: games of self-play, and the models of a run as players."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.rules import Cell
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlay, SelfPlayGame
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator


@dataclass(frozen=True)
class SelfPlayJob:
    """The games of a round."""

    config: Config
    """That of the round."""
    iteration: int
    balanced: Sequence[Sequence[Cell]]
    """Openings to start from."""
    model: Path
    repeatable: bool = True
    """See `nets.runtimes.batching.Batcher`."""

    @property
    def at_once(self) -> int:
        """See `curriculum.workers.crew.Job`."""
        return self.config.selfplay.concurrent_games

    @property
    def files(self) -> tuple[Path, ...]:
        """See `curriculum.workers.crew.Job`."""
        return (self.model,)

    def open(self, files: Mapping[Path, Path]) -> "SelfPlayBench":
        """See `curriculum.workers.crew.Job`."""
        return SelfPlayBench(self, files[self.model])


class SelfPlayBench:
    """Self-play in this process."""

    def __init__(self, job: SelfPlayJob, model: Path) -> None:
        self._repeatable = job.repeatable
        self._evaluator = NetEvaluator(load_model(model)[0], repeatable=job.repeatable)
        self._newer: NetEvaluator | None = None
        self._games = SelfPlay(job.config, self._evaluator, iteration=job.iteration, balanced=job.balanced)

    @property
    def counts(self) -> Mapping[str, int]:
        """See `curriculum.workers.crew.Bench`."""
        return self._games.progress.counts

    def play(
        self,
        numbers: Iterator[int | None],
        finished: Callable[[int, SelfPlayGame], None],
        stop: Callable[[], bool],
    ) -> None:
        """See `curriculum.workers.crew.Bench`."""

        def stop_or_change() -> bool:
            if self._newer is not None:
                before, self._evaluator, self._newer = self._evaluator, self._newer, None
                self._games.set_evaluator(self._evaluator)
                before.close()
            return stop()

        self._games.play(numbers, lambda game: finished(game.number, game), stop_or_change)

    def push(self, model: Path) -> None:
        """Play on with the weights of a model file."""
        self._newer = NetEvaluator(load_model(model)[0], repeatable=self._repeatable)

    def close(self) -> None:
        """See `curriculum.workers.crew.Bench`."""
        self._evaluator.close()
