"""The runtime for NVIDIA GPUs: half precision, channels last, CUDA graphs of fixed batch sizes, pinned buffers.

Each net's rows of a batch go to the GPU on a stream of their own, so both nets and several batches run side by side.
Positions travel as bytes and become planes on the GPU; only logits and values come back.
"""

import threading
import warnings
from collections.abc import Sequence

import torch

from core.cores import cores
from core.evaluation import PositionBatch
from nets.config import Backend, Precision, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes.inference import InferenceNet, example_positions
from nets.runtimes.runtime import CopiesPositions, Piece, SizedNet, SizedNets

SIZES = (8, 32, 64, 128, 256, 512, 1024, 2048)
"""Batch sizes that are captured."""
_BATCHES = 2
"""Batches side by side: the GPU works on one while the other is copied."""
_CAPTURING = threading.Lock()
"""Allows one capture at a time in a process; two at once fail."""
_FAST_HALF = (7, 0)
"""The first compute capability that multiplies float16 faster than float32 (Volta)."""


class _Buffers(CopiesPositions):
    """A `SizedNet` on the GPU: positions and outputs on the device, and pinned copies of both on the host."""

    def __init__(self, net: InferenceNet, size: int, cells: int, device: torch.device) -> None:
        self._net = net
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._graph: torch.cuda.CUDAGraph | None = None
        self._host_inputs = [tensor.pin_memory() for tensor in example_positions(size, cells)]
        with torch.cuda.stream(self._stream):
            self._inputs = [tensor.to(device) for tensor in self._host_inputs]
            # Libraries choose their algorithms and reserve their memory in the first calls, which no graph may hold.
            for _ in range(3):
                self._outputs = net(*self._inputs)
        self._stream.synchronize()
        self._host_outputs = [torch.empty(tensor.shape).pin_memory() for tensor in self._outputs]
        self.positions = PositionBatch(*(tensor.numpy() for tensor in self._host_inputs))
        self.logits, self.values = (tensor.numpy() for tensor in self._host_outputs)

    def capture(self) -> None:
        """Capture a graph, which later runs replay. Raises `RuntimeError` on failure; runs then stay as they were."""
        graph = torch.cuda.CUDAGraph()
        with (
            _CAPTURING,
            torch.cuda.stream(self._stream),
            # Other threads continue meanwhile with streams of their own.
            torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"),
        ):
            outputs = self._net(*self._inputs)
        self._graph, self._outputs = graph, outputs

    def run(self) -> None:
        """See `SizedNet`."""
        with torch.cuda.stream(self._stream):
            for device_tensor, host_tensor in zip(self._inputs, self._host_inputs, strict=True):
                device_tensor.copy_(host_tensor, non_blocking=True)
            if self._graph is None:
                self._outputs = self._net(*self._inputs)
            else:
                self._graph.replay()
            for host_tensor, device_tensor in zip(self._host_outputs, self._outputs, strict=True):
                host_tensor.copy_(device_tensor, non_blocking=True)
        self._stream.synchronize()


class CudaRuntime:
    """torch with each net and its planes on the GPU."""

    backend = Backend.TORCH
    sizes: tuple[int, ...] = SIZES
    any_thread = True
    large_batches = True

    def __init__(self, model: DualNet, precision: Precision, device: torch.device) -> None:
        if precision is Precision.AUTO:
            native = torch.cuda.get_device_capability(device) >= _FAST_HALF
            precision = Precision.FP16 if native else Precision.FP32
        self.precision = precision
        self.lanes = _BATCHES
        self.threads = 2 * _BATCHES  # each net evaluates its part of a batch
        self.free_cores = max(1, cores() - 1)
        self._device, self._cells = device, model.rules.cells
        self._nets = {name: InferenceNet(model, name, precision).to(device) for name in model.nets}
        self._capture = True
        self._sized = SizedNets(self._make, SIZES)

    def _make(self, net: str, size: int) -> SizedNet:
        buffers = _Buffers(self._nets[net], size, self._cells, self._device)
        if self._capture:
            try:
                buffers.capture()
            except RuntimeError as error:
                self._capture = False
                first_line = str(error).strip().splitlines()[0]
                warnings.warn(
                    f"CUDA graphs cannot be captured ({first_line}); the nets run without them, which is slower",
                    RuntimeNotice,
                    stacklevel=2,
                )
        return buffers

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        self._sized.evaluate(net, pieces)
