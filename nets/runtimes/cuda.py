"""Judging on an NVIDIA GPU: half precision, channels last, CUDA graphs of fixed batch sizes, pinned buffers.

Each net's rows of a batch go to the card on a stream of their own, so both nets and several batches run side by side.
Positions travel as bytes and become planes there; only logits and values come back.
"""

import threading
import warnings
from collections.abc import Sequence

import torch

from nets.config import Backend, Precision, RuntimeNotice
from nets.dual import DualNet
from nets.runtimes.devices import cores
from nets.runtimes.inference import JudgedPositions, example_positions
from nets.runtimes.runtime import Piece, SizedNet, SizedNets

SIZES = (8, 32, 64, 128, 256, 512, 1024, 2048)
"""Batch sizes that are captured."""
_BATCHES = 2
"""Batches side by side: the card works on one while the other is copied."""
_CAPTURING = threading.Lock()
"""One capture at a time in a process, or it fails."""
_FAST_HALF = (7, 0)
"""The first compute capability that multiplies float16 faster than float32 (Volta)."""


class _Buffers:
    """A `SizedNet` on the card: positions and answers there, and pinned copies of both here."""

    def __init__(self, net: JudgedPositions, size: int, cells: int, device: torch.device) -> None:
        self._net = net
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._graph: torch.cuda.CUDAGraph | None = None
        here = [tensor.pin_memory() for tensor in example_positions(size, cells)]
        with torch.cuda.stream(self._stream):
            self._inputs = [tensor.to(device) for tensor in here]
            # Libraries choose their algorithms and reserve their memory in the first calls, which no graph may hold.
            for _ in range(3):
                self._outputs = net(*self._inputs)
        self._stream.synchronize()
        self._inputs_here = here
        self._outputs_here = [torch.empty(tensor.shape).pin_memory() for tensor in self._outputs]
        self.stones, self.to_move, self.last_moves = (tensor.numpy() for tensor in here)
        self.logits, self.values = (tensor.numpy() for tensor in self._outputs_here)

    def capture(self) -> None:
        """Has later runs replay one graph. Raises `RuntimeError`, and leaves runs as they were, where this fails."""
        graph = torch.cuda.CUDAGraph()
        with (
            _CAPTURING,
            torch.cuda.stream(self._stream),
            # Other threads go on meanwhile with streams of their own.
            torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"),
        ):
            outputs = self._net(*self._inputs)
        self._graph, self._outputs = graph, outputs

    def run(self) -> None:
        """See `SizedNet`."""
        with torch.cuda.stream(self._stream):
            for there, here in zip(self._inputs, self._inputs_here, strict=True):
                there.copy_(here, non_blocking=True)
            if self._graph is None:
                self._outputs = self._net(*self._inputs)
            else:
                self._graph.replay()
            for here, there in zip(self._outputs_here, self._outputs, strict=True):
                here.copy_(there, non_blocking=True)
        self._stream.synchronize()


class CudaRuntime:
    """Each net with its planes made on the card."""

    backend = Backend.TORCH
    sizes: tuple[int, ...] = SIZES
    any_thread = True

    def __init__(self, model: DualNet, precision: Precision, device: torch.device) -> None:
        if precision is Precision.AUTO:
            native = torch.cuda.get_device_capability(device) >= _FAST_HALF
            precision = Precision.FP16 if native else Precision.FP32
        self.precision = precision
        self.lanes = _BATCHES
        self.threads = 2 * _BATCHES  # a batch is judged in two parts
        self.free_cores = max(1, cores() - 1)
        self._device, self._cells = device, model.rules.cells
        self._nets = {name: JudgedPositions(model, name, precision).to(device) for name in model.nets}
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
                    f"CUDA graphs cannot be captured ({first_line}); the nets run without, which is slower",
                    RuntimeNotice,
                    stacklevel=2,
                )
        return buffers

    def judge(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        self._sized.judge(net, pieces)
