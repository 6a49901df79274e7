"""The runtime for NVIDIA GPUs: half precision, channels last, CUDA graphs of fixed batch sizes, pinned buffers.

An evaluator has some lanes, each with a stream, buffers, and a graph for each net and batch size. All graphs are
captured before the first use; newer weights are copied into them. A batch is padded to the next size: rows cost a GPU
little, a launch does not. Positions travel as bytes and become planes on the GPU; only logits and values come back.
"""

import threading
import warnings
import weakref
from bisect import bisect_left
from collections.abc import Sequence
from queue import SimpleQueue

import numpy as np
import torch

from core.cores import cores
from core.evaluation import PositionBatch
from core.rules import Rules
from nets.config import Backend, NetConfig, Precision, RuntimeNotice
from nets.dual import DualNet
from nets.line_blocks import with_tables
from nets.runtimes.inference import InferenceNet
from nets.runtimes.runtime import Piece, scatter
from nets.runtimes.streams import Lane, alone, give_back, take_lanes

SIZES = (64, 128, 256, 512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096)
"""Batch sizes that are captured. Rows cost little up to about a thousand; beyond, a third of a
batch is padding at most."""
_LANES = 3
"""Two parts of a batch on the GPU, one for each net, and one that is copied."""
_WARM_UPS = 3
"""Calls in which libraries choose their algorithms and reserve their memory, which no graph may hold."""
_FAST_HALF = (7, 0)
"""The first compute capability that multiplies float16 faster than float32 (Volta)."""

Nets = dict[str, InferenceNet]


class _Buffers:
    """The arrays and graphs of a lane: positions and outputs on the device, and pinned copies of both on the host."""

    def __init__(self, nets: Nets, cells: int, device: torch.device) -> None:
        self._nets = nets
        self._graphs: dict[tuple[str, int], torch.cuda.CUDAGraph] = {}
        blank = PositionBatch.empty(SIZES[-1], cells)
        arrays = blank.stones, blank.to_move, blank.last_moves
        self._host_inputs = [torch.from_numpy(array).pin_memory() for array in arrays]
        self._inputs = [tensor.to(device) for tensor in self._host_inputs]
        host_outputs = torch.zeros(SIZES[-1], cells), torch.zeros(SIZES[-1])
        self._outputs = [tensor.to(device, copy=True) for tensor in host_outputs]
        self._host_outputs = [tensor.pin_memory() for tensor in host_outputs]
        self.positions = PositionBatch(*(tensor.numpy() for tensor in self._host_inputs))
        self._filled = 0

    def capture(self, stream: torch.cuda.Stream) -> None:
        """Capture a graph of each net and size. Raises `RuntimeError`; batches then run without graphs."""
        # Graphs of a lane never run side by side, and hand nothing to each other, so they share their memory.
        pool = torch.cuda.graph_pool_handle()
        graphs = {}
        for size in reversed(SIZES):
            for name in self._nets:
                with torch.cuda.stream(stream):
                    for _ in range(_WARM_UPS):
                        self._evaluate(self._nets[name], size)
                stream.synchronize()
                graph = graphs[name, size] = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool, stream=stream, capture_error_mode="thread_local"):
                    self._evaluate(self._nets[name], size)
        self._graphs = graphs

    def _evaluate(self, net: InferenceNet, size: int) -> None:
        with torch.no_grad():
            outputs = net(*(tensor[:size] for tensor in self._inputs))
            for room, output in zip(self._outputs, outputs, strict=True):
                room[:size].copy_(output)

    def run(self, lane: Lane, name: str, pieces: Sequence[Piece], exact: Nets | None) -> None:
        """Evaluate pieces on a lane, with the nets `exact` in place of the graphs."""
        count = 0
        for rows, positions, _, _ in pieces:
            first, count = count, count + len(rows)
            # With "raise" numpy would write into a copy first.
            np.take(positions.stones, rows, axis=0, out=self.positions.stones[first:count], mode="clip")
            self.positions.to_move[first:count] = positions.to_move[rows]
            self.positions.last_moves[first:count] = positions.last_moves[rows]
        self._filled = count
        size = SIZES[bisect_left(SIZES, count)]
        graph = None if exact else self._graphs.get((name, size))
        with lane.work():
            for device_tensor, host_tensor in zip(self._inputs, self._host_inputs, strict=True):
                device_tensor[:count].copy_(host_tensor[:count], non_blocking=True)
            if graph is not None:
                graph.replay()
            else:
                self._evaluate((exact or self._nets)[name], size)
            for host_tensor, device_tensor in zip(self._host_outputs, self._outputs, strict=True):
                host_tensor[:count].copy_(device_tensor[:count], non_blocking=True)
        logits, values = (tensor[:count].numpy() for tensor in self._host_outputs)
        scatter(pieces, logits, values)

    def is_finite(self) -> bool:
        """Return True if all answers of the last run are."""
        return all(bool(tensor[: self._filled].isfinite().all()) for tensor in self._host_outputs)


class _Captured:
    """Nets on a GPU with their buffers and graphs, for the weights of any model of one kind and any lanes."""

    def __init__(self, model: DualNet, precision: Precision, device: torch.device, lanes: Sequence[Lane]) -> None:
        self.nets = _nets_of(model, precision, device)
        self.buffers = [_Buffers(self.nets, model.rules.cells, device) for _ in lanes]
        try:
            with alone(device):
                for lane, buffers in zip(lanes, self.buffers, strict=True):
                    buffers.capture(lane.stream)
        except RuntimeError as error:
            first_line = str(error).strip().splitlines()[0]
            warnings.warn(
                f"CUDA graphs cannot be captured ({first_line}); the nets run without them, which is slower",
                RuntimeNotice,
                stacklevel=4,
            )

    def load(self, fresh: Nets, device: torch.device) -> None:
        """Copy weights to where the graphs read them."""
        with alone(device):
            for name, net in self.nets.items():
                net.load_state_dict(fresh[name].state_dict())
            torch.cuda.synchronize(device)


def _nets_of(model: DualNet, precision: Precision, device: torch.device) -> Nets:
    nets = {name: InferenceNet(model, name, precision).to(device) for name in model.nets}
    if model.config.has_lines:
        for net in nets.values():
            with_tables(net)
    return nets


_Kind = tuple[NetConfig, Rules, Precision, torch.device]
"""The properties of nets on which their graphs depend."""
_idle: list[tuple[_Kind, _Captured]] = []
"""Captured nets that nobody uses, the newest last; a gate in each round would else capture the same again."""
_IDLE = threading.RLock()
_MOST_IDLE = 8


def _take_idle(kind: _Kind) -> _Captured | None:
    with _IDLE:
        for entry in reversed(_idle.copy()):
            if entry[0] == kind and entry in _idle:
                _idle.remove(entry)
                return entry[1]
        return None


def card_precision(device: torch.device) -> Precision:
    """Return the precision that a GPU is fastest in: bfloat16, before its time float16, and before that float32."""
    if torch.cuda.is_bf16_supported(including_emulation=False):
        return Precision.BF16
    return Precision.FP16 if torch.cuda.get_device_capability(device) >= _FAST_HALF else Precision.FP32


class CudaRuntime:
    """torch with each net and its planes on the GPU."""

    backend = Backend.TORCH
    sizes: tuple[int, ...] = (SIZES[-1],)
    any_thread = True
    large_batches = True
    lanes = _LANES
    threads = _LANES  # as many as lanes: none waits for another

    def __init__(self, model: DualNet, precision: Precision, device: torch.device) -> None:
        if model.config.has_lines:
            precision = Precision.FP32
        elif precision is Precision.AUTO:
            precision = card_precision(device)
        self.precision = precision
        self.free_cores = cores()
        self._device = device
        kind = model.config, model.rules, precision, device
        self._lanes = take_lanes(device, _LANES)
        found = _take_idle(kind)
        self._captured = found or _Captured(model, precision, device, self._lanes)
        self._end = weakref.finalize(self, _end, self._lanes, kind, self._captured)
        self._end.atexit = False
        self._spare: Nets | None = None
        """Nets in float32 for the case that float16 overflows."""
        self._exact: Nets | None = None
        """Those nets, after it has."""
        self._falling = threading.Lock()
        self.load(model)
        self._free: SimpleQueue[tuple[Lane, _Buffers]] = SimpleQueue()
        for pair in zip(self._lanes, self._captured.buffers, strict=True):
            self._free.put(pair)

    def load(self, model: DualNet) -> None:
        """See `Reloads`."""
        self._captured.load(_nets_of(model, self.precision, self._device), self._device)
        self._spare, self._exact = None, None
        if self.precision is Precision.FP16:
            self._spare = _nets_of(model, Precision.FP32, self._device)

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        lane, buffers = self._free.get()
        try:
            buffers.run(lane, net, pieces, exact := self._exact)
            if exact is None and self._spare is not None and not buffers.is_finite():
                self._fall_back()
                buffers.run(lane, net, pieces, self._exact)
        finally:
            self._free.put((lane, buffers))

    def _fall_back(self) -> None:
        with self._falling:
            if self._exact is None:
                self._exact = self._spare
                warnings.warn(
                    "a net overflows in fp16, so it runs in fp32 without CUDA graphs, which is slower; "
                    "--precision fp32 has graphs",
                    RuntimeNotice,
                    stacklevel=2,
                )

    def close(self) -> None:
        """See `Reloads`; an evaluator that nobody uses any more does it too."""
        self._end()


def _end(lanes: Sequence[Lane], kind: _Kind, captured: _Captured) -> None:
    give_back(lanes)
    with _IDLE:
        _idle.append((kind, captured))
        del _idle[:-_MOST_IDLE]
