"""Models as files for other programs (ONNX, TorchScript, plain weights), and the check of their answers.

A file holds one net, from planes to logits and value. A dual model has two, one for each side to move.
"""

import importlib
import io
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from core.compiled.line_nets.patterns import neighbours
from core.evaluation import PositionBatch
from core.files.atomic import atomic_path
from core.rules import BLACK, NO_CELL, WHITE
from nets.blocks import folded
from nets.config import PLANE_COUNT
from nets.dual import DualNet, PolicyValueNet
from nets.line_blocks import LineFeatureBlock
from nets.planes import encode

_OPSET = 17
_BATCH = 500
_OPENING_STONES = 24
_Floats = NDArray[np.float32]
_Run = Callable[[_Floats], tuple[_Floats, _Floats]]


class ExportFormat(StrEnum):
    """The format of an exported file."""

    ONNX = "onnx"
    """A graph that ONNX Runtime, OpenVINO, TensorRT and others run."""
    SAFETENSORS = "safetensors"
    """The weights alone, batch norms folded, by the names of `nets.dual`."""
    TORCHSCRIPT = "torchscript"
    """A program that torch runs without this package, in Python and C++."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The largest differences between a program's answers and torch's, in float32."""

    program: str
    positions: int
    prior: float
    value: float


class _PlainLineFeatures(nn.Module):
    """The features of line patterns in plain operations: the function of each pattern at each cell, no table."""

    def __init__(self, block: LineFeatureBlock, size: int) -> None:
        super().__init__()
        self._block = block
        around = neighbours(size)
        self.register_buffer("around", torch.from_numpy(around.reshape(-1).copy()), persistent=False)
        self.around: Tensor
        self._shape = around.shape

    def forward(self, planes: Tensor) -> Tensor:
        """See `LineFeatureBlock`."""
        cells, ways, reach = self._shape
        size = planes.shape[2]
        stones = planes[:, :2].flatten(2)
        empty = torch.zeros_like(stones[:, :1])
        # A cell that no board has stands for all cells outside.
        inside = torch.cat((stones, empty), dim=1)
        outside = torch.cat((torch.zeros_like(stones[:, :, :1]), torch.ones_like(empty[:, :, :1])), dim=1)
        digits = torch.cat((inside, outside), dim=2)
        seen = digits.index_select(2, self.around).reshape(-1, 3, cells * ways, reach)
        rows = self._block.rows_of(seen.permute(0, 2, 3, 1).reshape(-1, cells * ways, 3 * reach))
        summed = rows.reshape(-1, cells, ways, rows.shape[-1]).sum(2)
        return self._block.clamped(summed).reshape(-1, size, size, rows.shape[-1]).permute(0, 3, 1, 2)


def export_net(model: DualNet, name: str) -> PolicyValueNet:
    """Return a net for export: its batch norms folded, of plain operations alone; from planes [B, P, D, D]."""
    net = folded(model.nets[name])
    assert isinstance(net, PolicyValueNet)
    if isinstance(net.trunk[0], LineFeatureBlock):
        net.trunk[0] = _PlainLineFeatures(net.trunk[0], model.rules.size)
    return net.eval().requires_grad_(False)


def write_export(model: DualNet, name: str, path: Path, kind: ExportFormat) -> None:
    """Write a net of the model, whole or not at all. ONNX needs the package `onnx`. Raises `OSError`."""
    net = export_net(model, name)
    example = torch.zeros(2, PLANE_COUNT[model.config.planes], model.rules.size, model.rules.size)
    facts = description(model, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # exporters warn of their own deprecation
        if kind is ExportFormat.ONNX:
            data = _onnx(net, example, facts)
        elif kind is ExportFormat.TORCHSCRIPT:
            file = io.BytesIO()
            traced: Any = torch.jit.trace(net, example)  # type: ignore[no-untyped-call]
            torch.jit.save(traced, file, _extra_files=facts)
            data = file.getvalue()
        else:
            from safetensors.torch import save

            data = save({key: tensor.contiguous() for key, tensor in net.state_dict().items()}, dict(facts))
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def description(model: DualNet, name: str) -> Mapping[str, str]:
    """Return the facts that a program needs to use an exported net; they are in the file too."""
    return {
        "board_size": str(model.rules.size),
        "connect": str(model.rules.connect),
        "variant": model.rules.variant,
        "planes": str(model.config.planes),
        "evaluates": {"black": "positions with black to move", "white": "positions with white to move"}.get(
            name, "all positions"
        ),
        "layers": json.dumps({part: getattr(model.config, part) for part in ("trunk", "policy_head", "value_head")}),
    }


def _onnx(net: nn.Module, example: Tensor, facts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    torch.onnx.export(
        net,
        (example,),
        file,  # type: ignore[arg-type]  # its stub lacks open files
        dynamo=False,
        opset_version=_OPSET,
        input_names=["planes"],
        output_names=["logits", "value"],
        dynamic_axes={each: {0: "batch"} for each in ("planes", "logits", "value")},
    )
    onnx: Any = importlib.import_module("onnx")
    graph = onnx.load_from_string(file.getvalue())
    for key, text in facts.items():
        entry = graph.metadata_props.add()
        entry.key, entry.value = key, text
    data: bytes = graph.SerializeToString()
    return data


def check_export(model: DualNet, name: str, path: Path, kind: ExportFormat, positions: int) -> list[Agreement]:
    """Compare an exported file with the model on random positions, in each program that runs it and is installed.

    The model's own answers are those of torch in float32, batch norms not folded.
    """
    runners = _runners(path, kind)
    net = model.nets[name].eval()
    worst = {program: [0.0, 0.0] for program in runners}
    with torch.inference_mode():
        for first in range(0, positions, _BATCH):
            count = min(_BATCH, positions - first)
            planes = random_planes(model, name, count, seed=first)
            logits, values = net(planes)
            priors = torch.softmax(logits, 1).numpy()
            for program, run in runners.items():
                found_logits, found_values = run(planes.contiguous().numpy())
                found = torch.softmax(torch.from_numpy(np.array(found_logits)), 1).numpy()
                differences = (np.abs(found - priors).max(), np.abs(found_values.ravel() - values.numpy()).max())
                worst[program] = [max(pair) for pair in zip(worst[program], map(float, differences), strict=True)]
    return [Agreement(program, positions, *pair) for program, pair in worst.items()]


def _runners(path: Path, kind: ExportFormat) -> dict[str, _Run]:
    """Return the programs that run a file, by their names."""
    if kind is ExportFormat.SAFETENSORS:
        return {}
    if kind is ExportFormat.TORCHSCRIPT:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module: Any = torch.jit.load(str(path))  # type: ignore[no-untyped-call]

        def run_torch(planes: _Floats) -> tuple[_Floats, _Floats]:
            logits, values = module(torch.from_numpy(planes))
            return logits.numpy(), values.numpy()

        return {"torch": run_torch}
    found: dict[str, _Run] = {}
    try:
        onnxruntime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        pass
    else:
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        found["ONNX Runtime"] = lambda planes: tuple(session.run(["logits", "value"], {"planes": planes}))
    from nets.config import Precision
    from nets.runtimes.openvino import OpenVino
    from nets.runtimes.runtime import RuntimeUnavailableError

    try:
        openvino = OpenVino(Precision.FP32)
    except RuntimeUnavailableError:
        return found
    compiled = openvino.core.compile_model(
        openvino.core.read_model(str(path)), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )

    def run_openvino(planes: _Floats) -> tuple[_Floats, _Floats]:
        outputs = compiled(planes)
        return outputs["logits"], outputs["value"]

    found["OpenVINO"] = run_openvino
    return found


def random_planes(model: DualNet, name: str, count: int, seed: int) -> Tensor:
    """Return the planes [B, P, D, D] of random positions that the net evaluates, float32, with 0 to A - 1 stones."""
    colours = {"black": (BLACK,), "white": (WHITE,)}.get(name, (BLACK, WHITE))
    random, cells = np.random.default_rng(seed), model.rules.cells
    batch = PositionBatch.empty(count, cells)
    for row in range(count):
        colour = colours[row % len(colours)]
        # Every other pair of rows is from the first moves, where no side has won yet.
        stones = int(random.integers(0, cells if row % 4 < 2 else min(cells, _OPENING_STONES)))
        stones -= (stones + (colour == WHITE)) % 2  # black moves after an even number
        moves = random.permutation(cells)[: max(stones, 0)]
        batch.stones[row, moves[0::2]], batch.stones[row, moves[1::2]] = BLACK, WHITE
        batch.to_move[row] = colour
        last = [*moves[::-1][:2], NO_CELL, NO_CELL]
        batch.last_moves[row] = last[:2]
    stones_of_rows, to_move, last_moves = map(torch.from_numpy, (batch.stones, batch.to_move, batch.last_moves))
    return encode(stones_of_rows, to_move, last_moves, model.config.planes, torch.float32).contiguous()
