"""Speed and precision of each runtime on this machine, against torch in float32.

    python -m benchmarks.backends [--model PLAYER] [--positions FILE.npz ...] [--seconds 1]

For each available runtime and precision it prints:
- positions a second in batches of 1, 8, 32, 128 and 1024 positions of one net, up to the runtime's largest batch, with
  one batch on each of its threads (medians of several slices of time, the nets in turn);
- the seconds until new weights have evaluated their first batch;
- the worst error of a prior (over the empty cells) and of a value, and the share of equal top moves, over 10,000
  positions: from files of samples, or from games of the model against itself without a search.
"""

import argparse
import statistics
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from core.evaluation import PositionBatch
from core.position import Position
from core.rules import Rules
from core.streams import generator
from curriculum.arena.players import model_path
from curriculum.training.samples import read_samples
from nets.checkpoint import load_model
from nets.config import Backend, Precision, RuntimeChoice, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes.devices import best_device
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.runtime import Piece, Runtime
from nets.runtimes.runtime_evaluator import rows_by_net

_BATCHES = (1, 8, 32, 128, 1024)
_SLICES = 5
_FIRST_BATCH = 128
_POSITIONS = 10_000
_DRAWN = 10
_CPU = torch.device("cpu")
_RUNTIMES = (
    (_CPU, Backend.TORCH, Precision.FP32),
    (_CPU, Backend.TORCH, Precision.BF16),
    (_CPU, Backend.OPENVINO, Precision.FP32),
    (_CPU, Backend.OPENVINO, Precision.BF16),
)
_ON_GPU = (Precision.FP32, Precision.BF16, Precision.FP16)


def priors(logits: NDArray[np.float32], positions: PositionBatch) -> NDArray[np.float32]:
    """Return the softmax [B, A] over the empty cells."""
    masked = np.where(positions.stones == 0, logits, -np.inf)
    weights = np.exp(masked - masked.max(axis=1, keepdims=True))
    shares: NDArray[np.float32] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def own_games(evaluator: NetEvaluator, rules: Rules, seed: int = 1) -> PositionBatch:
    """Return positions of games: first moves drawn from the model's priors, then its top moves."""
    random, found = generator(seed), []
    games = [Position(rules) for _ in range(256)]
    while sum(map(len, found)) < _POSITIONS:
        batch = PositionBatch.from_positions(games, rules)
        found.append(batch)
        shares = priors(evaluator.evaluate(batch)[0], batch).astype(np.float64)
        for index, game in enumerate(games):
            if game.ply < _DRAWN:
                game.push(int(random.choice(rules.cells, p=shares[index] / shares[index].sum())))
            else:
                game.push(int(shares[index].argmax()))
            if game.is_game_over():
                games[index] = Position(rules)
    return PositionBatch.concatenate(found)


def rate(runtime: Runtime, positions: PositionBatch, dual: bool, batch: int, seconds: float) -> float:
    """Return evaluated positions a second in batches of `batch`, one on each thread; the median of slices."""
    parts = rows_by_net(positions.to_move, dual)

    def work(thread: int, end: float) -> int:
        logits = np.empty(positions.stones.shape, np.float32)
        values = np.empty(len(positions), np.float32)
        for turn in count(thread):
            net, rows = parts[turn % len(parts)]
            chosen = rows.take(turn * batch + np.arange(batch), mode="wrap")
            runtime.evaluate(net, [Piece(chosen, positions, logits, values)])
            if time.perf_counter() >= end:
                return batch * (turn - thread + 1)
        raise AssertionError

    rates = []
    with ThreadPoolExecutor(runtime.threads) as threads:
        for _ in range(_SLICES + 1):
            start = time.perf_counter()
            ends = [start + seconds / _SLICES] * runtime.threads
            evaluated = sum(threads.map(work, range(runtime.threads), ends))
            rates.append(evaluated / (time.perf_counter() - start))
    return statistics.median(rates[1:])  # the first slice warms up


def until_in_use(
    model: DualNet, choice: RuntimeChoice, device: torch.device, positions: PositionBatch
) -> tuple[NetEvaluator, float]:
    """Return an evaluator, and the seconds until it had evaluated a first batch, without the time of imports."""
    for _ in range(2):
        start = time.perf_counter()
        evaluator = NetEvaluator(model, choice, device=device)
        evaluator.evaluate(positions.rows(slice(_FIRST_BATCH)))
        seconds = time.perf_counter() - start
    return evaluator, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="paper", help="a model file, a run folder or `paper`")
    parser.add_argument("--positions", type=Path, nargs="+", default=[], help="files of samples (replay/*.npz)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each batch size of each runtime")
    options = parser.parse_args()
    if (path := model_path(options.model)) is None:
        parser.error(f"{options.model} names no model")
    model = load_model(path)[0]
    torch.set_num_threads(1)  # for each evaluating thread

    exact = NetEvaluator(model, RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32), device=_CPU)
    if options.positions:
        positions = PositionBatch.concatenate([read_samples(file)[0].positions for file in options.positions])
    else:
        positions = own_games(exact, model.rules)
    positions = positions.rows(generator(1).permutation(len(positions))[:_POSITIONS])
    exact_logits, exact_values = exact.evaluate(positions)
    exact_priors = priors(exact_logits, positions)

    print(f"{len(positions):,} positions, {exact.runtime.threads} cores; positions a second in batches of n a thread")
    print(
        f"{'runtime':24}" + "".join(f"{f'n = {batch}':>9}" for batch in _BATCHES) + f"{'new weights':>13}"
        f"{'prior':>9}{'value':>9}{'top move':>10}"
    )
    card = best_device()
    runtimes = [*_RUNTIMES, *((card, Backend.TORCH, precision) for precision in _ON_GPU if card.type == "cuda")]
    for device, backend, precision in runtimes:
        name = f"{backend} {precision}{' (GPU)' if device.type == 'cuda' else ''}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeNotice)
                choice = RuntimeChoice(backend=backend, precision=precision)
                evaluator, seconds = until_in_use(model, choice, device, positions)
        except RuntimeNotice as notice:
            print(f"{name:24}  {notice}")
            continue
        logits, values = evaluator.evaluate(positions)
        found = priors(logits, positions)
        top = float((found.argmax(axis=1) == exact_priors.argmax(axis=1)).mean())
        rates = [
            f"{rate(evaluator.runtime, positions, model.config.dual, batch, options.seconds):,.0f}"
            if batch <= evaluator.runtime.sizes[-1]
            else "-"
            for batch in _BATCHES
        ]
        print(
            f"{name:24}" + "".join(f"{each:>9}" for each in rates) + f"{seconds:11.2f} s"
            f"{np.abs(found - exact_priors).max():9.4f}{np.abs(values - exact_values).max():9.4f}{top:10.2%}",
            flush=True,
        )
        evaluator.close()


if __name__ == "__main__":
    main()
