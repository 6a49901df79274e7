"""Structures of nets on the same samples: `python -m benchmarks.structures --run runs/mine --out nets STRUCTURE ...`.

A STRUCTURE is settings of the net and of its search in play, `net.trunk=lines-64,spread search.c_puct=1.2` in one
argument; "" is the run's own. Each learns the self-play of a run, all rounds together, from random weights or, with
`--from`, from those of a model that has the structure. All take the same number of steps of as many positions.
`--rehearse RUN` mixes in the basic moves and the teacher's games of a run, a share `--share` of each batch.

Cross entropy of the policy and squared error of the value are those of held-out positions, the last ones of the first
round. Matches of the models that it writes (`gomoku evaluate`) show the worth of a difference.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import parser_of, show
from core.streams import Purpose, stream_key
from curriculum.config import Config
from curriculum.games.mentor_games import read_training_games
from curriculum.phases.basics import basics_of
from curriculum.phases.origin import file_hash, origin_of
from curriculum.phases.replay import PHASE, Replay
from curriculum.presets import with_assignments
from curriculum.reporting import Context
from curriculum.run.folder import RunFolder, commit_of_source
from curriculum.training.batches import BatchSource
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer, cosine_rate
from nets.checkpoint import load_model, save_model
from nets.runtimes.net_evaluator import NetEvaluator

_STEPS_PER_CALL = 200
_CHUNK = 2_000
_SMALLEST = -30.0
"""Logarithm of a probability below which a move counts as that unlikely."""


def losses(evaluator: NetEvaluator, held_out: SampleSet) -> tuple[float, float]:
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


def rehearsal_of(folder: Path) -> Samples:
    """Return the basic moves and the teacher's games of a run, without the games that it holds out."""
    with RunFolder.open(folder) as run:
        return Samples.concatenate([basics_of(run, Context()), read_training_games(run.config, run.replay)])


def train(
    trainer: Trainer,
    config: Config,
    samples: SampleSet,
    rehearsal: Samples,
    share: float,
    passes: float,
    rates: tuple[float, float],
) -> None:
    """Train for some passes over the samples; `rates`: the first and the last learning rate.

    `share` of each batch comes from `rehearsal`, in addition to the passes.
    """
    positions = config.training.batch_size * 2
    source = BatchSource(
        samples,
        rehearsal,
        rehearsal_share=share,
        batch_size=config.training.batch_size if config.net.dual else positions,
        seed=config.seed,
        dual=config.net.dual,
    )
    steps = round(passes * len(samples) / (positions * (1 - share)))
    for first in range(0, steps, _STEPS_PER_CALL):
        part = range(first, min(first + _STEPS_PER_CALL, steps))
        trainer.train(source, part.start, part.stop, np.array([cosine_rate(*rates, step / steps) for step in part]))
    trainer.refresh_norms(samples, stream_key(config.seed, Purpose.SHUFFLE))


def main() -> None:
    """Train each structure, and print a line for it."""
    parser = parser_of(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="a run with self-play")
    parser.add_argument("--out", type=Path, required=True, help="folder of the models")
    parser.add_argument("--passes", type=float, default=2.5)
    parser.add_argument("--rates", type=float, nargs=2, default=(2e-3, 5e-5), help="first and last learning rate")
    parser.add_argument("--held-out", type=int, default=16_000)
    parser.add_argument("structures", nargs="+", metavar="STRUCTURE")
    parser.add_argument("--rehearse", type=Path, metavar="RUN", help="a run with basic moves and teacher's games")
    parser.add_argument("--share", type=float, default=0.5, help="share of them in a batch, below 1")
    parser.add_argument("--from", type=Path, dest="start", metavar="MODEL", help="a model to start with")
    arguments = parser.parse_args()
    with RunFolder.open(arguments.run) as run:
        everything = replace(run.config.selfplay, window=10**9)
        own = run.config
        samples, _ = Replay(run, Context()).window(everything, own.selfplay.iterations)
    count = len(samples) - arguments.held_out
    if count < 1:
        parser.error(f"{arguments.run} holds {len(samples):,} positions of self-play: too few for --held-out")
    rehearsal = rehearsal_of(arguments.rehearse) if arguments.rehearse else Samples.none(own.rules.cells)
    share = arguments.share if arguments.rehearse else 0.0
    held_out, samples = samples.take(slice(count, None)), samples.take(slice(count))
    arguments.out.mkdir(parents=True, exist_ok=True)

    def rows() -> Iterator[dict[str, Any]]:
        for number, structure in enumerate(arguments.structures):
            config = with_assignments(own, structure.split(), ("net", "search"), structure)
            start = time.perf_counter()
            trainer = Trainer(config, load_model(arguments.start)[0] if arguments.start else None)
            train(trainer, config, samples, rehearsal, share, arguments.passes, tuple(arguments.rates))
            seconds = time.perf_counter() - start
            evaluator = NetEvaluator(trainer.result)
            policy, value = losses(evaluator, held_out)
            evaluator.close()
            made = {
                **origin_of(config, commit_of_source()),
                "parent": file_hash(arguments.start) if arguments.start else None,
                "phase": PHASE,
                "passes": arguments.passes,
                "rehearsal_share": share,
            }
            save_model(arguments.out / f"{number}.safetensors", trainer.result, made)
            yield {
                "file": number,
                "policy": policy,
                "value": value,
                "seconds": seconds,
                "structure": structure or "own",
            }

    show(rows(), arguments.json)


if __name__ == "__main__":
    main()
