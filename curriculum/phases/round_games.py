"""The games of self-play on their way from the workers into the replay buffer, a round at a time."""

import shutil
import time
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from core.files.atomic import atomic_path
from curriculum.arena.opening_sets import training_openings
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.replay import Replay
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
from curriculum.workers.games import PATIENCE_S, Stream

PUSHED = "pushed"
"""Name of the model that concurrent games go on with."""
_SECONDS_PER_FILE = 20.0
_GAMES_PER_FILE = 512
_SECONDS_PER_UPDATE = 1.0


class RoundGames:
    """Plays the games of a round and saves them; close it."""

    def __init__(self, run: RunFolder, context: Context) -> None:
        self._run, self._context, self._replay = run, context, Replay(run, context)
        self._balanced = training_openings(run.config, context)
        self._config, self._iteration = run.config, -1
        self._done: set[int] = set()
        self._pending: list[SelfPlayGame] = []
        self._stream: Stream[SelfPlayGame] | None = None
        self._model: Path | None = None
        self._age = 0
        """Of the net that plays, in rounds."""
        self._since = Progress.of({})
        self._nodes: dict[str, int] = {}

    def begin(self, iteration: int, *, ahead: bool = False) -> None:
        """Let the games of a round be played, as far as they are missing; a round that has begun goes on.

        `ahead`: the net of now plays to the end, also after a kill and while the best model changes. Concurrent games
        go on from round to round, unless a stage of the schedule changes their settings: then those in progress are
        lost.
        """
        if iteration == self._iteration:
            return
        config = at_round(self._run.config, iteration)
        settings = config.selfplay
        if settings.concurrent and config == self._config:
            self._save()
        else:
            self.close()
        self._config, self._iteration = config, iteration
        if self._stream is not None:
            return
        self._done = self._replay.done(iteration)
        numbers: Iterable[int] = count(max(self._done, default=-1) + 1)
        if not settings.concurrent:
            numbers = [game for game in range(settings.games) if game not in self._done]
        name = PUSHED if settings.concurrent else f"playing-{iteration:04d}"
        self._model = self._run.models / f"{name}.safetensors"
        if not numbers:
            return
        if ahead and not self._model.exists():
            with atomic_path(self._model) as temporary:
                shutil.copyfile(self._run.best_model, temporary)
        model = self._model if self._model.exists() else self._run.best_model
        self._age = int(model == self._model and not settings.concurrent)
        job = SelfPlayJob(config, iteration, self._balanced, model, repeatable=not settings.concurrent)
        self._stream = self._context.pool.stream(job, numbers, self._context.stop, beside=settings.concurrent)
        self._since, self._nodes = Progress.of({}), {}

    def wait(self) -> None:
        """Play the round to its end. Raises `Interrupted` after saving."""
        if (stream := self._stream) is not None:
            title = f"self-play, round {self._iteration + 1}"
            with self._context.reporter.task(title, self._config.selfplay.games, "games") as task:
                task.update(len(self._done))
                # Speeds are those of play, without the loading of nets and the compilation of the search.
                while not (stream.is_over or self._pending or stream.counts.get("simulations")):
                    self.collect(PATIENCE_S)
                    if not self._pending:
                        self._since = Progress.of(stream.counts)
                shown = self._since
                while not stream.is_over:
                    self.collect(PATIENCE_S)
                    now = Progress.of(stream.counts)
                    if (seconds := now.seconds - shown.seconds) > _SECONDS_PER_UPDATE:
                        rate = max(0, now.simulations - shown.simulations) / seconds
                        task.update(len(self._done), simulations_per_second=rate, **stream.figures)
                        shown = now
                self.close()
                task.update(len(self._done))
            self._context.check()
        if self._model is not None:
            self._model.unlink(missing_ok=True)

    def collect(self, patience: float = 0.0) -> list[SelfPlayGame]:
        """Return the games that have ended since the last call, and save them now and then.

        Waits `patience` seconds at most for one. Raises the error of a worker.
        """
        if self._stream is None:
            return []
        games = [game for _, game in self._stream.take(patience)]
        self._pending += games
        self._done.update(game.number for game in games)
        is_due = time.perf_counter() - self._since.seconds > _SECONDS_PER_FILE
        if is_due or len(self._pending) >= _GAMES_PER_FILE:
            self._save()
        return games

    def push(self, model: Path) -> None:
        """Play on with the weights of a model file."""
        if self._stream is not None:
            self._stream.push(model)

    def close(self) -> None:
        """End the play, and save what there is."""
        if self._stream is not None:
            try:
                self._save()
            finally:
                self._stream.close()
                self._stream = None

    def _save(self) -> None:
        if self._stream is None or not self._pending:
            return
        now = Progress.of(self._stream.counts)
        facts: dict[str, Any] = {"age": self._age}
        if self._stream.workers is not None:
            seconds = now.seconds - self._since.seconds
            nodes = dict(self._stream.workers.games_by_node)
            rates = {node: (games - self._nodes.get(node, 0)) / seconds for node, games in nodes.items()}
            facts |= {"workers": self._stream.workers.count, "games_per_second_by_node": rates}
            self._nodes = nodes
        self._replay.save(self._iteration, self._pending, self._since, now, facts)
        self._pending, self._since = [], now
