"""The jobs of the phases for workers: games of self-play, and the models of a run as players."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from core.rules import Cell
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlay, SelfPlayGame
from nets.checkpoint import load_model
from nets.dual import DualNet
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
        """See `curriculum.workers.games.Job`."""
        return self.config.selfplay.concurrent_games

    @property
    def files(self) -> tuple[Path, ...]:
        """See `curriculum.workers.games.Job`."""
        return (self.model,)

    def open(self, files: Mapping[Path, Path]) -> "SelfPlayGames":
        """See `curriculum.workers.games.Job`."""
        return SelfPlayGames(self, files[self.model])


class SelfPlayGames:
    """Self-play in this process: see `curriculum.workers.games.Games`."""

    def __init__(self, job: SelfPlayJob, model: Path) -> None:
        self._repeatable = job.repeatable
        self._evaluator = self._evaluator_of(load_model(model)[0])
        self._newer: Callable[[], NetEvaluator] | None = None
        self._games = SelfPlay(job.config, self._evaluator, iteration=job.iteration, balanced=job.balanced)

    def _evaluator_of(self, model: DualNet) -> NetEvaluator:
        return NetEvaluator(model, repeatable=self._repeatable)

    @property
    def counts(self) -> Mapping[str, int]:
        """See `curriculum.workers.games.Games`."""
        return self._games.progress.counts

    def play(
        self, numbers: Iterator[int | None], stop: Callable[[], bool]
    ) -> Generator[tuple[int, SelfPlayGame] | None]:
        """See `curriculum.workers.games.Games`."""
        with closing(self._games.play(numbers, stop)) as playing:
            for item in playing:
                if item is None and self._newer is not None:
                    newer, self._newer = self._newer, None
                    self._games.set_evaluator(newer)
                yield item

    def push(self, path: Path) -> None:
        """Play on with the weights of a model file."""
        model = load_model(path)[0]
        evaluator = None if self._evaluator.reloads else self._evaluator_of(model)

        def renewed() -> NetEvaluator:
            if evaluator is None:
                self._evaluator.load(model)
            else:
                self._evaluator.close()
                self._evaluator = evaluator
            return self._evaluator

        self._newer = renewed

    def close(self) -> None:
        """See `curriculum.workers.games.Games`."""
        self._evaluator.close()
