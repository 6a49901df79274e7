"""Structures of nets on the same samples: `python -m benchmarks.structures --run runs/mine --out nets STRUCTURE ...`.

A STRUCTURE is settings of the net, `net.trunk=lines-64,spread net.dual=false` in one argument; "" is the run's own net.
Each learns the self-play of a run from random weights, in the same number of steps of as many positions. Cross entropy
of the policy and squared error of the value are those of held-out positions, the last ones of the first round. Matches
of the models that it writes (`gomoku evaluate`) show the worth of a difference.
"""

import argparse
import time
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from core.streams import Purpose, stream_key
from curriculum.config import Config
from curriculum.phases.replay import Replay
from curriculum.presets import with_assignments
from curriculum.reporting import Conduct
from curriculum.run.folder import RunFolder
from curriculum.training.samples import Samples
from curriculum.training.trainer import BatchSource, Trainer, cosine_rate
from nets.checkpoint import save_model
from nets.runtimes.net_evaluator import NetEvaluator

_STEPS_PER_CALL = 200
_CHUNK = 2_000
_SMALLEST = -30.0
"""Logarithm of a probability below which a move counts as that unlikely."""


def losses(evaluator: NetEvaluator, held_out: Samples) -> tuple[float, float]:
    """Return the cross entropy of the policy (nats) and the squared error of the value, means over the samples.

    Values, -1 to 1, are those of the side to move.
    """
    policy = value = 0.0
    for first in range(0, len(held_out), _CHUNK):
        part = held_out.rows(slice(first, first + _CHUNK))
        logits, values = evaluator.evaluate(part.positions)
        logits = np.where(part.positions.stones == 0, logits, -np.inf)
        logits = logits - logits.max(axis=1, keepdims=True)
        log_policy = np.maximum(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), _SMALLEST)
        policy -= float((part.policies * log_policy).sum())
        value += float(((values - part.values) ** 2).sum())
    return policy / len(held_out), value / len(held_out)


def train(config: Config, samples: Samples, passes: float, rates: tuple[float, float]) -> Trainer:
    """Return a new net after some passes over the samples; `rates`: the first and the last learning rate."""
    trainer = Trainer(config)
    positions = config.training.batch_size * 2
    source = BatchSource(
        samples,
        Samples.none(config.rules.cells),
        rehearsal_share=0.0,
        batch_size=config.training.batch_size if config.net.dual else positions,
        seed=config.seed,
        dual=config.net.dual,
    )
    steps = round(passes * len(samples) / positions)
    for first in range(0, steps, _STEPS_PER_CALL):
        part = range(first, min(first + _STEPS_PER_CALL, steps))
        trainer.train(source, part.start, part.stop, np.array([cosine_rate(*rates, step / steps) for step in part]))
    trainer.refresh_norms(samples, stream_key(config.seed, Purpose.SHUFFLE))
    return trainer


def main() -> None:
    """Train each structure, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, required=True, help="a run with self-play")
    parser.add_argument("--out", type=Path, required=True, help="folder of the models")
    parser.add_argument("--passes", type=float, default=2.5)
    parser.add_argument("--rates", type=float, nargs=2, default=(2e-3, 5e-5), help="first and last learning rate")
    parser.add_argument("--held-out", type=int, default=16_000)
    parser.add_argument("structures", nargs="+", metavar="STRUCTURE")
    arguments = parser.parse_args()
    with RunFolder.open(arguments.run) as run:
        everything = replace(run.config.selfplay, window=10**9)
        own = run.config
        samples, _ = Replay(run, Conduct()).window(everything, own.selfplay.iterations)
    count = len(samples) - arguments.held_out
    if count < 1:
        parser.error(f"{arguments.run} holds {len(samples):,} positions of self-play: too few for --held-out")
    held_out, samples = samples.rows(np.arange(count, len(samples))), samples.rows(np.arange(count))
    arguments.out.mkdir(parents=True, exist_ok=True)
    for number, structure in enumerate(arguments.structures):
        config = with_assignments(own, structure.split(), ("net",), structure)
        start = time.perf_counter()
        trainer = train(config, samples, arguments.passes, tuple(arguments.rates))
        seconds = time.perf_counter() - start
        evaluator = NetEvaluator(trainer.model)
        policy, value = losses(evaluator, held_out)
        evaluator.close()
        made = {"preset": config.preset, "search": asdict(config.search), "structure": structure}
        save_model(arguments.out / f"{number}.safetensors", trainer.model, made)
        print(f"{number}: {structure or 'own'}: policy {policy:.4f}, value {value:.4f}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
