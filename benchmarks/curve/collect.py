"""Distinct positions from the self-play of runs, in packed files: `... collect DATA RUN ...`.

Positions that symmetries carry into each other count once; the first stays. Prints the rates of reading and writing and
the bytes of a position. Runs may still be playing: what they add later is collected by the same command.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from benchmarks.curve.data import CONFIG, config_of
from benchmarks.curve.dataset import Dataset
from benchmarks.measuring import Fault, again, show
from core.files.atomic import atomic_write_text
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
    parser.add_argument("--held-out", type=float, default=0.02, help="share of the games that nobody learns from")


def run(arguments: argparse.Namespace) -> int:
    """Collect."""
    configs = [read_config(path / CONFIG) for path in arguments.runs]
    if len({config.rules for config in configs}) > 1:
        raise Fault("the runs play by different rules")
    config = configs[0]
    arguments.data.mkdir(parents=True, exist_ok=True)
    dataset = Dataset(arguments.data, config.rules)
    if not (arguments.data / CONFIG).exists():
        atomic_write_text(arguments.data / CONFIG, to_toml(config))
    parts = [each.selfplay for each in (config_of(arguments.data), *configs)]
    found = sorted({(part.search_value_share, part.short_term_share) for part in parts})
    if len(found) > 1:
        raise Fault(f"the values of the runs and of {arguments.data} are mixed with several shares: {found}")
    files = [path for folder in arguments.runs for path in sorted((folder / "replay").glob(f"{PHASE}-*.npz"))]
    known, read, kept, start = len(dataset.training), 0, 0, time.process_time()
    with interruptible(resume=again()) as context, context.reporter.task("collecting", len(files), "files") as task:
        for number, read, kept in dataset.collect(files, held_out_share=arguments.held_out):
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
