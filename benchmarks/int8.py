"""8-bit integers against bfloat16 on this machine: agreement with torch in float32, and speed. They are not offered.

    python -m benchmarks.int8 [--model PLAYER] [--rounds 25]

It needs NNCF (`pip install nncf`), which is no dependency of the project. The quantisation is static: weights with a
scale for each channel, activations with a scale for each tensor, ranges over 4,000 positions of the model's own games,
biases corrected. Before that the channels of the residual stream and inside each block are scaled to similar ranges,
which changes nothing in float32. The stem, the heads and the sums of the residual blocks stay in bfloat16.

The bar is that of bfloat16: 0.02 for the worst prior and the worst value, 99 % equal top moves; at 1.2 times its speed.
"""

import argparse
import importlib
import logging
import sys
import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.backends import own_games, priors
from benchmarks.graph import evaluation, rates
from core.evaluation import PositionBatch
from curriculum.arena.players import model_path
from nets.checkpoint import load_model
from nets.config import Backend, Precision, RuntimeChoice
from nets.dual import DualNet
from nets.planes import encode
from nets.runtimes.conversion import converted
from nets.runtimes.inference import MergedHeads, PlanesNet
from nets.runtimes.net_evaluator import NetEvaluator
from nets.runtimes.openvino import OpenVino, OpenVinoRuntime
from nets.runtimes.runtime import Piece
from nets.runtimes.runtime_evaluator import rows_by_net

_BATCHES = (8, 24, 64, 128)
_CALIBRATION = 4000
_CHUNK = 100
_POSITIONS = 10_000
_SHARE = 0.3
"""The power of a channel's range that goes into the weights that read it."""
_CPU = torch.device("cpu")
_KINDS = {
    "int8, all of the tower": ("first", "second"),
    "int8, first of each block": ("first",),
}
"""The convolutions of each residual block that become integers."""


def nncf() -> Any:
    """Return NNCF, or end with one line."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None is how an import is refused
    try:
        module: Any = importlib.import_module("nncf")
    except ImportError as error:
        raise SystemExit(f"this needs NNCF, in an environment of its own: pip install nncf ({error})") from error
    module.set_log_level(logging.ERROR)
    return module


def planes_of(positions: PositionBatch, model: DualNet) -> Tensor:
    """Return the planes [B, P, D, D] of positions."""
    arrays = (torch.from_numpy(array) for array in (positions.stones, positions.to_move, positions.last_moves))
    return encode(*arrays, model.config.planes, torch.float32)


def equalise(net: MergedHeads, planes: Tensor) -> None:
    """Scale the channels of a folded net to similar ranges over `planes`; in float32 it computes the same as before."""

    def written_by(conv: nn.Conv2d, scale: Tensor) -> None:
        assert conv.bias is not None
        conv.weight.data /= scale.view(-1, 1, 1, 1)
        conv.bias.data /= scale

    def read_by(conv: nn.Conv2d, scale: Tensor) -> None:
        conv.weight.data *= scale.view(1, -1, 1, 1)

    def scale_of(largest: Tensor) -> Tensor:
        largest = largest.clamp(min=1e-3)
        return (largest / largest.max()) ** _SHARE

    stem, *blocks = net.trunk
    x = stem(planes)
    stream, inside = x.amax((0, 2, 3)), []
    for block in blocks:
        inside.append(scale_of(block.first(x).amax((0, 2, 3))))
        x = block(x)
        stream = torch.maximum(stream, x.amax((0, 2, 3)))
    scale = scale_of(stream)
    written_by(stem.conv, scale)
    read_by(net.heads.conv.conv, scale)
    for block, within in zip(blocks, inside, strict=True):
        read_by(block.first.conv, scale)
        written_by(block.first.conv, within)
        read_by(block.second.conv, within)
        written_by(block.second.conv, scale)


def quantised(
    library: Any, openvino: OpenVino, model: DualNet, name: str, positions: PositionBatch, which: tuple[str, ...]
) -> Any:
    """Return a net's graph with some convolutions of each block (`first`, `second`) in integers."""
    net, planes = PlanesNet(model, name, refined=False).eval(), planes_of(positions, model)
    equalise(net.net, planes)
    shape = (model.rules.size, model.rules.size, net.planes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = openvino.module.convert_model(net, example_input=torch.zeros(2, *shape))
        graph.reshape([-1, *shape])
        kept = [
            node.get_friendly_name()
            for node in graph.get_ordered_ops()
            if node.get_type_name() in ("Add", "MatMul", "Multiply", "ReduceSum")
            or (
                node.get_type_name() == "Convolution"
                and not any(f".{part}.conv/" in node.get_friendly_name() for part in which)
            )
        ]
        rows = planes.permute(0, 2, 3, 1).contiguous().numpy()
        largest = library.quantization.range_estimator.RangeEstimatorParametersSet.MINMAX
        result = library.quantize(
            graph,
            library.Dataset([rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK)]),
            subset_size=len(rows) // _CHUNK,
            preset=library.QuantizationPreset.MIXED,
            fast_bias_correction=False,
            ignored_scope=library.IgnoredScope(names=kept, validate=False),
            advanced_parameters=library.AdvancedQuantizationParameters(
                activations_range_estimator_params=largest,
                overflow_fix=library.quantization.advanced_parameters.OverflowFix.DISABLE,
            ),
        )
    return openvino.with_input(result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="paper", help="a model file, a run folder or `paper`")
    parser.add_argument("--rounds", type=int, default=25, help="of 20 ms for each kind and batch size")
    options = parser.parse_args()
    if (path := model_path(options.model)) is None:
        parser.error(f"{options.model} names no model")
    library, model = nncf(), load_model(path)[0]
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    openvino = OpenVino(Precision.AUTO)
    print(f"{openvino.core.get_property('CPU', 'FULL_DEVICE_NAME')}, on {_POSITIONS:,} positions")
    exact = NetEvaluator(model, RuntimeChoice(backend=Backend.TORCH, precision=Precision.FP32), device=_CPU)
    positions = own_games(exact, model.rules).rows(slice(_POSITIONS))
    logits, values = exact.evaluate(positions)
    shares = priors(logits, positions)
    others = own_games(exact, model.rules, seed=2)
    exact.close()
    drawn = {name: others.rows(rows) for name, rows in rows_by_net(others.to_move, model.config.dual)}
    kinds = {str(openvino.precision): converted(model, openvino)}
    for kind, which in _KINDS.items():
        kinds[kind] = {
            name: quantised(library, openvino, model, name, part.rows(slice(_CALIBRATION)), which)
            for name, part in drawn.items()
        }
    print(f"{'agreement':27}    prior    value  top move")
    runtimes = {kind: OpenVinoRuntime(openvino, graphs, model.config.planes) for kind, graphs in kinds.items()}
    for kind, runtime in runtimes.items():
        found, answers = np.empty_like(logits), np.empty_like(values)
        for name, rows in rows_by_net(positions.to_move, model.config.dual):
            for start in range(0, len(rows), runtime.sizes[-1]):
                part = rows[start : start + runtime.sizes[-1]]
                runtime.evaluate(name, [Piece(part, positions, found, answers)])
        ours = priors(found, positions)
        print(
            f"{kind:27}{np.abs(ours - shares).max():9.4f}{np.abs(answers - values).max():9.4f}"
            f"{(ours.argmax(axis=1) == shares.argmax(axis=1)).mean():10.2%}"
        )
    net = next(iter(model.nets))
    for batch in _BATCHES:
        pairs = {
            kind: [evaluation(runtime, net, batch, model.rules.cells) for _ in range(2)]
            for kind, runtime in runtimes.items()
        }
        found_rates = rates(pairs, batch, options.rounds)
        for (cores, kind), each in sorted(found_rates.items(), reverse=True):
            times = each / found_rates[cores, next(iter(kinds))]
            print(f"batch {batch}, {cores}, {kind}: {each:,.0f} positions a second, {times:.2f} times", flush=True)


if __name__ == "__main__":
    main()
