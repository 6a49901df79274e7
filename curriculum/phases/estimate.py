"""Estimate of a run's time on this machine, for `gomoku train --dry-run --speed`."""

import time

import numpy as np

from core.evaluation import PositionBatch
from core.rules import WHITE
from curriculum.budget import PLIES_PER_GAME, basics_work, imitation_work, round_work, rows_per_step
from curriculum.config import Config, Phase
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer
from nets.runtimes.net_evaluator import NetEvaluator


def describe_times(config: Config) -> list[tuple[str, str]]:
    """Return speeds, measured here, and times as rows (name, amount): the length of games is a guess."""
    trainer = Trainer(config)
    samples = _blank_samples(config)
    batches = trainer.batches(samples, 0)
    trainer.train(batches, 0, 1, np.zeros(1))
    start = time.perf_counter()
    trainer.train(batches, 1, 4, np.zeros(3))
    step_s = (time.perf_counter() - start) / 3
    evaluator = NetEvaluator(trainer.model)
    batch_of_256 = samples.positions.rows(slice(256))
    evaluator.evaluate(batch_of_256)
    start = time.perf_counter()
    for _ in range(4):
        evaluator.evaluate(batch_of_256)
    evaluation_s = (time.perf_counter() - start) / (4 * len(batch_of_256))
    evaluator.close()

    plies, selfplay = min(PLIES_PER_GAME, config.rules.cells), config.selfplay
    row_s, work = step_s / rows_per_step(config), round_work(config, plies)
    round_s = work.simulations * evaluation_s + work.trained * row_s
    times = {
        Phase.BASICS: ("basics", basics_work(config) * row_s),
        Phase.IMITATION: ("imitation, without the mentor's games", imitation_work(config, plies) * row_s),
        Phase.SELFPLAY: (f"self-play, at most ({selfplay.iterations} rounds)", selfplay.iterations * round_s),
    }
    seconds = dict(times[phase] for phase in config.phases)
    return [
        ("device", str(trainer.device)),
        ("training, positions a second", f"{1 / row_s:,.0f}"),
        ("evaluation, positions a second", f"{1 / evaluation_s:,.0f}"),
        *((f"time for {name}", f"about {value / 60:.1f} minutes") for name, value in seconds.items()),
    ]


def _blank_samples(config: Config) -> Samples:
    """Return empty positions of both colours, enough to time a few steps."""
    count = max(2 * config.training.batch_size, 512)
    batch = PositionBatch.empty(count, config.rules.cells)
    batch.to_move[::2] = WHITE
    uniform = np.full((count, config.rules.cells), 1.0 / config.rules.cells, dtype=np.float32)
    return Samples.plain(batch, uniform, np.zeros(count, dtype=np.float32))
