"""Nets trained on the first N positions of DATA, from random weights or a model's, and their errors on held-out ones.

`... train DATA --positions 300k 1M 3M --units 64 256 256x3 --net "lines-32, spread" --passes 1.5`

A training of each size, each function of patterns and each net; `--set` changes any other setting of `strongest`.
Nets of other kinds need their heads: `--net "conv3-96, residual*6, pool-32" --set 'net.policy_head=["conv3-1-bare"]'
'net.value_head=["conv1-4", "linear-64", "linear"]'`.

A training saves its state each minute; models, states and the lines of results (`curve.jsonl`) lie in `--out`. Errors:
cross entropy of the policy (nats) and squared error of the value with the targets of self-play, and with those of deep
searches where DATA has labels, whose correlation with the value is `r`. `core_seconds` are those of all threads
together, `memory_mb` is the most memory that the process has held. Trainings that are in the results already are left
out.
"""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.curve.data import CONFIG, config_of, count, measured_on, share
from benchmarks.curve.dataset import Dataset
from benchmarks.measuring import Fault, again, largest_memory_mb, show
from core.files.atomic import atomic_write_text
from core.rules import EMPTY
from core.streams import Purpose, stream_key
from curriculum.config import Config, Phase
from curriculum.games.basics import with_colours_swapped
from curriculum.phases.origin import origin_of, portable_name
from curriculum.phases.steps import check_start
from curriculum.presets import read_config, resolve
from curriculum.reporting import Context
from curriculum.run.folder import commit_of_source
from curriculum.training.batches import BatchSource
from curriculum.training.files import read_samples
from curriculum.training.packed import SampleSet
from curriculum.training.samples import Samples
from curriculum.training.trainer import Trainer, cosine_rate
from gomoku_cli.interruption import interruptible
from nets.checkpoint import load_model, save_model
from nets.dual import DualNet, enlarged
from nets.runtimes.net_evaluator import NetEvaluator

RESULTS = "curve.jsonl"
_STEPS_PER_CALL = 20
_SECONDS_PER_SAVE = 60.0
_CHUNK = 2_000
_SMALLEST = -30.0
"""Logarithm of a probability below which a move counts as that unlikely."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--positions", type=count, nargs="+", required=True, help="such as 300k 1M 3M")
    parser.add_argument("--units", nargs="+", default=["64"], help="of the function of patterns; 256x3: three layers")
    parser.add_argument("--net", nargs="+", default=["lines-32, spread"], help="layers of the trunk, without units")
    parser.add_argument("--passes", type=float, default=1.5, help="over the positions, each under a random symmetry")
    parser.add_argument("--rates", type=float, nargs=2, default=(2e-3, 5e-5), help="first and last learning rate")
    parser.add_argument("--held-out", type=count, default=100_000, help="positions to measure on without labels")
    parser.add_argument("--from", dest="start", metavar="MODEL", help="a model to start from, such as default")
    parser.add_argument("--rehearse", type=Path, metavar="RUN", help="whose basic positions are a part of each batch")
    parser.add_argument("--rehearse-share", type=share, default=0.1, help="of these positions, 0 to 1")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings, as of `gomoku train`")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after so many; the command goes on later")
    parser.add_argument("--out", type=Path, help="folder of the results; DATA/curve without it")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def facts_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what all trainings of a command have in common, for their results."""
    return {
        "start": arguments.start and portable_name(arguments.start),
        "passes": arguments.passes,
        "seed": arguments.seed,
        "rehearsed": arguments.rehearse_share if arguments.rehearse else 0.0,
        "rates": " ".join(f"{rate:g}" for rate in arguments.rates),
        "settings": " ".join(arguments.set) or None,
    }


def name_of(net: str, positions: int, facts: Mapping[str, Any]) -> str:
    """Return the name of a training's files."""
    others = " ".join(str(facts[name]) for name in ("rates", "settings", "rehearsed"))
    digest = hashlib.sha256(others.encode()).hexdigest()[:6]
    parts = (*net.split(", "), positions, f"{facts['passes']:g}", facts["start"], facts["seed"], digest)
    return "-".join(str(part) for part in parts if part is not None).replace(":", "_").replace("*", "_")


def cells_of(arguments: argparse.Namespace, available: int) -> list[tuple[str, int]]:
    """Return the layers of the trunk and the number of positions of each training, the small ones first.

    Raises `Fault` for more positions than there are.
    """
    if max(arguments.positions) > available:
        raise Fault(f"{arguments.data} holds {available:,} positions to learn from, not {max(arguments.positions):,}")
    found = []
    for positions in sorted(arguments.positions):
        for net in arguments.net:
            first, *others = (layer.strip() for layer in net.split(","))
            firsts = [f"{first}:{units}" for units in arguments.units] if first.startswith("lines") else [first]
            found += [(", ".join((layer, *others)), positions) for layer in firsts]
    return found


def errors(evaluator: NetEvaluator, samples: SampleSet) -> tuple[float, float, float]:
    """Return the cross entropy of a net's policy (nats), the squared error of its value, and the value's correlation.

    Means over the samples. Values, -1 to 1, are those of the side to move.
    """
    policy, pairs = 0.0, []
    for first in range(0, len(samples), _CHUNK):
        part = samples.rows(slice(first, first + _CHUNK))
        found, values = evaluator.evaluate(part.positions)
        logits = np.where(part.positions.stones == EMPTY, found, -np.inf)
        policy -= float((part.policies * np.maximum(special.log_softmax(logits, axis=1), _SMALLEST)).sum())
        pairs.append(np.stack((values, part.values)))
    values, targets = np.concatenate(pairs, axis=1, dtype=np.float64)
    return policy / len(samples), float(((values - targets) ** 2).mean()), float(np.corrcoef(values, targets)[0, 1])


def basics_of(run: Path) -> Samples:
    """Return the basic positions of a run, as its first phase learns them. Raises `Fault`."""
    config, path = read_config(run / CONFIG), run / "replay" / "basics.npz"
    if not path.exists():
        raise Fault(f"{run} has no basic positions: gomoku generate-basics draws some")
    samples = read_samples(path, config.rules.cells)[0]
    return with_colours_swapped(config.rules, samples) if config.basics.colour_swapped else samples


def model_to_start(start: str | None, config: Config) -> DualNet | None:
    """Return the model that a training starts from, enlarged if need be. Raises the errors of `check_start`."""
    path = check_start(replace(config, start=start or ""))
    return None if path is None else enlarged(load_model(path)[0], config.net, config.rules, config.seed)


def trained(
    trainer: Trainer, source: BatchSource, rates: NDArray[np.float64], title: str, state: Path, context: Context
) -> dict[str, Any]:
    """Train a step with each of the rates, and return how long it took. Raises `Interrupted` after a save."""
    fresh = {"step": 0, "seconds": 0.0, "core_seconds": 0.0}
    progress = trainer.load(state, fresh) if state.exists() else fresh
    saved = time.monotonic()
    with context.reporter.task(title, len(rates), "steps") as task:
        task.update(progress["step"])
        while progress["step"] < len(rates):
            start, cores, first = time.monotonic(), time.process_time(), int(progress["step"])
            last = min(first + _STEPS_PER_CALL, len(rates))
            found = trainer.train(source, first, last, rates[first:last])
            progress["step"] = last
            progress["seconds"] += time.monotonic() - start
            progress["core_seconds"] += time.process_time() - cores
            task.update(last, policy_loss=found["policy_loss"], value_loss=found["value_loss"])
            stops = context.stop()
            if stops or time.monotonic() - saved > _SECONDS_PER_SAVE:
                trainer.save(state, progress)
                saved = time.monotonic()
            if stops:
                context.check()
    return progress


def run(arguments: argparse.Namespace) -> int:
    """Train and measure."""
    own = config_of(arguments.data)
    dataset = Dataset(arguments.data, own.rules)
    cells = cells_of(arguments, len(dataset.training))
    out = arguments.out or arguments.data / "curve"
    out.mkdir(parents=True, exist_ok=True)
    results = out / RESULTS
    lines = results.read_text().splitlines() if results.exists() else []
    facts = facts_of(arguments)
    known = [{name: row.get(name) for name in ("net", "positions", *facts)} for row in map(json.loads, lines)]
    held_out, labels = measured_on(arguments.data, dataset, arguments.held_out)
    rehearsal = basics_of(arguments.rehearse) if arguments.rehearse else None
    deadline = time.monotonic() + 60 * arguments.minutes

    def rows(context: Context) -> Iterator[dict[str, Any]]:
        for net, positions in cells:
            if {"net": net, "positions": positions, **facts} in known:
                continue
            assignments = [f"net.trunk={net}", f"seed={arguments.seed}", *arguments.set]
            config = resolve("strongest", assignments=assignments)
            # It plays with as many simulations as other models, however many labelled its positions.
            search = replace(own.search, simulations=config.search.simulations)
            config = replace(config, rules=own.rules, search=search)
            name = name_of(net, positions, facts)
            state = out / f"{name}.state"
            trainer = Trainer(config, model_to_start(arguments.start, config))
            samples, key = dataset.training.select(slice(positions)), stream_key(arguments.seed, Purpose.SHUFFLE)
            source = trainer.batches(samples, key, rehearsal=rehearsal, rehearsal_share=facts["rehearsed"])
            drawn = trainer.settings.batch_size * len(source.colours) * (1 - facts["rehearsed"])
            steps = max(1, round(arguments.passes * positions / drawn))
            fastest, slowest = arguments.rates
            rates = np.array([cosine_rate(fastest, slowest, step / steps) for step in range(steps)])
            progress = trained(trainer, source, rates, f"{net}, {positions:,} positions", state, context)
            evaluator = NetEvaluator(trainer.model.eval())
            policy, value, _ = errors(evaluator, held_out)
            row = {"positions": positions, "net": net, "policy": policy, "value": value}
            if labels is not None:
                row["deep_policy"], row["deep_value"], row["r"] = errors(evaluator, labels)
            evaluator.close()
            row |= {name: round(progress[name], 1) for name in ("seconds", "core_seconds")}
            row |= {"memory_mb": largest_memory_mb(), "measured_on": len(held_out), **facts}
            made = {**origin_of(config, commit_of_source()), "phase": Phase.SELFPLAY, "step": 0, "curve": row}
            save_model(out / f"{name}.safetensors", trainer.model, made)
            lines.append(json.dumps(row))
            atomic_write_text(results, "\n".join(lines) + "\n")
            state.unlink(missing_ok=True)
            yield row

    with interruptible(resume=again(), deadline=deadline) as context:
        show(rows(context), arguments.json)
    return 0
