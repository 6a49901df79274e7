"""Phase 3: rounds of self-play, training and gate (A IV-D). Only a model that wins its gate replaces the best one."""

import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from core.files import atomic_path
from core.records.formats import write_games
from core.records.record import RecordError
from core.rules import BLACK, WHITE, Cell
from core.streams import Purpose, stream_key
from curriculum.arena.opening_sets import BALANCED, evaluation_openings, load_openings
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import play_match
from curriculum.config import Config, GateConfig
from curriculum.games.mentor_games import games_to_train_on
from curriculum.games.selfplay_games import Progress, SelfPlay, SelfPlayGame
from curriculum.phases.basics import basics_file, basics_of
from curriculum.phases.steps import (
    fit,
    is_finished,
    keep_model,
    mark_finished,
    model_player,
    starting_model,
    trainer_state,
)
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples, read_samples, write_samples
from curriculum.training.trainer import BatchSource, Losses, Trainer, cosine_rate
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator

PHASE = "selfplay"
_SECONDS_A_FILE = 20.0
_SECONDS_A_LOOK = 1.0
_GIVEN_UP = -0.7
"""White's mean value under which it has resigned itself to losing (A III-A): worth an alarm."""


def run_selfplay(run: RunFolder, conduct: Conduct) -> None:
    """Plays, trains and gates, round after round, from the best model of the run. Raises `Interrupted` after saving."""
    if is_finished(run, PHASE):
        conduct.reporter.say("phase 3, self-play: done before")
        return
    if not run.best_model.exists():
        keep_model(run, "best", Trainer(run.config).model, {"phase": "none", "step": 0})
    first = (run.read_state(PHASE) or {"iteration": 0})["iteration"]
    for iteration in range(first, run.config.selfplay.iterations):
        _Round(run, conduct, iteration).run()
    mark_finished(run, PHASE)


class _Round:
    """One iteration: games with the best model, training of a candidate, gate."""

    def __init__(self, run: RunFolder, conduct: Conduct, iteration: int) -> None:
        self.run_folder, self.conduct, self.iteration = run, conduct, iteration
        self.config = run.config
        self._candidate = run.models / "candidate.safetensors"
        self._accepted_state = run.state / "accepted.safetensors"

    def run(self) -> None:
        """The whole round, from wherever it was left."""
        verdict = (self.run_folder.read_state("gate") or {}).get(str(self.iteration))
        if verdict is None:
            self._play()
            self._train()
            verdict = self._gate()
            self.run_folder.write_state("gate", {str(self.iteration): verdict})
        self._settle(verdict)
        self.run_folder.write_state(PHASE, {"iteration": self.iteration + 1})

    # Games

    def _files(self, iteration: int) -> list[Path]:
        return sorted(self.run_folder.replay.glob(f"selfplay-{iteration:04d}-*.npz"))

    def _play(self) -> None:
        wanted = self.config.selfplay.games
        done: set[int] = set()
        for path in self._files(self.iteration):
            done.update(read_samples(path)[1]["games"])
        for path in self.run_folder.games.glob(f"{PHASE}-{self.iteration:04d}-*.sgf"):
            if not (self.run_folder.replay / f"{path.stem}.npz").exists():
                path.unlink()  # the process died before its samples were saved: these games are played again
        missing = [game for game in range(wanted) if game not in done]
        if not missing:
            return
        model, _ = load_model(self.run_folder.best_model)
        evaluator = NetEvaluator(model)
        player = SelfPlay(self.config, evaluator, iteration=self.iteration, balanced=_training_openings(self.config))
        pending: list[SelfPlayGame] = []
        since = shown = player.progress
        with self.conduct.reporter.task(f"self-play, round {self.iteration + 1}", wanted, "games") as task:
            task.update(len(done))

            def finished(game: SelfPlayGame) -> None:
                nonlocal since, pending
                pending.append(game)
                done.add(game.number)
                if time.perf_counter() - since.seconds > _SECONDS_A_FILE:
                    self._save_games(pending, since, player.progress)
                    pending, since = [], player.progress

            def stop() -> bool:
                nonlocal shown
                if time.perf_counter() - shown.seconds > _SECONDS_A_LOOK:
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
        entropy = -(samples.policies * np.log(np.maximum(samples.policies, 1e-12))).sum(axis=1).mean()
        seconds = now.seconds - since.seconds
        record = {
            "phase": PHASE,
            "iteration": self.iteration,
            "event": "games",
            "games": len(games),
            "game_length": float(np.mean([len(game.record.moves) for game in games])),
            "black_share": decisive.count(BLACK) / len(decisive) if decisive else None,
            "draws": len(games) - len(decisive),
            "policy_entropy": float(entropy),
            "white_value": white_value,
            "simulations_per_second": (now.simulations - since.simulations) / seconds,
            "positions_per_second": (now.evaluations - since.evaluations) / seconds,
            "cache_hit_rate": (now.known - since.known) / max(1, now.leaves - since.leaves),
            "distinct_positions": now.distinct,
            "seconds": seconds,
        }
        self.run_folder.append_metrics(record)
        write_games(self.run_folder.games / f"{name}.sgf", [game.record for game in games])
        metadata = {"iteration": self.iteration, "games": numbers, "lengths": [len(game.samples) for game in games]}
        write_samples(self.run_folder.replay / f"{name}.npz", samples, metadata)
        if white_value is not None and white_value < _GIVEN_UP:
            self.conduct.reporter.say(f"alarm: White's mean value is {white_value:.2f}: it has given up")

    # Training

    def _window(self) -> tuple[Samples, int]:
        """The newest samples, as many as the buffer holds; and how many of them are of this round."""
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
        """The samples of a round by the numbers of its games: which file a game fell into depends on its timing."""
        games: dict[int, Samples] = {}
        for path in self._files(iteration):
            samples, metadata = read_samples(path)
            first = 0
            for game, length in zip(metadata["games"], metadata["lengths"], strict=True):
                games[game] = samples.rows(slice(first, first + length))
                first += length
        return Samples.concatenate([games[game] for game in sorted(games)])

    def _rehearsal(self) -> Samples:
        """What the earlier phases trained on."""
        if self.config.selfplay.rehearsal_share <= 0:
            return Samples.none(self.config.rules.cells)
        taught = games_to_train_on(self.config, self.run_folder.replay)
        if not basics_file(self.run_folder).exists():
            return taught
        return Samples.concatenate([basics_of(self.run_folder, self.conduct), taught])

    def _train(self) -> None:
        config, settings = self.config, self.config.selfplay
        samples, fresh = self._window()
        rehearsal = self._rehearsal()
        share = settings.rehearsal_share if len(rehearsal) else 0.0
        trainer = Trainer(config, starting_model(self.run_folder))
        state = trainer_state(self.run_folder, PHASE)
        progress: dict[str, Any] = {"step": 0, "iteration": self.iteration}
        if state.exists():
            found = trainer.load(state)
            if found["iteration"] == self.iteration:
                progress = found
            elif self._accepted_state.exists():
                trainer.load(self._accepted_state)
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
        drawn_a_step = config.training.batch_size * (1.0 - share) * nets
        steps = max(1, round(settings.draws_per_position * fresh / drawn_a_step))
        done = self.iteration / max(1, settings.iterations - 1)
        rate = cosine_rate(settings.learning_rate, settings.final_learning_rate, done)
        with self.conduct.reporter.task(f"training, round {self.iteration + 1}", steps, "steps") as task:

            def tell(step: int, losses: Losses) -> None:
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
                tell=tell,
            )
        trainer.refresh_norms(samples, stream_key(config.seed, Purpose.SHUFFLE, self.iteration))
        trainer.save(state, progress)
        made = {"phase": PHASE, "iteration": self.iteration, "step": progress["step"]}
        keep_model(self.run_folder, "candidate", trainer.model, made)

    # Gate

    def _gate(self) -> dict[str, Any]:
        config, gate = self.config, self.config.gate
        candidate, best = (
            NetEvaluator(load_model(path)[0], repeatable=True) for path in (self._candidate, self.run_folder.best_model)
        )
        start = time.perf_counter()
        try:
            result = play_match(
                model_player(config, candidate, name="candidate", simulations=gate.simulations),
                model_player(config, best, name="best", simulations=gate.simulations),
                rules=config.rules,
                openings=evaluation_openings(config.rules) if gate.paired_openings else [()],
                games=gate.games,
                seed=stream_key(config.seed, Purpose.GATE, self.iteration),
                conduct=self.conduct,
                paired=gate.paired_openings,
                task=f"gate, round {self.iteration + 1}",
            )
        finally:
            candidate.close()
            best.close()
        accepted = passes_gate(result, gate)
        verdict = {"accepted": accepted, "result": result.to_json()}
        total = result.total
        self.run_folder.append_metrics(
            {
                "phase": PHASE,
                "iteration": self.iteration,
                "event": "gate",
                "score": total.score,
                "seconds": time.perf_counter() - start,
                **verdict,
            }
        )
        self.conduct.reporter.say(
            f"round {self.iteration + 1}: the candidate won {total.wins}, drew {total.draws} and lost {total.losses}: "
            + ("it is the best now" if accepted else "discarded")
        )
        return verdict

    def _settle(self, verdict: dict[str, Any]) -> None:
        """Carries the gate's verdict out; doing it twice is doing it once."""
        state = trainer_state(self.run_folder, PHASE)
        if verdict["accepted"] and self._candidate.exists():
            model, info = load_model(self._candidate)
            with atomic_path(self._accepted_state) as temporary:
                shutil.copyfile(state, temporary)
            made = {**info.made, "results": {"gate": verdict["result"]}}
            for name in (f"{PHASE}-{self.iteration:04d}", "best"):
                keep_model(self.run_folder, name, model, made)
        self._candidate.unlink(missing_ok=True)


def passes_gate(result: MatchResult, gate: GateConfig) -> bool:
    """Whether the candidate (the match's first player) won more than the threshold's share of the decisive games."""
    total = result.total
    decisive = total.wins + total.losses
    return decisive > 0 and total.wins / decisive > gate.threshold


def _training_openings(config: Config) -> list[tuple[Cell, ...]]:
    try:
        return load_openings(BALANCED, config.rules, for_training=True)
    except RecordError:  # none are shipped for these rules
        return []
