"""Steps that the three phases share: training that survives a kill at any time, and the models of a run."""

import shlex
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import compile_rules, legal_masks
from core.errors import Notice
from core.files.json_text import value_at
from core.streams import Purpose, stream_key
from curriculum.arena.players import PlayerSpecError, model_path
from curriculum.budget import rows_per_step
from curriculum.config import Config
from curriculum.phases.origin import file_hash, origin_of, portable_change
from curriculum.phases.players import check_players
from curriculum.presets import setting_text
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder
from curriculum.training.batches import BatchSource
from curriculum.training.samples import Samples
from curriculum.training.trainer import Losses, Trainer, cosine_rate
from curriculum.validity import check
from nets.checkpoint import CheckpointError, load_model, read_info, save_model
from nets.dispatch import net_colours
from nets.dual import DualNet, enlarged
from nets.runtimes.devices import device_text
from nets.runtimes.net_evaluator import NetEvaluator
from nets.shapes import fits

STEPS_PER_SAVE = 40
"""Optimiser steps between two saves: about ten seconds on 2 cores."""

_PHASES = "phases"
_MAX_BATCH = 512


def is_finished(run: RunFolder, phase: str) -> bool:
    """Return True if the run has finished the phase."""
    return phase in _finished(run)


def mark_finished(run: RunFolder, phase: str, *, is_over: bool = True) -> None:
    """Record that the phase is over and its model is in place, or that it goes on."""
    run.write_state(_PHASES, {**dict.fromkeys(_finished(run), True), phase: is_over})


def _finished(run: RunFolder) -> list[str]:
    finished = run.read_state(_PHASES, lambda state: [name for name in state if value_at(state, name, bool)])
    return finished or []


def trainer_state(run: RunFolder, phase: str) -> Path:
    """Return the file of a phase's training state."""
    return run.state / f"{phase}.safetensors"


def starting_model(run: RunFolder) -> DualNet | None:
    """Return the best model so far, at first the one that the run starts from; None in a run that has none yet.

    Raises `CheckpointError` for a model of other rules, or with another number of nets, than the run's configuration.
    """
    if not run.best_model.exists():
        if not run.config.start:
            return None
        _start(run)
    model, info = load_model(run.best_model)
    config = run.config
    if info.rules != config.rules:
        raise CheckpointError(f"{run.best_model} plays {info.rules}, not {config.rules} as its run does")
    if info.net.dual != config.net.dual:
        raise CheckpointError(f"{run.best_model} has net.dual = {info.net.dual}, unlike its run")
    return model


def check_new(config: Config) -> None:
    """Check the configuration of a new run, with its players and the model that it starts from.

    Raises `ConfigError` or `BasicsError`, and the errors of `check_players` and of `check_start`.
    """
    check(config)
    check_players(config)
    check_start(config)


def check_start(config: Config) -> Path | None:
    """Return the model file that a run starts from, if there is one.

    Raises `PlayerSpecError`, and `CheckpointError` for a model whose weights do not fit the run's nets.
    """
    if not config.start:
        return None
    try:
        path = model_path(config.start)
    except PlayerSpecError as error:
        raise PlayerSpecError(f"start: {error}") from error
    if path is None:
        raise PlayerSpecError(f"start: {config.start} is a player without a model file: no run can start from it")
    info = read_info(path)
    if not config.net.holds(info.net):
        theirs = replace(config, net=info.net)
        keys = [f"net.{field.name}" for field in fields(info.net)]
        differing = [key for key in keys if setting_text(theirs, key) != setting_text(config, key)]
        options = " ".join(f"--set {shlex.quote(f'{key}={setting_text(theirs, key)}')}" for key in differing)
        raise CheckpointError(f"{path} has another net than the run; give the run the same: {options}")
    if not fits(config.net, info.rules, config.rules):
        raise CheckpointError(
            f"{path} plays {info.rules}, and its fully connected layers fit no board of {config.rules.size}: only a "
            "fully convolutional net can change the size"
        )
    return path


def start_text(config: Config) -> str:
    """Return the weights that a run starts from, in words. Raises the errors of `check_start`."""
    path = check_start(config)
    if path is None:
        return "fresh nets"
    learnt = read_info(path).rules
    return f"the weights of {config.start}" + (f", which learned {learnt}" if learnt != config.rules else "")


def _start(run: RunFolder) -> None:
    """Make the weights of the model that a run starts from its best model."""
    path = check_start(run.config)
    assert path is not None
    model, info = load_model(path)
    config = run.config
    if info.net.layers(config.rules.size) != config.net.layers(config.rules.size):
        larger, smaller = config.net.layer_names, info.net.layer_names
        warnings.warn(
            f"the nets start as those of {config.start} in a larger form, {larger} instead of {smaller}, which has the "
            "same values at first",
            Notice,
            stacklevel=2,
        )
    if info.net.dual and not config.net.dual:
        warnings.warn(f"the net of both colours starts as that of White in {config.start}", Notice, stacklevel=2)
    ours = enlarged(model, config.net, config.rules, stream_key(config.seed, Purpose.INITIAL_WEIGHTS))
    made = {"phase": "none", "step": 0, "parent": file_hash(path), "parent_rules": str(info.rules)}
    keep_model(run, "best", ours, made)


def best_hash(run: RunFolder) -> str | None:
    """Return the hash of the best model's file; None in a run that has none yet."""
    return file_hash(run.best_model) if run.best_model.exists() else None


def keep_model(run: RunFolder, name: str, model: DualNet, made: Mapping[str, Any]) -> Path:
    """Write `models/NAME.safetensors` with the origin of the model in its metadata; return its path.

    Its parent is the best model at this time, unless `made` names one. Raises `NotFiniteError`.
    """
    path = run.models / f"{name}.safetensors"
    origin = {**origin_of(run.config, run.commit), "parent": best_hash(run)}
    if run.changes:
        origin["changes"] = [portable_change(change) for change in run.changes]
    save_model(path, model, {**origin, **made})
    return path


class Training:
    """The training of a phase, which survives a kill at any time: its steps, and its saves with their metrics.

    A line of metrics is written before its save: the next opening of the run cuts a line off whose save a kill
    prevented (`curriculum.run.metrics`). A save that fails takes the line back.
    """

    def __init__(
        self, run: RunFolder, context: Context, phase: str, trainer: Trainer, progress: dict[str, Any]
    ) -> None:
        """`progress` is saved with the weights; `step` in it counts the steps."""
        self._run, self._context, self._phase, self.trainer, self.progress = run, context, phase, trainer, progress
        if trainer.device.type == "cuda":
            context.reporter.say(f"the nets train on {device_text()}")
        self._done: list[tuple[Losses, int, float]] = []
        """Losses, number of steps and seconds of each `train` since the last save."""
        self._rate = 0.0

    def fit(self, source: BatchSource, until: int, rate: Callable[[int], float]) -> Iterator[Losses]:
        """Train to step `until` and yield the losses after each save; `rate` gives a step's learning rate.

        Raises `Interrupted` after a save, and `StepError` before anything of a diverged step is saved.
        """
        while self.progress["step"] < until:
            self._context.check()
            first = self.progress["step"]
            last = min(first + STEPS_PER_SAVE, until)
            losses = self.train(source, first, [rate(step) for step in range(first, last)])
            self.save()
            yield losses

    def train(self, source: BatchSource, first: int, rates: Sequence[float]) -> Losses:
        """Train one step for each of the `rates`, from step `first` of the batches on, without a save."""
        start = time.perf_counter()
        losses = self.trainer.train(source, first, first + len(rates), np.array(rates))
        seconds = time.perf_counter() - start
        self.progress["step"] += len(rates)
        self.progress["seconds"] = self.progress.get("seconds", 0.0) + seconds
        self._done.append((losses, len(rates), seconds))
        self._rate = rates[-1]
        return losses

    def save(self) -> None:
        """Save the state, with a line of metrics on the steps since the last save."""
        state = trainer_state(self._run, self._phase)
        if not self._done:
            self.trainer.save(state, self.progress)
            return
        losses, steps, seconds = zip(*self._done, strict=True)
        means = np.average([[*each.values()] for each in losses], axis=0, weights=steps).tolist()
        record = {
            "phase": self._phase,
            **{key: value for key, value in self.progress.items() if key in ("iteration", "epoch")},
            "event": "train",
            "step": self.progress["step"],
            **dict(zip(losses[0], means, strict=True)),
            "learning_rate": self._rate,
            "positions_per_second": sum(steps) * rows_per_step(self._run.config) / sum(seconds),
            "seconds": sum(seconds),
        }
        with self._run.metrics_of(record):
            self.trainer.save(state, self.progress)
        self._done = []


def resumed(run: RunFolder, context: Context, phase: str, start: Mapping[str, Any]) -> Training:
    """Return the training of a phase, from where it was left; at first from the best model, with the progress `start`.

    Raises the errors of `starting_model` and `Trainer.load`.
    """
    trainer, state = Trainer(run.config, starting_model(run)), trainer_state(run, phase)
    progress = trainer.load(state, start) if state.exists() else dict(start)
    return Training(run, context, phase, trainer, progress)


def falling_rate(first: float, last: float, steps: int) -> Callable[[int], float]:
    """Return the learning rate of each of `steps` steps, from `first` to `last` along half a cosine."""
    return lambda step: cosine_rate(first, last, step / max(1, steps))


def favourite_moves(model: DualNet, samples: Samples, *, repeatable: bool = False) -> NDArray[np.intp]:
    """Return [B]: the legal move with the largest prior at each position. `repeatable`: see `NetEvaluator`."""
    moves, rules = np.empty(len(samples), dtype=np.intp), compile_rules(model.rules)
    with closing(NetEvaluator(model, repeatable=repeatable)) as evaluator:
        for first in range(0, len(samples), _MAX_BATCH):
            chunk = slice(first, first + _MAX_BATCH)
            positions = samples.positions.rows(chunk)
            logits, _ = evaluator.evaluate(positions)
            legal = legal_masks(rules, positions.stones, positions.to_move)
            moves[chunk] = np.where(legal, logits, -np.inf).argmax(axis=1)
    return moves


def shares_by_colour(samples: Samples, right: NDArray[np.bool_]) -> dict[str, float]:
    """Return the share of right samples for each colour to move that has any. `right`: [B]."""
    to_move = samples.positions.to_move
    return {
        name: float(right[to_move == colour].mean())
        for name, colour in net_colours(dual=True).items()
        if (to_move == colour).any()
    }
