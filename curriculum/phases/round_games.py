"""The games of a round of self-play, on their way from the workers into the replay buffer."""

import shutil
import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.files.atomic import atomic_path
from core.rules import Cell
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.replay import Replay
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
from curriculum.workers.crew import Team, TeamBeside

_SECONDS_PER_FILE = 20.0
_GAMES_PER_FILE = 512
_SECONDS_PER_UPDATE = 1.0
_PATIENCE_S = 0.2


class RoundGames:
    """Plays the missing games of a round and saves them; a part of them, if it is stopped."""

    def __init__(
        self, run: RunFolder, conduct: Conduct, config: Config, iteration: int, balanced: Sequence[Sequence[Cell]]
    ) -> None:
        """`config`: the whole run's."""
        self.iteration = iteration
        self._run, self._conduct, self._balanced = run, conduct, balanced
        self._config = at_round(config, iteration)
        self._replay = Replay(run, conduct)
        self._done = self._replay.done(iteration)
        self._pending: list[SelfPlayGame] = []
        self._since = self._shown = Progress.of({})
        self._nodes: dict[str, int] = {}
        self._beside: TeamBeside[SelfPlayGame] | None = None
        self._model = run.models / f"playing-{iteration:04d}.safetensors"
        """The net that plays ahead (`selfplay.overlap`): that of the round before its last gate."""

    @property
    def are_done(self) -> bool:
        """True if all games are in files."""
        return len(self._done) >= self._config.selfplay.games and not self._pending

    def play(self) -> None:
        """Play to the end. Raises `Interrupted` after saving."""
        settings = self._config.selfplay
        if not self.are_done:
            with self._conduct.reporter.task(f"self-play, round {self.iteration + 1}", settings.games, "games") as task:

                def show(counts: Mapping[str, int], workers: int | None) -> None:
                    now = Progress.of(counts)
                    if (seconds := now.seconds - self._shown.seconds) > _SECONDS_PER_UPDATE:
                        figures: dict[str, float] = {} if workers is None else {"workers": workers}
                        rate = max(0, now.simulations - self._shown.simulations) / seconds
                        task.update(len(self._done), simulations_per_second=rate, **figures)
                        self._shown = now

                task.update(len(self._done))
                try:
                    if self._beside is not None:
                        self._finish_beside(self._beside, show)
                    else:
                        self._play_here(show)
                finally:
                    self.close()
                task.update(len(self._done))
            self._conduct.check()
        self._model.unlink(missing_ok=True)

    def play_ahead(self) -> None:
        """Let the best model of now play: beside this process where others play, and else to the end.

        Raises `Interrupted` after saving.
        """
        if self.are_done:
            return
        if not self._model.exists():
            with atomic_path(self._model) as temporary:
                shutil.copyfile(self._run.best_model, temporary)
        if self._conduct.crew.is_apart:
            self._since = self._shown = Progress.of({})
            self._beside = self._conduct.crew.open_beside(self._job, self._missing)
        else:
            self.play()

    def collect(self, patience: float = 0.0) -> None:
        """Take the games that others have finished, and save them now and then. Raises the error of a worker."""
        if self._beside is None:
            return
        for _, game in self._beside.games(patience):
            self._add(game, self._beside)

    def close(self) -> None:
        """End the play of others, and save what there is."""
        if self._beside is not None:
            try:
                if self._pending:
                    self._save(self._beside)
            finally:
                self._beside.close()
                self._beside = None

    @property
    def _missing(self) -> list[int]:
        return [game for game in range(self._config.selfplay.games) if game not in self._done]

    @property
    def _job(self) -> SelfPlayJob:
        model = self._model if self._model.exists() else self._run.best_model
        return SelfPlayJob(self._config, self.iteration, self._balanced, model)

    def _play_here(self, show: Any) -> None:
        with self._conduct.crew.open(self._job) as team:
            self._since = self._shown = Progress.of(team.counts)

            def stop() -> bool:
                show(team.counts, None if team.report is None else team.report.workers)
                return self._conduct.stop()

            try:
                team.play(self._missing, lambda number, game: self._add(game, team), stop)
            finally:
                if self._pending:
                    self._save(team)

    def _finish_beside(self, team: TeamBeside[SelfPlayGame], show: Any) -> None:
        while not self._conduct.stop() and len(self._done) < self._config.selfplay.games:
            self.collect(_PATIENCE_S)
            show(team.counts, None if team.report is None else team.report.workers)

    def _add(self, game: SelfPlayGame, team: Team[SelfPlayGame] | TeamBeside[SelfPlayGame]) -> None:
        self._pending.append(game)
        self._done.add(game.number)
        if time.perf_counter() - self._since.seconds > _SECONDS_PER_FILE or len(self._pending) >= _GAMES_PER_FILE:
            self._save(team)

    def _save(self, team: Team[SelfPlayGame] | TeamBeside[SelfPlayGame]) -> None:
        now = Progress.of(team.counts)
        facts: dict[str, Any] = {"age": int(self._model.exists())}
        if team.report is not None:
            seconds = now.seconds - self._since.seconds
            nodes = dict(team.report.games_by_node)
            rates = {node: (count - self._nodes.get(node, 0)) / seconds for node, count in nodes.items()}
            facts |= {"workers": team.report.workers, "games_per_second_by_node": rates}
            self._nodes = nodes
        self._replay.save(self.iteration, self._pending, self._since, now, facts)
        self._pending, self._since = [], now
