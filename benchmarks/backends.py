"""Precision of each runtime on this machine, against torch in float32: `python -m benchmarks.backends`.

For each available runtime and precision it prints the worst error of a prior (over the empty cells) and of a value, and
the share of equal top moves, over 10,000 positions: from files of samples, or from games of the model against itself
without a search; and the seconds until new weights have evaluated their first batch. `gomoku bench --backend ...
--precision ...` measures the speed of one.
"""

import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.measuring import parser_of, show
from core.evaluation import PositionBatch
from curriculum.arena.players import model_path
from curriculum.bench.agreement import POSITIONS, Exact, own_games, shuffled
from curriculum.training.files import read_samples
from nets.checkpoint import load_model
from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes.devices import best_device
from nets.runtimes.net_evaluator import NetEvaluator

_CPU = torch.device("cpu")
_ON_CPU = [
    (_CPU, RuntimeChoice(backend=backend, precision=precision))
    for backend in (Backend.TORCH, Backend.OPENVINO)
    for precision in (Precision.FP32, Precision.BF16)
]


def rows(model: DualNet, files: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield a row for each runtime."""
    exact = NetEvaluator(model, _ON_CPU[0][1], device=_CPU)
    if files:
        positions = shuffled(PositionBatch.concatenate([read_samples(file)[0].positions for file in files]), POSITIONS)
    else:
        positions = own_games(exact, model.rules, POSITIONS)
    known = Exact(exact, positions)
    card = best_device()
    on_card = [
        (card, RuntimeChoice(backend=Backend.TORCH, precision=precision))
        for precision in (Precision.FP32, Precision.BF16, Precision.FP16)
        if card.type == "cuda"
    ]
    lines = [(_CPU, RuntimeChoice(backend=Backend.NUMBA, precision=Precision.INT16))]
    for device, choice in (*(lines if model.config.has_lines else _ON_CPU), *on_card):
        name = f"{choice.backend} {choice.precision} on {device.type}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeNotice)
                for _ in range(2):  # the first time holds imports
                    start = time.perf_counter()
                    evaluator = NetEvaluator(model, choice, device=device)
                    evaluator.evaluate(positions.rows(slice(128)))
                    ready = time.perf_counter() - start
        except RuntimeNotice as notice:
            yield {"runtime": name, "notice": str(notice)}
            continue
        yield {"runtime": name, "new weights, s": ready, **known.errors(evaluator)}
        evaluator.close()


def main() -> None:
    """Print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="paper", help="a model file, a run folder or `paper`")
    parser.add_argument("--positions", type=Path, nargs="+", default=[], help="files of samples (replay/*.npz)")
    options = parser.parse_args()
    if (path := model_path(options.model)) is None:
        parser.error(f"{options.model} names no model")
    torch.set_num_threads(1)  # for each evaluating thread
    show(rows(load_model(path)[0], options.positions), options.json)


if __name__ == "__main__":
    main()
