"""Self-play: phase 3 of the curriculum. Only a model that wins its gate replaces the best one (A IV-D).

A round: play, window, train, gate if there is one. With `selfplay.overlap` the games of the next round are played while
the candidate trains and meets its gate. With `selfplay.concurrent` nobody waits: new games flow into the window, and
new weights into the games (Y 4).
"""

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from typing import Any

from core.files.atomic import atomic_path
from core.files.json_text import value_at
from core.streams import Purpose, stream_key
from curriculum.budget import draws_work, rows_per_step
from curriculum.games.mentor_games import read_training_games
from curriculum.phases.basics import basics_file, basics_of
from curriculum.phases.divergence import naming_divergence
from curriculum.phases.gate import passes_gate, play_gate
from curriculum.phases.origin import result_of
from curriculum.phases.replay import PHASE, Replay
from curriculum.phases.round_games import PUSHED, RoundGames
from curriculum.phases.steps import (
    Training,
    falling_rate,
    is_finished,
    keep_model,
    mark_finished,
    starting_model,
    trainer_state,
)
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
from curriculum.training.batches import BatchSource
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer, cosine_rate
from curriculum.workers.games import PATIENCE_S
from nets.checkpoint import load_model

_SECONDS_PER_SAVE = 20.0
"""Of a training without rounds of games, whose passes may be short."""


def run_selfplay(run: RunFolder, context: Context) -> None:
    """Play, train and gate, round after round, from the best model of the run. Raises `Interrupted` after saving."""
    first = run.read_state(PHASE, lambda state: value_at(state, "iteration", int, low=0)) or 0
    if is_finished(run, PHASE) and first >= run.config.selfplay.iterations:
        context.reporter.say("phase 3, self-play: done before")
        return
    if is_finished(run, PHASE):
        mark_finished(run, PHASE, is_over=False)  # it has got more rounds
    if starting_model(run) is None:
        keep_model(run, "best", Trainer(run.config).model, {"phase": "none", "step": 0})
    with closing(RoundGames(run, context)) as games:
        for iteration in range(first, run.config.selfplay.iterations):
            _Round(run, context, games, iteration).run()
    mark_finished(run, PHASE)


class _Round:
    """A round of self-play."""

    def __init__(self, run: RunFolder, context: Context, games: RoundGames, iteration: int) -> None:
        self.run_folder, self.context, self.games, self.iteration = run, context, games, iteration
        self.config = at_round(run.config, iteration)
        self._key = stream_key(run.config.seed, Purpose.SHUFFLE, iteration)
        self._candidate = run.models / "candidate.safetensors"
        self._accepted_state = run.state / "accepted.safetensors"

    def run(self) -> None:
        """Do the whole round, from the step where it was left."""
        settings = self.config.selfplay
        self.games.begin(self.iteration)
        if not settings.concurrent:
            self.games.wait()
        verdict = self.run_folder.read_state("gate", self._verdict)
        if verdict is None:
            if settings.overlap and self.iteration + 1 < self.run_folder.config.selfplay.iterations:
                self.games.begin(self.iteration + 1, ahead=True)
            window, fresh = Replay(self.run_folder, self.context).window(settings, self.iteration)
            if settings.concurrent or len(window) >= max(settings.start_positions, 1):
                self._train(window, fresh)
                verdict = self._gate()
            else:
                self.context.reporter.say(
                    f"round {self.iteration + 1}: the replay buffer holds {len(window):,} positions of the "
                    f"{settings.start_positions:,} before the first training"
                )
        if verdict is not None:
            self._settle(verdict)
        self.run_folder.write_state(PHASE, {"iteration": self.iteration + 1})

    def _verdict(self, state: dict[str, Any]) -> dict[str, Any] | None:
        """Return the verdict of this round in the state of the gate; None if it is of another. Raises `ValueError`."""
        if str(self.iteration) not in state:
            return None
        verdict = value_at(state, str(self.iteration), dict)
        value_at(verdict, "accepted", bool)
        value_at(verdict, "result", dict)
        return verdict

    # Training

    def _train(self, window: SampleSet, fresh: int) -> None:
        """Train the candidate on the window, `fresh` of whose samples are of this round."""
        settings = self.config.selfplay
        training = self._training()
        rates = settings.learning_rate, settings.final_learning_rate
        of_round = cosine_rate(*rates, self.iteration / max(1, settings.iterations - 1))
        first = rates[0] if settings.anneal_each_round else of_round
        with naming_divergence(self.run_folder, PHASE, training.progress, first):
            if settings.concurrent:
                window = self._train_passes(training, window.rows(slice(None)), of_round)
            else:
                source = self._batches(training, window, self._key)
                steps = settings.epochs * source.steps_per_pass
                if not steps:
                    trained = draws_work(self.config, fresh, self._rehearsal_share)
                    steps = max(1, round(trained / rows_per_step(self.config)))
                falling = falling_rate(*rates, steps)
                self._train_steps(
                    training, source, steps, falling if settings.anneal_each_round else lambda step: of_round
                )
            training.trainer.refresh_norms(window, self._key)
        training.save()
        keep_model(self.run_folder, "candidate", training.trainer.model, self._made(training))

    def _training(self) -> Training:
        """Return the training of the round, from where it was left: at first from the last accepted one."""
        progress: dict[str, Any] = {"step": 0, "iteration": self.iteration}
        if self.config.selfplay.concurrent:
            progress["epoch"] = 0
        trainer = Trainer(self.config, starting_model(self.run_folder))
        state = trainer_state(self.run_folder, PHASE)
        found = trainer.load(state, progress) if state.exists() else None
        if found is not None and found["iteration"] == self.iteration:
            progress = found
        elif self._accepted_state.exists():
            trainer.load(self._accepted_state, progress)
        elif found is not None:  # all candidates were discarded
            trainer = Trainer(self.config, starting_model(self.run_folder))
        return Training(self.run_folder, self.context, PHASE, trainer, progress)

    def _train_steps(self, training: Training, source: BatchSource, steps: int, rate: Callable[[int], float]) -> None:
        """Train to step `steps`, while the games of the next round come in, if they are played ahead."""
        with self.context.reporter.task(f"training, round {self.iteration + 1}", steps, "steps") as task:
            task.update(training.progress["step"])
            for losses in training.fit(source, steps, rate):
                task.update(
                    training.progress["step"], policy_loss=losses["policy_loss"], value_loss=losses["value_loss"]
                )
                self.games.collect()

    def _train_passes(self, training: Training, window: Samples, rate: float) -> Samples:
        """Train passes over the window while games flow into it, and weights into the games; return the last window."""
        settings, progress = self.config.selfplay, training.progress
        saved = pushed = time.monotonic()
        stale_passes, patience = 0, 0.0
        with self.context.reporter.task(f"training, round {self.iteration + 1}", settings.epochs, "epochs") as task:
            while progress["epoch"] < settings.epochs:
                if self.context.stop():
                    training.save()
                    self.context.check()
                if games := self.games.collect(patience):
                    window = Samples.concatenate([window, *(game.samples for game in games)])
                    window = window.rows(slice(max(0, len(window) - settings.window), None))
                    stale_passes = 0
                figures: dict[str, Any] = {"positions": len(window)}
                if len(window) < max(settings.start_positions, 1) or stale_passes >= settings.epochs_without_games:
                    figures["waits_for"], patience = "games", PATIENCE_S
                else:
                    patience = 0.0
                    key = stream_key(self.config.seed, Purpose.SHUFFLE, self.iteration, progress["epoch"])
                    source = self._batches(training, window, key)
                    figures["policy_loss"] = training.train(source, 0, [rate] * source.steps_per_pass)["policy_loss"]
                    progress["epoch"] += 1
                    stale_passes += 1
                task.update(progress["epoch"], **figures)
                if stale_passes and time.monotonic() - pushed > settings.push_seconds:
                    self._push(training, window)
                    pushed = time.monotonic()
                if time.monotonic() - saved > _SECONDS_PER_SAVE:
                    training.save()
                    saved = time.monotonic()
        return window

    def _push(self, training: Training, window: Samples) -> None:
        """Let the games go on with the weights of now."""
        if self.config.net.batch_norm:
            training.trainer.refresh_norms(window, self._key)
        self.games.push(keep_model(self.run_folder, PUSHED, training.trainer.model, self._made(training)))

    def _batches(self, training: Training, window: SampleSet, key: int) -> BatchSource:
        """Return the batches of the window, mixed with samples of the earlier phases."""
        return training.trainer.batches(
            window,
            key,
            rehearsal=self.rehearsal,
            rehearsal_share=self._rehearsal_share,
            all_symmetries=self.config.training.all_symmetries,
        )

    @cached_property
    def rehearsal(self) -> Samples:
        """The training samples of the earlier phases; none if the round does not rehearse them."""
        if self.config.selfplay.rehearsal_share <= 0:
            return Samples.none(self.config.rules.cells)
        imitated = read_training_games(self.config, self.run_folder.replay)
        if not basics_file(self.run_folder).exists():
            return imitated
        return Samples.concatenate([basics_of(self.run_folder, self.context), imitated])

    @property
    def _rehearsal_share(self) -> float:
        return self.config.selfplay.rehearsal_share if len(self.rehearsal) else 0.0

    def _made(self, training: Training) -> dict[str, Any]:
        """Return the origin of a model of the training."""
        return {"phase": PHASE, "iteration": self.iteration, "step": training.progress["step"]}

    # Gate

    def _gate(self) -> dict[str, Any]:
        """Play the gate's match, if there is one; keep its verdict and return it."""
        if not self.config.gate.games:
            verdict = {"accepted": True, "result": {}}
            self.run_folder.write_state("gate", {str(self.iteration): verdict})
            return verdict
        start = time.perf_counter()
        result = play_gate(self.config, self._candidate, self.run_folder.best_model, self.iteration, self.context)
        accepted = passes_gate(result, self.config.gate)
        verdict = {"accepted": accepted, "result": result.to_json()}
        total = result.total
        record = {
            "phase": PHASE,
            "iteration": self.iteration,
            "event": "gate",
            "score": total.score,
            "seconds": time.perf_counter() - start,
            **verdict,
        }
        with self.run_folder.metrics_of(record):
            self.run_folder.write_state("gate", {str(self.iteration): verdict})
        self.context.reporter.say(
            f"round {self.iteration + 1}: the candidate won {total.wins}, drew {total.draws} and lost {total.losses}: "
            + ("it is the best model now" if accepted else "discarded")
        )
        return verdict

    def _settle(self, verdict: dict[str, Any]) -> None:
        """Carry out the gate's verdict; a second call changes nothing."""
        state = trainer_state(self.run_folder, PHASE)
        if verdict["accepted"] and self._candidate.exists():
            model, info = load_model(self._candidate)
            with atomic_path(self._accepted_state) as temporary:
                shutil.copyfile(state, temporary)
            made = {**info.made, "results": {"gate": result_of(verdict["result"])} if verdict["result"] else {}}
            for name in (f"{PHASE}-{self.iteration:04d}", "best"):
                keep_model(self.run_folder, name, model, made)
        elif self.config.gate.keep_rejected and self._candidate.exists():
            self._candidate.replace(self.run_folder.models / f"rejected-{self.iteration:04d}.safetensors")
        self._candidate.unlink(missing_ok=True)
