"""The jobs of the phases for workers: games of self-play, and the models of a run as players."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.evaluation import Evaluator
from core.rules import Cell
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlay
from curriculum.workers.shared_evaluator import SharedEvaluator, shared_evaluator
from nets.checkpoint import load_model

if TYPE_CHECKING:
    from nets.runtimes.net_evaluator import NetEvaluator


def evaluator_of(model: Path, *, repeatable: bool = True) -> "SharedEvaluator | NetEvaluator":
    """Return an evaluator for a model file of a run: of the process that evaluates for this one, or of this one."""
    shared = shared_evaluator(model, repeatable=repeatable)
    if shared is not None:
        return shared
    from nets.runtimes.net_evaluator import NetEvaluator  # it needs torch

    return NetEvaluator(load_model(model)[0], repeatable=repeatable)


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


class SelfPlayGames(SelfPlay):
    """Self-play by a model in this process: see `curriculum.workers.games.Games`."""

    def __init__(self, job: SelfPlayJob, model: Path) -> None:
        self._repeatable = job.repeatable
        self._evaluator = evaluator_of(model, repeatable=job.repeatable)
        super().__init__(job.config, self._evaluator, iteration=job.iteration, balanced=job.balanced)

    @property
    def counts(self) -> Mapping[str, int]:
        """See `curriculum.workers.games.Games`."""
        return self.progress.counts

    def push(self, path: Path) -> None:
        """Play on with the weights of a model file."""
        evaluator = self._evaluator
        if isinstance(evaluator, SharedEvaluator) or not evaluator.reloads:
            newer = evaluator_of(path, repeatable=self._repeatable)

            def renewed() -> Evaluator:
                self._evaluator.close()
                self._evaluator = newer
                return newer
        else:
            model = load_model(path)[0]

            def renewed() -> Evaluator:
                evaluator.load(model)
                return evaluator

        self.renewed = renewed

    def close(self) -> None:
        """See `curriculum.workers.games.Games`."""
        self._evaluator.close()
