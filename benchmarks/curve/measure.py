"""Errors of models on held-out positions: `... measure DATA MODEL ...`.

Those of `train`, with the targets of deep searches where DATA has labels. `unexplained` is 1 - r², the part of the
targets' variance that the value leaves: it compares values of different scales, such as those of two decays.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.curve.data import config_of, measured_on
from benchmarks.curve.dataset import Dataset
from benchmarks.curve.train import errors
from benchmarks.measuring import model_file, show
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("models", type=model_file, nargs="+", metavar="MODEL")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure."""
    dataset = Dataset(arguments.data, config_of(arguments.data).rules)
    held_out, labels = measured_on(arguments.data, dataset, len(dataset.held_out))
    samples = held_out if labels is None else labels

    def rows() -> Iterator[dict[str, Any]]:
        for path in arguments.models:
            evaluator = NetEvaluator(load_model(path)[0].eval())
            policy, value, r = errors(evaluator, samples)
            evaluator.close()
            yield {"model": path.stem, "positions": len(samples), "policy": policy, "value": value, "r": r} | {
                "unexplained": 1 - r * r
            }

    show(rows(), arguments.json)
    return 0
