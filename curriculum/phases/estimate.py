"""Estimate of a run's time and memory on this machine, for `gomoku train --dry-run`."""

import time

import numpy as np

from core.compiled.symmetry import SYMMETRIES
from core.evaluation import PositionBatch
from core.rules import WHITE
from curriculum.config import Config, Phase
from curriculum.games.selfplay_games import TREE_ROOM
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Trainer
from nets.dual import parameter_count
from nets.runtimes.net_evaluator import NetEvaluator
from search.tree.forest import bytes_per_node

_PLIES_PER_GAME = 35
"""Guessed length of a game."""


def describe_estimate(config: Config) -> list[tuple[str, str]]:
    """Return the estimate as rows (name, amount): speeds are measured here, the length of games is a guess."""
    trainer = Trainer(config)
    samples = _blank_samples(config)
    batches = BatchSource(
        samples,
        Samples.none(config.rules.cells),
        rehearsal_share=0.0,
        batch_size=config.training.batch_size,
        seed=0,
        dual=config.net.dual,
    )
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

    batch, nets = config.training.batch_size, len(batches.colours)
    plies = min(_PLIES_PER_GAME, config.rules.cells)
    copies = 2 if config.basics.colour_swapped else 1
    basics_steps = config.basics.epochs * config.basics.positions * copies / (batch * nets)
    fresh = batch * (1 - config.imitation.basics_share)
    imitation_steps = config.imitation.passes * config.imitation.games * plies / (fresh * nets)
    selfplay = config.selfplay
    positions, full = selfplay.games * plies, selfplay.full_search_share
    simulations = full * config.search.simulations + (1 - full) * selfplay.fast_simulations
    draws = 0.0 if selfplay.epochs else selfplay.draws_per_position
    round_s = (
        positions * simulations * evaluation_s
        + draws * full * positions / (batch * (1 - selfplay.rehearsal_share) * nets) * step_s
        + config.gate.games * plies * (config.gate.simulations or config.search.simulations) * evaluation_s
    )
    if selfplay.epochs:
        images = SYMMETRIES if config.training.all_symmetries else 1
        round_s += selfplay.epochs * images * selfplay.window / (batch * nets) * step_s
    times = {
        Phase.BASICS: ("basics", basics_steps * step_s),
        Phase.IMITATION: ("imitation, without the mentor's games", imitation_steps * step_s),
        Phase.SELFPLAY: (f"self-play, at most ({selfplay.iterations} rounds)", selfplay.iterations * round_s),
    }
    seconds = dict(times[phase] for phase in config.phases)
    trees = selfplay.concurrent_games * (TREE_ROOM * config.search.simulations + 1) * bytes_per_node(config.rules)
    sample_bytes = sum(array.nbytes for array in (samples.policies[0], samples.positions.stones[0])) + 9
    held = max(selfplay.window, config.imitation.games * plies, config.basics.positions * copies)
    parameters = [parameter_count(net) for net in trainer.model.nets.values()]
    return [
        ("parameters", " + ".join(f"{count:,}" for count in parameters)),
        ("device", str(trainer.device)),
        ("training, positions a second", f"{batch * nets / step_s:,.0f}"),
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
