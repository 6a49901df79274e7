"""Self-play: phase 3 of the curriculum. Only a model that wins its gate replaces the best one (A IV-D)."""

import shutil
import time
from dataclasses import replace
from typing import Any

from core.files.atomic import atomic_path
from core.files.json_text import value_at
from core.streams import Purpose, stream_key
from curriculum.games.mentor_games import read_training_games
from curriculum.phases.basics import basics_file, basics_of
from curriculum.phases.concurrent import run_concurrent
from curriculum.phases.divergence import naming_divergence
from curriculum.phases.gate import passes_gate, play_gate
from curriculum.phases.openings import training_openings
from curriculum.phases.origin import result_of
from curriculum.phases.replay import PHASE, Replay
from curriculum.phases.round_games import RoundGames
from curriculum.phases.steps import (
    falling_rate,
    fit,
    is_finished,
    keep_model,
    mark_finished,
    mark_unfinished,
    starting_model,
    trainer_state,
)
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.schedule import at_round
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Losses, Trainer, cosine_rate
from nets.checkpoint import load_model


def run_selfplay(run: RunFolder, conduct: Conduct) -> None:
    """Play, train and gate, round after round, from the best model of the run. Raises `Interrupted` after saving."""
    first = run.read_state(PHASE, lambda state: value_at(state, "iteration", int, low=0)) or 0
    if is_finished(run, PHASE) and first >= run.config.selfplay.iterations:
        conduct.reporter.say("phase 3, self-play: done before")
        return
    if is_finished(run, PHASE):
        mark_unfinished(run, PHASE)  # it has got more rounds
    if starting_model(run) is None:
        keep_model(run, "best", Trainer(run.config).model, {"phase": "none", "step": 0})
    if run.config.selfplay.concurrent:
        run_concurrent(run, conduct)
        mark_finished(run, PHASE)
        return
    balanced = training_openings(run.config, conduct)
    games: RoundGames | None = None
    try:
        for iteration in range(first, run.config.selfplay.iterations):
            games = games or RoundGames(run, conduct, run.config, iteration, balanced)
            games.play()
            ahead = None
            if at_round(run.config, iteration).selfplay.overlap and iteration + 1 < run.config.selfplay.iterations:
                ahead = RoundGames(run, conduct, run.config, iteration + 1, balanced)
            games = ahead
            _Round(run, _collecting(conduct, ahead), iteration).run(ahead)
    finally:
        if games is not None:
            games.close()
    mark_finished(run, PHASE)


def _collecting(conduct: Conduct, games: RoundGames | None) -> Conduct:
    """Return a conduct whose stop checks also collect the games of the round that is played meanwhile."""
    if games is None:
        return conduct

    def stop() -> bool:
        games.collect()
        return conduct.stop()

    return replace(conduct, stop=stop)


class _Round:
    """One round after its games: training of a candidate, gate."""

    def __init__(self, run: RunFolder, conduct: Conduct, iteration: int) -> None:
        self.run_folder, self.conduct, self.iteration = run, conduct, iteration
        self.config = at_round(run.config, iteration)
        self._replay = Replay(run, conduct)
        self._candidate = run.models / "candidate.safetensors"
        self._accepted_state = run.state / "accepted.safetensors"

    def run(self, ahead: RoundGames | None) -> None:
        """Do the whole round, from the step where it was left, while the games of the next one are played `ahead`."""
        verdict = self.run_folder.read_state("gate", self._verdict)
        if verdict is None:
            if ahead is not None:
                ahead.play_ahead()
            if self._train():
                verdict = self._gate()
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

    def _rehearsal(self) -> Samples:
        """Return the training samples of the earlier phases."""
        if self.config.selfplay.rehearsal_share <= 0:
            return Samples.none(self.config.rules.cells)
        imitated = read_training_games(self.config, self.run_folder.replay)
        if not basics_file(self.run_folder).exists():
            return imitated
        return Samples.concatenate([basics_of(self.run_folder, self.conduct), imitated])

    def _train(self) -> bool:
        """Train the candidate; return False while the replay buffer holds too little for it."""
        config, settings = self.config, self.config.selfplay
        samples, fresh = self._replay.window(settings, self.iteration)
        if len(samples) < max(settings.start_positions, 1):
            self.conduct.reporter.say(
                f"round {self.iteration + 1}: the replay buffer holds {len(samples):,} positions of the "
                f"{settings.start_positions:,} before the first training"
            )
            return False
        rehearsal = self._rehearsal()
        share = settings.rehearsal_share if len(rehearsal) else 0.0
        trainer = Trainer(config, starting_model(self.run_folder))
        state = trainer_state(self.run_folder, PHASE)
        progress: dict[str, Any] = {"step": 0, "iteration": self.iteration}
        found = trainer.load(state, progress) if state.exists() else None
        if found is not None and found["iteration"] == self.iteration:
            progress = found
        elif self._accepted_state.exists():
            trainer.load(self._accepted_state, progress)
        elif found is not None:
            trainer = Trainer(config, starting_model(self.run_folder))
        source = BatchSource(
            samples,
            rehearsal,
            rehearsal_share=share,
            batch_size=config.training.batch_size,
            seed=stream_key(config.seed, Purpose.SHUFFLE, self.iteration),
            dual=config.net.dual,
            all_symmetries=config.training.all_symmetries,
        )
        drawn_per_step = config.training.batch_size * (1.0 - share) * len(source.colours)
        steps = max(1, round(settings.draws_per_position * fresh / drawn_per_step))
        if settings.epochs:
            steps = settings.epochs * source.steps_per_pass
        rates = settings.learning_rate, settings.final_learning_rate
        of_round = cosine_rate(*rates, self.iteration / max(1, settings.iterations - 1))
        falling = falling_rate(*rates, steps)
        with self.conduct.reporter.task(f"training, round {self.iteration + 1}", steps, "steps") as task:

            def report(step: int, losses: Losses) -> None:
                task.update(step, policy_loss=losses.policy, value_loss=losses.value)

            task.update(progress["step"])
            rate = falling if settings.anneal_each_round else lambda step: of_round
            with naming_divergence(self.run_folder, PHASE, progress, rate(progress["step"])):
                fit(
                    self.run_folder,
                    self.conduct,
                    trainer,
                    source,
                    phase=PHASE,
                    progress=progress,
                    until=steps,
                    rate=rate,
                    report=report,
                )
                trainer.refresh_norms(samples, stream_key(config.seed, Purpose.SHUFFLE, self.iteration))
        trainer.save(state, progress)
        made = {"phase": PHASE, "iteration": self.iteration, "step": progress["step"]}
        keep_model(self.run_folder, "candidate", trainer.model, made)
        return True

    # Gate

    def _gate(self) -> dict[str, Any]:
        """Play the gate's match, if there is one; keep its verdict and return it."""
        if not self.config.gate.games:
            verdict = {"accepted": True, "result": {}}
            self.run_folder.write_state("gate", {str(self.iteration): verdict})
            return verdict
        start = time.perf_counter()
        result = play_gate(self.config, self._candidate, self.run_folder.best_model, self.iteration, self.conduct)
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
        self.conduct.reporter.say(
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
        self._candidate.unlink(missing_ok=True)
