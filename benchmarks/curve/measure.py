"""Errors of models on held-out positions: `... measure DATA MODEL ...`.

Those of `train`, with the targets of deep searches where DATA has labels. `unexplained` is 1 - r², the part of the
targets' variance that the value leaves: it compares values of different scales, such as those of two decays.
"""

import argparse
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.curve.data import config_of, measured_on
from benchmarks.curve.dataset import Dataset
from benchmarks.curve.train import errors
from benchmarks.measuring import Fault, model_file, show
from curriculum.reporting import Context
from gomoku_cli.interruption import interruptible
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

    def rows(context: Context) -> Iterator[dict[str, Any]]:
        for path in arguments.models:
            context.check()
            model = load_model(path)[0].eval()
            if model.rules.cells != dataset.rules.cells:
                raise Fault(f"{path} plays {model.rules}; the positions are of {dataset.rules}")
            with closing(NetEvaluator(model)) as evaluator:
                policy, value, r = errors(evaluator, samples)
            facts = {"model": path.stem, "positions": len(samples), "policy": policy, "value": value, "r": r}
            yield facts | {"unexplained": 1 - r * r}

    with interruptible() as context:
        show(rows(context), arguments.json)
    return 0
