"""The curve of results: `... plot DATA --figure curve.png`, a panel for each error, a line for each net."""

import argparse
import json
from pathlib import Path

from benchmarks.curve.train import RESULTS
from benchmarks.measuring import Fault
from gomoku_cli.reports.plots import HEIGHT, WIDTH, drawn

_ERRORS = {
    "policy": "cross entropy of the policy (nats)",
    "value": "squared error of the value",
    "deep_policy": "cross entropy with the policy of deep searches",
    "deep_value": "squared error with the value of deep searches",
}


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, help="folder of the results; DATA/curve without it")
    parser.add_argument("--figure", type=Path, required=True, metavar="FILE", help=".png or .svg")


def run(arguments: argparse.Namespace) -> int:
    """Draw."""
    path = (arguments.out or arguments.data / "curve") / RESULTS
    if not path.exists():
        raise Fault(f"there are no results in {path.parent}: train first")
    results = [json.loads(line) for line in path.read_text().splitlines()]
    errors = {name: text for name, text in _ERRORS.items() if any(name in row for row in results)}
    title = "Errors over the distinct positions of the training"
    with drawn(arguments.figure, title, width=WIDTH * len(errors), height=HEIGHT) as figure:
        for number, (error, text) in enumerate(errors.items(), start=1):
            axes = figure.add_subplot(1, len(errors), number)
            for net in dict.fromkeys(row["net"] for row in results):
                points = sorted((row["positions"], row[error]) for row in results if row["net"] == net and error in row)
                axes.plot(*zip(*points, strict=True), "o-", markersize=4, linewidth=1, label=net)
            axes.set_xscale("log")
            axes.set(xlabel="positions", ylabel=text)
            axes.legend(fontsize=7)
    return 0
