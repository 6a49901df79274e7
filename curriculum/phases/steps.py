"""What the three phases share: a model in training whose every step survives a kill, and the models of a run."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.rules import BLACK, WHITE
from curriculum.arena.players import PlayerSettings
from curriculum.config import Config
from curriculum.presets import to_toml
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Losses, Trainer, cosine_rate
from nets.checkpoint import load_model, save_model
from nets.dual import DualNet
from nets.runtimes.net_evaluator import NetEvaluator
from search.tree.player import MctsPlayer

STEPS_A_SAVE = 40
"""Optimiser steps between two saves: some ten seconds on 2 cores."""

_PHASES = "phases"
_JUDGED_AT_ONCE = 512


def is_finished(run: RunFolder, phase: str) -> bool:
    """Whether the run has the phase behind it."""
    return bool((run.read_state(_PHASES) or {}).get(phase))


def mark_finished(run: RunFolder, phase: str) -> None:
    """Notes that the phase is over and its model is in place."""
    run.write_state(_PHASES, {**(run.read_state(_PHASES) or {}), phase: True})


def trainer_state(run: RunFolder, phase: str) -> Path:
    """Where a phase keeps the state of its training."""
    return run.state / f"{phase}.safetensors"


def starting_model(run: RunFolder) -> DualNet | None:
    """The best model so far, None in a run that has none yet."""
    return load_model(run.best_model)[0] if run.best_model.exists() else None


def keep_model(run: RunFolder, name: str, model: DualNet, made: Mapping[str, Any]) -> Path:
    """Writes `models/NAME.safetensors`, with how it was made in its metadata; returns its path.

    Its parent is the best model of the time, unless `made` names one.
    """
    path = run.models / f"{name}.safetensors"
    origin = {
        "preset": run.config.preset,
        "parent": hashlib.sha256(run.best_model.read_bytes()).hexdigest()[:16] if run.best_model.exists() else None,
        "search": asdict(run.config.search),
        "config": to_toml(run.config),
    }
    save_model(path, model, {**origin, **made})
    return path


def fit(
    run: RunFolder,
    conduct: Conduct,
    trainer: Trainer,
    source: BatchSource,
    *,
    phase: str,
    progress: dict[str, Any],
    until: int,
    rate: Callable[[int], float],
    tell: Callable[[int, Losses], None] = lambda step, losses: None,
) -> None:
    """Trains from step `progress["step"]` to step `until`, saving on the way; `rate` gives a step's learning rate.

    `progress` is kept with the weights. A step's line of metrics comes before its save: whoever is killed in between
    leaves the line twice, never a step without one. Raises `Interrupted` after a save.
    """
    state = trainer_state(run, phase)
    while progress["step"] < until:
        conduct.check()
        start, first = time.perf_counter(), progress["step"]
        last = min(first + STEPS_A_SAVE, until)
        losses = trainer.train(source, first, last, np.array([rate(step) for step in range(first, last)]))
        seconds = time.perf_counter() - start
        progress["step"] = last
        progress["seconds"] = progress.get("seconds", 0.0) + seconds
        positions = (last - first) * run.config.training.batch_size * len(source.colours)
        run.append_metrics(
            {
                "phase": phase,
                **({"iteration": progress["iteration"]} if "iteration" in progress else {}),
                "event": "train",
                "step": last,
                "policy_loss": losses.policy,
                "value_loss": losses.value,
                "policy_entropy": losses.entropy,
                "learning_rate": rate(last - 1),
                "positions_per_second": positions / seconds,
                "seconds": seconds,
            }
        )
        trainer.save(state, progress)
        tell(last, losses)


def falling_rate(first: float, last: float, steps: int) -> Callable[[int], float]:
    """The learning rate of each of `steps` steps, from `first` to `last` along half a cosine."""
    return lambda step: cosine_rate(first, last, step / max(1, steps))


def favourite_moves(evaluator: NetEvaluator, samples: Samples) -> NDArray[np.intp]:
    """[B] the legal move with the largest prior at each position."""
    moves = np.empty(len(samples), dtype=np.intp)
    for first in range(0, len(samples), _JUDGED_AT_ONCE):
        chunk = slice(first, first + _JUDGED_AT_ONCE)
        logits, _ = evaluator.evaluate(samples.positions.rows(chunk))
        moves[chunk] = np.where(samples.positions.stones[chunk] == 0, logits, -np.inf).argmax(axis=1)
    return moves


def shares_by_colour(samples: Samples, right: NDArray[np.bool_]) -> dict[str, float]:
    """The share of samples judged right, for each colour to move of which there are any."""
    to_move = samples.positions.to_move
    return {
        name: float(right[to_move == colour].mean())
        for name, colour in (("black", BLACK), ("white", WHITE))
        if (to_move == colour).any()
    }


def model_player(config: Config, evaluator: NetEvaluator, *, name: str, simulations: int = 0) -> MctsPlayer:
    """The player that a model in training is in a match; `simulations` 0 takes the search's own number."""
    search = replace(config.search, simulations=simulations) if simulations else config.search
    return MctsPlayer(evaluator, config.rules, search, switch_stage=config.evaluation.switch_stage, name=name)


def match_settings(config: Config) -> PlayerSettings:
    """How models play in the matches of a run: semi-stochastic (A IV-D), with the run's search."""
    return PlayerSettings(search=config.search, switch_stage=config.evaluation.switch_stage)
