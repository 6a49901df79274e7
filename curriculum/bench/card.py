"""The check of a GPU: what `gomoku bench --device cuda` measures, section by section, in at most eight minutes."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from core.position import Position
from curriculum.bench.agreement import POSITIONS, agreements
from curriculum.bench.bare_net import BareNet
from curriculum.bench.ceiling import find_ceiling
from curriculum.bench.positions import long_games, mixed_positions
from curriculum.bench.selfplay import measure_selfplay, selfplay_config
from curriculum.config import Config, TrainingConfig
from curriculum.presets import resolve
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder, read_metrics
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer
from nets.config import Backend, Precision, RuntimeChoice
from nets.dual import DualNet, make_model
from nets.runtimes.devices import device_text, torch_without_gpu
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.runtime import RuntimeUnavailableError

_GAMES = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSettings:
    """Extent of the check."""

    positions: int = POSITIONS
    """Positions on which runtimes are compared."""
    seconds: float = 20.0
    """Seconds of self-play; other measurements take less."""
    games: tuple[int, ...] = (256, 1024, 4096)
    """Games of self-play side by side."""
    simulations: int = 400
    batch_sizes: tuple[int, ...] = (512, 4096)
    """Of training."""
    steps: int = 100
    """Of a measurement of training."""
    run: Config = field(default_factory=lambda: resolve("smoke"))
    """The run with a gate."""


def require_gpu() -> torch.device:
    """Return the GPU. Raises `RuntimeUnavailableError` where torch uses none."""
    reason = torch_without_gpu()
    if reason is not None:
        raise RuntimeUnavailableError(f"there is no GPU to measure: {reason or 'the driver knows of none'}")
    return torch.device("cuda")


def check_card(
    models: dict[str, DualNet],
    run_all: Callable[[RunFolder, Context], object],
    settings: CardSettings,
    context: Context,
) -> Iterator[tuple[str, Any]]:
    """Yield the sections of the result, each after its measurement; speeds are those of the first model.

    `run_all` is `curriculum.phases.all.run_all`.

    Raises `RuntimeUnavailableError` without a GPU that torch uses, and `Interrupted`.
    """
    device = require_gpu()
    yield "card", {"name": device_text(), "capability": list(torch.cuda.get_device_capability(device))}
    agreement = []
    for name, model in models.items():
        for row in _agreement(model, device, settings.positions):
            context.check()
            agreement.append({"model": name, **row})
            yield "agreement", agreement
    model = next(iter(models.values()))
    games = long_games(model.rules, _GAMES)
    evaluator = NetEvaluator(model, RuntimeChoice(backend=Backend.TORCH), device=device)
    try:
        ceiling, rates = find_ceiling(evaluator, games, settings.seconds / 10, context)
        bare = BareNet(model, evaluator.runtime, settings.seconds / 10, context)
        yield (
            "throughput",
            {
                "precision": evaluator.runtime.precision.value,
                "bare_positions_per_second": bare.rate(1.0),
                "batches": [{"batch": batch, "positions_per_second": rate} for batch, rate in rates.items()],
            },
        )
        played = []
        for number in settings.games:
            config = selfplay_config(model.rules, model.config, settings.simulations, number)
            run = measure_selfplay(config, evaluator, games, settings.seconds, context, ceiling)
            played.append(run.figures())
            yield "selfplay", played
    finally:
        evaluator.close()
    yield "training", [_training(model, games, batch, settings.steps) for batch in settings.batch_sizes]
    yield "run", _gated_run(settings.run, run_all, context)


def _agreement(model: DualNet, device: torch.device, count: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each precision of the GPU's runtime; line-pattern nets have one."""
    half = () if model.config.has_lines else (Precision.BF16, Precision.FP16)
    choices = (RuntimeChoice(backend=Backend.TORCH, precision=each) for each in (Precision.FP32, *half))
    return agreements(model, ((device, choice) for choice in choices), count)


def _training(model: DualNet, games: list[Position], batch_size: int, steps: int) -> dict[str, Any]:
    """Return the speed of training new nets like those of a model."""
    config = Config(rules=model.rules, net=model.config, training=TrainingConfig(batch_size=batch_size))
    positions = mixed_positions(games)
    policies = np.full((len(positions), model.rules.cells), 1.0 / model.rules.cells, dtype=np.float32)
    trainer = Trainer(config, make_model(model.config, model.rules, 0))
    source = trainer.batches(Samples.plain(positions, policies, np.zeros(len(positions), dtype=np.float32)), 0)
    rates = np.full(steps, 1e-3)
    trainer.train(source, 0, steps, rates)  # libraries choose their algorithms
    start = time.perf_counter()
    trainer.train(source, steps, 2 * steps, rates)
    seconds = time.perf_counter() - start
    drawn = sum(len(batch) for colour in source.colours if (batch := source.batch(colour, 0)) is not None)
    return {"batch": batch_size, "steps_per_second": steps / seconds, "positions_per_second": steps * drawn / seconds}


def _gated_run(config: Config, run_all: Callable[[RunFolder, Context], object], context: Context) -> dict[str, Any]:
    """Return the time of a whole small training, and what its gate decided."""
    start = time.perf_counter()
    with TemporaryDirectory(prefix="gomoku-") as folder:
        path = Path(folder) / "run"
        with RunFolder.create(path, config) as run:
            run_all(run, context)
        gates = [record for record in read_metrics(path) if record["event"] == "gate"]
    return {"seconds": time.perf_counter() - start, "accepted": [gate["accepted"] for gate in gates]}
