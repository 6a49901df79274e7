"""The runtime of ONNX Runtime: five times as fast as torch on single positions, slower on batches of 32 and more."""

import importlib
import io
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from core.cores import cores
from nets.config import Backend, Precision
from nets.dual import DualNet
from nets.runtimes.inference import InferenceNet, example_positions
from nets.runtimes.runtime import Piece, RuntimeUnavailableError, gathered, scatter

_INPUTS = ("stones", "to_move", "last_moves")
_OUTPUTS = ("logits", "values")
_OPSET = 17


class OnnxRuntime:
    """ONNX Runtime with each net as a graph, in a session that runs on the calling thread."""

    backend = Backend.ONNXRUNTIME
    sizes: tuple[int, ...] = (256,)
    any_thread = True
    large_batches = False

    def __init__(self, model: DualNet, precision: Precision) -> None:
        """Raises `RuntimeUnavailableError`."""
        if precision is Precision.BF16:
            raise RuntimeUnavailableError("ONNX Runtime computes in fp32 only, not in bf16")
        self.precision = Precision.FP32
        self.lanes = self.threads = cores()
        self.free_cores = 1
        try:
            onnxruntime: Any = importlib.import_module("onnxruntime")
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            self._sessions: dict[str, Any] = {
                name: onnxruntime.InferenceSession(_exported(model, name), options, providers=["CPUExecutionProvider"])
                for name in model.nets
            }
        except Exception as error:  # its exceptions, the exporter's and protobuf's share no other class
            first_line = (str(error).strip() or repr(error)).splitlines()[0]
            raise RuntimeUnavailableError(f"ONNX Runtime cannot be used ({first_line})") from error

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        batch = gathered(pieces)
        arrays = {"stones": batch.stones, "to_move": batch.to_move, "last_moves": batch.last_moves}
        session = self._sessions[net]
        # The exporter leaves out an input that no plane needs.
        given = {each.name: arrays[each.name] for each in session.get_inputs()}
        scatter(pieces, *session.run(_OUTPUTS, given))


def _exported(model: DualNet, name: str) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own deprecation
        torch.onnx.export(
            InferenceNet(model, name).eval(),
            example_positions(2, model.rules.cells),
            file,  # type: ignore[arg-type]  # its stub lacks open files
            dynamo=False,
            opset_version=_OPSET,
            input_names=_INPUTS,
            output_names=_OUTPUTS,
            dynamic_axes={name: {0: "batch"} for name in (*_INPUTS, *_OUTPUTS)},
        )
    return file.getvalue()
