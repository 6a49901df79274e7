"""Distinct positions from the self-play of runs, or with `--games mentor` of their teachers, in packed files.

`... collect DATA RUN ...`.

Positions that symmetries carry into each other count once; the first stays. Prints the rates of reading and writing and
the bytes of a position. Runs may still be playing: what they add later is collected by the same command.

With `--decay` the value targets are made anew for another winning-value decay, and nets that learn from DATA search
with it.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.curve.data import CONFIG, share
from benchmarks.curve.dataset import Dataset, read_samples_of
from benchmarks.curve.decayed import config_with_decay, samples_with_decay
from benchmarks.measuring import Fault, again, show
from core.files.atomic import atomic_write_text
from curriculum.config import Config
from curriculum.phases.replay import PHASE
from curriculum.presets import read_config, to_toml
from gomoku_cli.interruption import interruptible

_READ = 200
"""Batches whose reading is timed."""


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--json", action="store_true", help="print the row as JSON")
    parser.add_argument("--decay", type=share, help="winning-value decay a ply in place of that of the runs, above 0")
    parser.add_argument("--games", choices=(PHASE, "mentor"), default=PHASE, help="those of self-play or of a teacher")
    parser.add_argument("--held-out", type=float, default=0.02, help="share of the games that nobody learns from")


def run(arguments: argparse.Namespace) -> int:
    """Collect."""
    own = {path: read_config(path / CONFIG) for path in arguments.runs}
    decay = arguments.decay
    configs = [each if decay is None else config_with_decay(each, decay) for each in own.values()]
    collected = arguments.data / CONFIG
    config = read_config(collected) if collected.exists() else configs[0]
    kinds = {_kind_of(each) for each in (config, *configs)}
    if len(kinds) > 1:
        raise Fault(f"the runs and {arguments.data} do not fit together: {'; '.join(sorted(kinds))}")
    arguments.data.mkdir(parents=True, exist_ok=True)
    atomic_write_text(collected, to_toml(config))
    dataset = Dataset(arguments.data, config.rules)
    files = [path for run in arguments.runs for path in sorted(run.glob(f"replay/{arguments.games}-*.npz"))]
    known, read, kept, start = len(dataset.training), 0, 0, time.process_time()
    with interruptible(resume=again()) as context, context.reporter.task("collecting", len(files), "files") as task:
        read_file = read_samples_of if decay is None else partial(samples_with_decay, own, decay)
        for number, read, kept in dataset.collect(files, held_out_share=arguments.held_out, read_file=read_file):
            task.update(number, positions=read, distinct=kept)
            context.check()
    seconds = time.process_time() - start
    training, size = dataset.training, sum(path.stat().st_size for path in arguments.data.glob("*.npz"))
    batches = np.random.default_rng(1).integers(max(1, len(training)), size=(_READ, 512))
    start = time.process_time()
    for batch in batches if len(training) else ():
        training.rows(batch)
    row = {
        "distinct": len(training),
        "held_out": len(dataset.held_out),
        "added": len(training) - known,
        "share_kept": kept / max(1, read),
        "bytes_a_position": size / max(1, len(training) + len(dataset.held_out)),
        "collected_a_second": read / max(seconds, 1e-9),
        "read_a_second": batches.size / (time.process_time() - start),
    }
    show([row], arguments.json)
    return 0


def _kind_of(config: Config) -> str:
    """Return the rules of a run, and the settings by which it makes its values."""
    parts, decay = config.selfplay, config.training.z_decay
    return f"{config.rules}, shares {parts.search_value_share} and {parts.short_term_share}, decay {decay}"
