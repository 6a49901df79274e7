"""Self-play and training at the same time: new games flow into the replay buffer, new weights into the games (Y 4).

Workers play all games, by default a process beside this one. This one trains on the newest positions and pushes the
weights at intervals. A round is a number of passes over the whole buffer; there is no gate.
"""

import time
from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from core.files.json_text import value_at
from core.streams import Purpose, stream_key
from curriculum.config import Config
from curriculum.games.selfplay_games import Progress, SelfPlayGame
from curriculum.phases.divergence import naming_divergence
from curriculum.phases.jobs import SelfPlayJob
from curriculum.phases.openings import training_openings
from curriculum.phases.replay import PHASE, Replay
from curriculum.phases.steps import keep_model, starting_model, trainer_state
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Losses, Trainer, cosine_rate
from curriculum.workers.crew import TeamBeside

_WAIT_S = 0.1
_PUSHED = "pushed"
"""Name of the model that the games go on with."""
_SECONDS_PER_SAVE = 20.0


def run_concurrent(run: RunFolder, conduct: Conduct) -> None:
    """Play and train, round after round, from the best model of the run. Raises `Interrupted` after saving."""
    first = run.read_state(PHASE, lambda state: value_at(state, "iteration", int, low=0)) or 0
    balanced = training_openings(run.config, conduct)
    trainer = Trainer(run.config, starting_model(run))
    progress: dict[str, Any] = {"step": 0, "epoch": 0, "iteration": first}
    if trainer_state(run, PHASE).exists():
        progress = trainer.load(trainer_state(run, PHASE), progress)
    playing: TeamBeside[SelfPlayGame] | None = None
    played = run.config
    try:
        for iteration in range(first, run.config.selfplay.iterations):
            config = at_round(run.config, iteration)
            if progress["iteration"] != iteration:
                progress |= {"iteration": iteration, "epoch": 0, "step": 0}
            replay = Replay(run, conduct)
            if playing is not None and config != played:
                playing.close()  # the games in progress are lost, once a stage of the schedule
                playing = None
            if playing is None:
                number = max(replay.done(iteration), default=-1) + 1
                model = keep_model(run, _PUSHED, trainer.model, {"phase": PHASE, "step": progress["step"]})
                job = SelfPlayJob(config, iteration, balanced, model, repeatable=False)
                playing = conduct.crew.open_beside(job, count(number))
                played = config
            of_round = _Round(run, conduct, config, trainer, progress, replay, playing)
            with naming_divergence(run, PHASE, progress, of_round.rate):
                of_round.run()
    finally:
        if playing is not None:
            playing.close()


class _Buffer:
    """The newest positions, at most `window`."""

    def __init__(self, samples: Samples, window: int) -> None:
        self._parts, self._window = deque([samples]), window

    def add(self, samples: Samples) -> None:
        self._parts.append(samples)

    def samples(self) -> Samples:
        """Return all of them as one."""
        whole = Samples.concatenate(self._parts)
        whole = whole.rows(slice(max(0, len(whole) - self._window), None))
        self._parts = deque([whole])
        return whole


class _Round:
    """Passes over the buffer while games come in."""

    def __init__(
        self,
        run: RunFolder,
        conduct: Conduct,
        config: Config,
        trainer: Trainer,
        progress: dict[str, Any],
        replay: Replay,
        playing: TeamBeside[SelfPlayGame],
    ) -> None:
        self._run_folder, self._conduct, self._config, self._trainer = run, conduct, config, trainer
        self._progress, self._replay, self._playing = progress, replay, playing
        settings = config.selfplay
        self._iteration: int = progress["iteration"]
        self._buffer = _Buffer(replay.window(settings, self._iteration)[0], settings.window)
        self._samples = self._buffer.samples()
        self._pending: list[SelfPlayGame] = []
        self._stale_epochs = 0
        self._since = Progress.of(playing.counts)
        self._saved = self._pushed = time.monotonic()
        done = self._iteration / max(1, settings.iterations - 1)
        self.rate = cosine_rate(settings.learning_rate, settings.final_learning_rate, done)

    def run(self) -> None:
        """Train all passes of the round and keep the model."""
        settings, progress = self._config.selfplay, self._progress
        with self._conduct.reporter.task(f"self-play, round {self._iteration + 1}", settings.epochs, "epochs") as task:
            losses: list[tuple[Losses, int, float]] = []
            while progress["epoch"] < settings.epochs:
                if self._conduct.stop():
                    self._save(losses)
                    self._conduct.check()
                self._collect()
                waits = len(self._samples) < max(settings.start_positions, 1)
                if waits or self._stale_epochs >= settings.epochs_without_games:
                    task.update(progress["epoch"], positions=len(self._samples), waits_for="games")
                    time.sleep(_WAIT_S)
                else:
                    losses.append(self._epoch())
                    task.update(progress["epoch"], policy_loss=losses[-1][0].policy, positions=len(self._samples))
                now = time.monotonic()
                if now - self._pushed > settings.push_seconds and self._stale_epochs:
                    self._push()
                    self._pushed = now
                if now - self._saved > _SECONDS_PER_SAVE:
                    self._save(losses)
                    losses = []
            self._save(losses)
        self._refresh_norms()
        made = {"phase": PHASE, "iteration": self._iteration, "step": progress["step"]}
        for name in (f"{PHASE}-{self._iteration:04d}", "best"):
            keep_model(self._run_folder, name, self._trainer.model, made)
        self._run_folder.write_state(PHASE, {"iteration": self._iteration + 1})

    def _collect(self) -> None:
        games = [game for _, game in self._playing.games()]
        if not games:
            return
        self._pending += games
        for game in games:
            self._buffer.add(game.samples)
        self._samples = self._buffer.samples()
        self._stale_epochs = 0

    def _epoch(self) -> tuple[Losses, int, float]:
        """Train one pass over the buffer; return its losses, steps and seconds."""
        config, progress = self._config, self._progress
        started = time.perf_counter()
        source = BatchSource(
            self._samples,
            Samples.none(config.rules.cells),
            rehearsal_share=0.0,
            batch_size=config.training.batch_size,
            seed=stream_key(config.seed, Purpose.SHUFFLE, self._iteration, progress["epoch"]),
            dual=config.net.dual,
            all_symmetries=config.training.all_symmetries,
        )
        steps = source.steps_per_pass
        losses = self._trainer.train(source, 0, steps, np.full(steps, self.rate))
        progress["epoch"] += 1
        progress["step"] += steps
        self._stale_epochs += 1
        return losses, steps * len(source.colours), time.perf_counter() - started

    def _push(self) -> None:
        """Let the games go on with the weights of now."""
        self._refresh_norms()
        made = {"phase": PHASE, "iteration": self._iteration, "step": self._progress["step"]}
        self._playing.push(keep_model(self._run_folder, _PUSHED, self._trainer.model, made))

    def _refresh_norms(self) -> None:
        if len(self._samples) and self._config.net.batch_norm:
            self._trainer.refresh_norms(self._samples, stream_key(self._config.seed, Purpose.SHUFFLE, self._iteration))

    def _save(self, epochs: Sequence[tuple[Losses, int, float]]) -> None:
        """Save the new games, a line of metrics on `epochs`, and the state of the training."""
        self._saved = time.monotonic()
        self._collect()
        now = Progress.of(self._playing.counts)
        if self._pending:
            self._replay.save(self._iteration, self._pending, self._since, now)
            self._pending, self._since = [], now
        if not epochs:
            self._trainer.save(trainer_state(self._run_folder, PHASE), self._progress)
            return
        seconds = sum(each for _, _, each in epochs)
        figures = np.mean([(each.policy, each.value, each.entropy) for each, _, _ in epochs], axis=0)
        record = {
            "phase": PHASE,
            "iteration": self._iteration,
            "event": "train",
            "step": self._progress["step"],
            "epoch": self._progress["epoch"],
            **dict(zip(("policy_loss", "value_loss", "policy_entropy"), map(float, figures), strict=True)),
            "learning_rate": self.rate,
            "positions_per_second": sum(steps for _, steps, _ in epochs) * self._config.training.batch_size / seconds,
            "seconds": seconds,
        }
        with self._run_folder.metrics_of(record):
            self._trainer.save(trainer_state(self._run_folder, PHASE), self._progress)
