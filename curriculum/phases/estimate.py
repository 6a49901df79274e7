"""Estimate of a run's time and memory on this machine, for `gomoku train --dry-run`."""

import time

import numpy as np

from core.evaluation import PositionBatch
from core.rules import WHITE
from curriculum.budget import PLIES_PER_GAME, basics_work, imitation_work, round_work, rows_per_step
from curriculum.config import Config, Phase
from curriculum.games.selfplay_games import TREE_ROOM
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer
from nets.dual import parameter_count
from nets.runtimes.net_evaluator import NetEvaluator
from search.tree.forest import bytes_per_node


def describe_estimate(config: Config) -> list[tuple[str, str]]:
    """Return the estimate as rows (name, amount): speeds are measured here, the length of games is a guess."""
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
    trees = selfplay.concurrent_games * (TREE_ROOM * config.search.simulations + 1) * bytes_per_node(config.rules)
    sample_bytes = sum(array.nbytes for array in (samples.policies[0], samples.positions.stones[0])) + 9
    held = max(selfplay.window, config.imitation.games * plies, basics_work(config) // config.basics.epochs)
    parameters = [parameter_count(net) for net in trainer.model.nets.values()]
    return [
        ("parameters", " + ".join(f"{count:,}" for count in parameters)),
        ("device", str(trainer.device)),
        ("training, positions a second", f"{1 / row_s:,.0f}"),
        ("evaluation, positions a second", f"{1 / evaluation_s:,.0f}"),
        *((f"time for {name}", f"about {value / 60:.1f} minutes") for name, value in seconds.items()),
        ("memory for samples, at most", f"{2 * held * sample_bytes / 2**20:,.0f} MiB"),
        ("memory for search trees, at most", f"{trees / 2**20:,.0f} MiB"),
    ]


def _blank_samples(config: Config) -> Samples:
    """Return empty positions of both colours, enough to time a few steps."""
    count = max(2 * config.training.batch_size, 512)
    batch = PositionBatch.empty(count, config.rules.cells)
    batch.to_move[::2] = WHITE
    uniform = np.full((count, config.rules.cells), 1.0 / config.rules.cells, dtype=np.float32)
    return Samples(batch, uniform, np.zeros(count, dtype=np.float32))
