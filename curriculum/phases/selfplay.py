"""Gated self-play: phase 3 of the curriculum. Only a model that wins its gate replaces the best one (A IV-D)."""

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.files.atomic import atomic_path
from core.files.json_text import value_at, values_at
from core.records.formats import write_games
from core.records.record import RecordError
from core.rules import BLACK, WHITE, Cell
from core.streams import Purpose, stream_key
from curriculum.arena.opening_sets import BALANCED, load_openings
from curriculum.config import Config
from curriculum.games.mentor_games import read_training_games
from curriculum.games.selfplay_games import Progress, SelfPlay, SelfPlayGame
from curriculum.phases.basics import basics_file, basics_of
from curriculum.phases.gate import passes_gate, play_gate
from curriculum.phases.steps import (
    fit,
    is_finished,
    keep_model,
    mark_finished,
    starting_model,
    trainer_state,
)
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples, naming_metadata, read_kept_games, write_samples
from curriculum.training.trainer import BatchSource, Losses, Trainer, cosine_rate
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator

PHASE = "selfplay"
_SECONDS_PER_FILE = 20.0
_SECONDS_PER_UPDATE = 1.0
_GIVEN_UP = -0.7
"""Mean value of White below which it has learnt that it loses (A III-A): worth an alarm."""


def run_selfplay(run: RunFolder, conduct: Conduct) -> None:
    """Play, train and gate, round after round, from the best model of the run. Raises `Interrupted` after saving."""
    if is_finished(run, PHASE):
        conduct.reporter.say("phase 3, self-play: done before")
        return
    if not run.best_model.exists():
        keep_model(run, "best", Trainer(run.config).model, {"phase": "none", "step": 0})
    first = run.read_state(PHASE, lambda state: value_at(state, "iteration", int, low=0)) or 0
    balanced = training_openings(run.config, conduct)
    for iteration in range(first, run.config.selfplay.iterations):
        _Round(run, conduct, iteration, balanced).run()
    mark_finished(run, PHASE)


class _Round:
    """One round: games with the best model, training of a candidate, gate."""

    def __init__(self, run: RunFolder, conduct: Conduct, iteration: int, balanced: Sequence[Sequence[Cell]]) -> None:
        self.run_folder, self.conduct, self.iteration, self.balanced = run, conduct, iteration, balanced
        self.config = run.config
        self._candidate = run.models / "candidate.safetensors"
        self._accepted_state = run.state / "accepted.safetensors"

    def run(self) -> None:
        """Do the whole round, from the step where it was left."""
        verdict = self.run_folder.read_state("gate", self._verdict)
        if verdict is None:
            self._play()
            self._train()
            verdict = self._gate()
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

    # Games

    def _files(self, iteration: int) -> list[Path]:
        return sorted(self.run_folder.replay.glob(f"selfplay-{iteration:04d}-*.npz"))

    def _play(self) -> None:
        games = self.config.selfplay.games
        done: set[int] = set()
        for path in self._files(self.iteration):
            done.update(self._read_games(path))
        for path in self.run_folder.games.glob(f"{PHASE}-{self.iteration:04d}-*.sgf"):
            if not (self.run_folder.replay / f"{path.stem}.npz").exists():
                path.unlink()  # the process died before its samples were saved: these games are played again
        missing = [game for game in range(games) if game not in done]
        if not missing:
            return
        model, _ = load_model(self.run_folder.best_model)
        evaluator = NetEvaluator(model, repeatable=True)
        player = SelfPlay(self.config, evaluator, iteration=self.iteration, balanced=self.balanced)
        pending: list[SelfPlayGame] = []
        since = shown = player.progress
        with self.conduct.reporter.task(f"self-play, round {self.iteration + 1}", games, "games") as task:
            task.update(len(done))

            def finished(game: SelfPlayGame) -> None:
                nonlocal since, pending
                pending.append(game)
                done.add(game.number)
                if time.perf_counter() - since.seconds > _SECONDS_PER_FILE:
                    self._save_games(pending, since, player.progress)
                    pending, since = [], player.progress

            def stop() -> bool:
                nonlocal shown
                if time.perf_counter() - shown.seconds > _SECONDS_PER_UPDATE:
                    now = player.progress
                    rate = (now.simulations - shown.simulations) / (now.seconds - shown.seconds)
                    task.update(len(done), simulations_per_second=rate)
                    shown = now
                return self.conduct.stop()

            try:
                player.play(missing, finished, stop)
            finally:
                evaluator.close()
                if pending:
                    self._save_games(pending, since, player.progress)
            task.update(len(done))
        self.conduct.check()

    def _save_games(self, games: list[SelfPlayGame], since: Progress, now: Progress) -> None:
        numbers = [game.number for game in games]
        name = f"{PHASE}-{self.iteration:04d}-{min(numbers):06d}"
        samples = Samples.concatenate([game.samples for game in games])
        decisive = [game.record.winner for game in games if game.record.winner is not None]
        white_values = samples.values[samples.positions.to_move == WHITE]
        white_value = float(white_values.mean()) if len(white_values) else None
        entropies = -(samples.policies * np.log(np.maximum(samples.policies, 1e-12))).sum(axis=1)
        seconds = now.seconds - since.seconds
        record = {
            "phase": PHASE,
            "iteration": self.iteration,
            "event": "games",
            "games": len(games),
            "game_length": float(np.mean([len(game.record.moves) for game in games])),
            "black_share": decisive.count(BLACK) / len(decisive) if decisive else None,
            "draws": len(games) - len(decisive),
            "policy_entropy": float(entropies.mean()) if len(entropies) else None,
            "white_value": white_value,
            "simulations_per_second": (now.simulations - since.simulations) / seconds,
            "positions_per_second": (now.evaluations - since.evaluations) / seconds,
            "cache_hit_rate": (now.known - since.known) / max(1, now.leaves - since.leaves),
            "distinct_positions": now.distinct,
            "seconds": seconds,
        }
        metadata = {"iteration": self.iteration, "games": numbers, "lengths": [len(game.samples) for game in games]}
        with self.run_folder.metrics_of(record):
            write_games(self.run_folder.games / f"{name}.sgf", [game.record for game in games])
            write_samples(self.run_folder.replay / f"{name}.npz", samples, metadata)
        if white_value is not None and white_value < _GIVEN_UP:
            self.conduct.reporter.say(
                f"alarm: White's mean value is {white_value:.2f}: its net expects to lose every game"
            )

    # Training

    def _window(self) -> tuple[Samples, int]:
        """Return the newest samples, as many as the buffer holds, and the number of them from this round."""
        parts: list[Samples] = []
        room = self.config.selfplay.window
        for iteration in range(self.iteration, -1, -1):
            samples = self._samples_of(iteration)
            parts.append(samples.rows(slice(max(0, len(samples) - room), None)))
            room -= len(parts[-1])
            if room <= 0:
                break
        return Samples.concatenate(parts), len(parts[0])

    def _samples_of(self, iteration: int) -> Samples:
        """Return the samples of a round in the order of its games; their order in the files depends on timing."""
        games: dict[int, Samples] = {}
        for path in self._files(iteration):
            games |= self._read_games(path)
        return Samples.concatenate([Samples.none(self.config.rules.cells), *(games[game] for game in sorted(games))])

    def _read_games(self, path: Path) -> dict[int, Samples]:
        """Return the samples of each game in a file. Raises `SamplesError`."""
        samples, lengths, metadata = read_kept_games(path, self.config.rules.cells)
        with naming_metadata(path):
            numbers = values_at(metadata, "games", int, low=0)
            if len(numbers) != len(lengths):
                raise ValueError(f"games has {len(numbers)} numbers, and lengths has {len(lengths)}")
        games: dict[int, Samples] = {}
        first = 0
        for game, length in zip(numbers, lengths, strict=True):
            games[game] = samples.rows(slice(first, first + length))
            first += length
        return games

    def _rehearsal(self) -> Samples:
        """Return the training samples of the earlier phases."""
        if self.config.selfplay.rehearsal_share <= 0:
            return Samples.none(self.config.rules.cells)
        imitated = read_training_games(self.config, self.run_folder.replay)
        if not basics_file(self.run_folder).exists():
            return imitated
        return Samples.concatenate([basics_of(self.run_folder, self.conduct), imitated])

    def _train(self) -> None:
        config, settings = self.config, self.config.selfplay
        samples, fresh = self._window()
        rehearsal = self._rehearsal()
        share = settings.rehearsal_share if len(rehearsal) else 0.0
        trainer = Trainer(config, starting_model(self.run_folder))
        state = trainer_state(self.run_folder, PHASE)
        progress: dict[str, Any] = {"step": 0, "iteration": self.iteration}
        if state.exists():
            found = trainer.load(state, progress)
            if found["iteration"] == self.iteration:
                progress = found
            elif self._accepted_state.exists():
                trainer.load(self._accepted_state, progress)
            else:
                trainer = Trainer(config, starting_model(self.run_folder))
        source = BatchSource(
            samples,
            rehearsal,
            rehearsal_share=share,
            batch_size=config.training.batch_size,
            seed=stream_key(config.seed, Purpose.SHUFFLE, self.iteration),
            dual=config.net.dual,
        )
        nets = len(source.colours)
        drawn_per_step = config.training.batch_size * (1.0 - share) * nets
        steps = max(1, round(settings.draws_per_position * fresh / drawn_per_step))
        done = self.iteration / max(1, settings.iterations - 1)
        rate = cosine_rate(settings.learning_rate, settings.final_learning_rate, done)
        with self.conduct.reporter.task(f"training, round {self.iteration + 1}", steps, "steps") as task:

            def report(step: int, losses: Losses) -> None:
                task.update(step, policy_loss=losses.policy, value_loss=losses.value)

            task.update(progress["step"])
            fit(
                self.run_folder,
                self.conduct,
                trainer,
                source,
                phase=PHASE,
                progress=progress,
                until=steps,
                rate=lambda step: rate,
                report=report,
            )
        trainer.refresh_norms(samples, stream_key(config.seed, Purpose.SHUFFLE, self.iteration))
        trainer.save(state, progress)
        made = {"phase": PHASE, "iteration": self.iteration, "step": progress["step"]}
        keep_model(self.run_folder, "candidate", trainer.model, made)

    # Gate

    def _gate(self) -> dict[str, Any]:
        """Play the gate's match; keep its verdict and return it."""
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
            made = {**info.made, "results": {"gate": verdict["result"]}}
            for name in (f"{PHASE}-{self.iteration:04d}", "best"):
                keep_model(self.run_folder, name, model, made)
        self._candidate.unlink(missing_ok=True)


def training_openings(config: Config, conduct: Conduct) -> list[tuple[Cell, ...]]:
    """Return the balanced openings to start games from; none, with a note, where none are shipped for the rules."""
    share = config.selfplay.balanced_share
    if share <= 0:
        return []
    try:
        return load_openings(BALANCED, config.rules, for_training=True)
    except RecordError:
        conduct.reporter.say(
            f"no balanced openings are shipped for {config.rules}: the {100 * share:.0f} % of self-play games that "
            "selfplay.balanced_share starts from them start from the empty board"
        )
        return []
