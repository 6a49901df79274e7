"""The errors that each rounding of a line-pattern net's integers makes: `python -m benchmarks.rounding`.

The integers are computed in floats, with some of their roundings and without the others, on positions of games of the
model against itself. Prints for each: the worst error of a prior (over the empty cells) and of a value, and the mean
error of a value, against none rounded. `products` are those of the depthwise convolutions, each rounded down; half a
unit for each is added to their sum, also where a feature is zero and so its product is exact.
"""

import itertools
from collections.abc import Iterator, Set
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.measuring import parser_of, show
from core.compiled.line_nets.numbers import (
    DENSE_BITS,
    MEAN_SCALE,
    MIX_BITS,
    NEAR_BITS,
    TOP,
    UNIT_BITS,
)
from core.compiled.line_nets.patterns import digit_weights, empty_numbers, neighbours, region_edges
from core.evaluation import PositionBatch
from core.rules import BLACK, WHITE
from curriculum.bench.agreement import own_games, priors
from nets.checkpoint import load_model
from nets.dual import DualNet
from nets.runtimes.net_evaluator import NetEvaluator

_TOP = TOP / 2**UNIT_BITS
_PRODUCT_BITS = UNIT_BITS + 1
_NEAREST, _FINER = "products to the nearest", "table 4 times as fine"
_PARTS = ("table", "products", "activations", "weights")
_BATCH = 250


def _rounded(x: Tensor, bits: int) -> Tensor:
    return torch.floor(x * 2**bits + 0.5) / 2**bits


class _Net:
    """A net that rounds some parts."""

    def __init__(self, net: nn.Module, parts: Set[str]) -> None:
        self._weights = {name: tensor.double() for name, tensor in net.state_dict().items()}
        self._first: Any = net.trunk[0]  # type: ignore[index]
        self._parts = parts

    def _weight(self, name: str, bits: int) -> Tensor:
        weight = self._weights[f"{name}.weight"]
        return _rounded(weight, bits) if "weights" in self._parts else weight

    def _active(self, x: Tensor) -> Tensor:
        return _rounded(x, UNIT_BITS) if "activations" in self._parts else x

    def _product(self, x: Tensor, name: str) -> Tensor:
        return functional.conv2d(x, self._weight(name, MIX_BITS)[:, :, None, None], self._weights[f"{name}.bias"])

    def _features(self, stones: Tensor, size: int) -> Tensor:
        around = functional.pad(stones, (0, 1))[:, torch.from_numpy(neighbours(size).copy())]
        numbers = torch.from_numpy(empty_numbers(size).copy()) + (around * torch.from_numpy(digit_weights())).sum(3)
        seen, places = torch.unique(numbers, return_inverse=True)
        rows = self._first.digits[seen.long()].double()
        for name in ("first", "second", "third"):
            weight, bias = (self._weights[f"trunk.0.{name}.{part}"] for part in ("weight", "bias"))
            rows = functional.linear(rows if name == "first" else rows.relu(), weight, bias)
        if "table" in self._parts:
            rows = _rounded(rows, UNIT_BITS + 2 * (_FINER in self._parts))
        summed = functional.embedding_bag(places.reshape(-1, places.shape[2]), rows, mode="sum")
        return summed.reshape(len(stones), size, size, -1).permute(0, 3, 1, 2).clamp(0, _TOP)

    def _spread(self, x: Tensor, name: str, size: int) -> Tensor:
        taps, total = self._weight(f"{name}.near", NEAR_BITS), self._weights[f"{name}.near.bias"][:, None, None]
        is_rounded, unit = "products" in self._parts, 2.0**_PRODUCT_BITS
        half = 0.5 if _NEAREST in self._parts else 0.0
        if is_rounded:
            total = total + (4.5 / unit) * (half == 0.0)
        margin = functional.pad(x, (1, 1, 1, 1))
        for down, right in itertools.product(range(3), repeat=2):
            product = margin[:, :, down : down + size, right : right + size] * taps[:, :, down, right, None]
            total = total + (torch.floor(product * unit + half) / unit if is_rounded else product)
        return (x + self._active(self._product(self._active(total).clamp(0, _TOP), f"{name}.mix"))).clamp(0, _TOP)

    def __call__(self, stones: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [B, A] and values [B]. `stones` [B, A]: 1 own, 2 the opponent's."""
        size = round(stones.shape[1] ** 0.5)
        x = self._features(stones, size)
        for layer in range(1, 1 + sum(name.endswith(".near.bias") for name in self._weights)):
            x = self._spread(x, f"trunk.{layer}", size)
        logits = self._product(x, "policy.0.linear").flatten(1)
        board = self._active(self._product(x, "value.0.mix")).clamp(0, _TOP)
        edges = list(itertools.pairwise(region_edges(size)))
        regions = [board[:, :, slice(*rows), slice(*columns)].flatten(2) for rows in edges for columns in edges]
        means = [self._active(region.mean(2) * MEAN_SCALE).clamp(0, _TOP) for region in regions]
        units = torch.cat((*means, board.flatten(2).amax(2)), dim=1)
        hidden = functional.linear(
            units, self._weight("value.0.first", DENSE_BITS), self._weights["value.0.first.bias"]
        )
        last = self._weight("value.0.second", DENSE_BITS), self._weights["value.0.second.bias"]
        return logits, functional.linear(self._active(hidden).clamp(0, _TOP), *last).squeeze(1).tanh()


def _evaluated(model: DualNet, positions: PositionBatch, parts: Set[str]) -> tuple[Any, Any]:
    logits, values = np.zeros(positions.stones.shape, np.float32), np.zeros(len(positions))
    for name, side in (("black", BLACK), ("white", WHITE)) if model.config.dual else (("shared", None),):
        net = _Net(model.nets[name], parts)
        rows = np.flatnonzero((positions.to_move == side) | (side is None))
        for some in np.array_split(rows, -(-len(rows) // _BATCH)):
            stones = positions.stones[some] * positions.to_move[some, None].astype(np.int64)
            with torch.no_grad():
                found = net(torch.from_numpy(np.where(stones < 0, 2, stones)))
            logits[some], values[some] = (each.numpy() for each in found)
    return priors(logits, positions), values


def rows(model: DualNet, count: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each set of roundings."""
    positions = own_games(NetEvaluator(model, device=torch.device("cpu")), model.rules, count)
    exact = _evaluated(model, positions, set())
    single = [{part} for part in _PARTS]
    for parts in (set(_PARTS), *single, *({*_PARTS, *more} for more in ({_NEAREST}, {_FINER}, {_NEAREST, _FINER}))):
        errors = [found - known for found, known in zip(_evaluated(model, positions, parts), exact, strict=True)]
        yield {
            "rounded": ", ".join(sorted(parts)),
            "prior": float(np.abs(errors[0]).max()),
            "value": float(np.abs(errors[1]).max()),
            "mean of value": float(errors[1].mean()),
        }


def main() -> None:
    """Print the table."""
    parser = parser_of(__doc__)
    parser.add_argument("--model", default="default", help="a model file or `default`")
    parser.add_argument("--positions", type=int, default=2000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    show(rows(load_model(options.model)[0], options.positions), options.json)


if __name__ == "__main__":
    main()
