"""Judging with OpenVINO: the fastest runtime for these nets on x86 processors."""

import importlib
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from nets.config import Backend, Precision
from nets.devices import cores
from nets.dual import DualNet
from nets.precision import refine
from nets.runtimes import JudgedPositions, Piece, RuntimeUnavailableError, SizedNets, example_positions

_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Batch sizes that are compiled: fixed shapes run up to twice as fast as free ones."""


def _import_openvino() -> Any:
    # On import OpenVINO's conversion tools report to their makers over the network, if this package is there.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None is how an import is refused
    try:
        return importlib.import_module("openvino")
    except (ImportError, OSError) as error:
        raise RuntimeUnavailableError(f"OpenVINO cannot be used ({error})") from error


class _Request:
    """A `SizedNet`: an inference request that shares its arrays with OpenVINO."""

    def __init__(self, openvino: Any, compiled: Any) -> None:
        self._request = compiled.create_infer_request()
        self.stones, self.to_move, self.last_moves = (
            np.zeros_like(tensor.data) for tensor in self._request.input_tensors
        )
        for index, array in enumerate((self.stones, self.to_move, self.last_moves)):
            self._request.set_input_tensor(index, openvino.Tensor(array, shared_memory=True))
        self.logits, self.values = (tensor.data for tensor in self._request.output_tensors)

    def run(self) -> None:
        """See `SizedNet`."""
        self._request.infer()


class OpenVinoRuntime:
    """Each net as a graph with its planes inside, compiled so that every thread runs it on one core."""

    backend = Backend.OPENVINO
    sizes: tuple[int, ...] = _SIZES
    any_thread = True

    def __init__(self, model: DualNet, precision: Precision) -> None:
        """Raises `RuntimeUnavailableError`."""
        self._openvino = _import_openvino()
        self.lanes = self.threads = cores()
        self.free_cores = 1
        self._cells = model.rules.cells
        try:
            self._core = self._openvino.Core()
            native = "BF16" in self._core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
            if precision is Precision.AUTO:
                precision = Precision.BF16 if native else Precision.FP32
            elif precision is Precision.BF16 and not native:
                raise RuntimeUnavailableError("OpenVINO computes in fp32 on this processor, not in bf16")
            self.precision = precision
            self._graphs = {name: self._convert(model, name) for name in model.nets}
            self._sized = SizedNets(self._make, _SIZES)
            self._make(next(iter(self._graphs)), 1)
        except RuntimeUnavailableError:
            raise
        except RuntimeError as error:
            first_line = str(error).strip().splitlines()[0]
            raise RuntimeUnavailableError(f"OpenVINO fails here ({first_line})") from error

    def _convert(self, model: DualNet, name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the tracer's own deprecation
            net = JudgedPositions(model, name).eval()
            if self.precision is Precision.BF16:
                refine(net)
            return self._openvino.convert_model(net, example_input=example_positions(2, self._cells))

    def _make(self, net: str, size: int) -> _Request:
        graph = self._graphs[net].clone()
        graph.reshape({0: [size, self._cells], 1: [size], 2: [size, 2]})
        options = {
            # A graph of one stream on one core runs on the thread that asks, without a hand-over to another and back.
            "NUM_STREAMS": 1,
            "INFERENCE_NUM_THREADS": 1,
            "INFERENCE_PRECISION_HINT": "bf16" if self.precision is Precision.BF16 else "f32",
            "ENABLE_CPU_PINNING": False,
        }
        return _Request(self._openvino, self._core.compile_model(graph, "CPU", options))

    def judge(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        self._sized.judge(net, pieces)
