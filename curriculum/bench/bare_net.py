"""The bare nets: the speed of a library with a model's net alone, which a search is measured against.

Planes are ready, nothing is copied, and one call evaluates a batch on all cores.
"""

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch

from core.cores import cores
from curriculum.bench.positions import long_games, mixed_positions
from curriculum.bench.rounds import median_rates, rate_of
from curriculum.reporting import Context
from nets.blocks import channels_last, folded
from nets.config import PLANE_COUNT, Backend
from nets.dispatch import net_names
from nets.dual import DualNet
from nets.runtimes.cuda import CudaRuntime
from nets.runtimes.openvino import OpenVino, unavailable_where_it_fails
from nets.runtimes.precision import DTYPES
from nets.runtimes.runtime import Piece, Runtime

_CPU_BATCHES = (8, 32, 128, 512)
_GPU_BATCHES = (512, 2_048, 8_192)
_ROUNDS = 3
_GAMES = 16


class BareNet:
    """One net of a model, evaluated in the library and the precision of a runtime, at its best batch size."""

    def __init__(self, model: DualNet, runtime: Runtime, seconds: float, context: Context) -> None:
        """The choice of the batch size takes `seconds`. Raises `Interrupted`."""
        batches = _GPU_BATCHES if isinstance(runtime, CudaRuntime) else _CPU_BATCHES
        make = _MAKERS.get(runtime.backend, _torch_call)
        calls = {batch: partial(_rate, make(model, runtime, batch), batch) for batch in batches}
        rates = median_rates("the bare nets", calls, seconds / len(batches), _ROUNDS, context)
        self.batch = max(rates, key=lambda batch: rates[batch])
        """Positions of a batch."""
        self.rate = calls[self.batch]
        """Returns evaluated positions a second, measured for some seconds."""


def _rate(call: Callable[[], object], batch: int, seconds: float) -> float:
    def evaluated() -> int:
        call()
        return batch

    evaluated()
    return rate_of(evaluated, seconds)


def _net_and_planes(model: DualNet, batch: int) -> tuple[torch.nn.Module, torch.Tensor]:
    net = channels_last(folded(next(iter(model.nets.values())))).requires_grad_(False)
    size, count = model.rules.size, PLANE_COUNT[model.config.planes]
    # Zeros and ones, at most a one for each cell: line-pattern nets read their table with them.
    stones = torch.randint(0, 6, (batch, 1, size, size))
    planes = (stones == torch.arange(1, count + 1).view(1, count, 1, 1)).float()
    return net, planes.contiguous(memory_format=torch.channels_last)


def _openvino_call(model: DualNet, runtime: Runtime, batch: int) -> Callable[[], object]:
    openvino = OpenVino(runtime.precision)
    net, planes = _net_and_planes(model, batch)
    with warnings.catch_warnings(), unavailable_where_it_fails():
        warnings.simplefilter("ignore")  # the tracer warns of its own deprecation
        graph = openvino.module.convert_model(net, example_input=planes)
        graph.reshape(list(planes.shape))
        options = {"INFERENCE_NUM_THREADS": cores(), "ENABLE_CPU_PINNING": True, "PERFORMANCE_HINT": "LATENCY"}
        request = openvino.compiled(graph, batch, **options).create_infer_request()
    request.set_input_tensor(openvino.module.Tensor(planes.contiguous().numpy()))
    call: Callable[[], object] = request.infer
    return call


def _kernels_call(model: DualNet, runtime: Runtime, batch: int) -> Callable[[], object]:
    threads = ThreadPoolExecutor(cores())
    # Unlike other nets, these take longer for stones anywhere: their patterns are not in the processor's caches.
    positions = mixed_positions(long_games(model.rules, _GAMES))
    positions = positions.rows(np.arange(batch) % len(positions))
    logits, values = np.empty((batch, model.rules.cells), np.float32), np.empty(batch, np.float32)
    parts = [Piece(rows, positions, logits, values) for rows in np.array_split(np.arange(batch), cores())]
    net = net_names(model.config)[0]

    def call() -> None:
        list(threads.map(lambda part: runtime.evaluate(net, [part]), parts))

    return call


def _torch_call(model: DualNet, runtime: Runtime, batch: int) -> Callable[[], object]:
    net, planes = _net_and_planes(model, batch)
    device = torch.device("cuda" if isinstance(runtime, CudaRuntime) else "cpu")
    dtype = DTYPES[runtime.precision]
    net, planes = net.to(device, dtype), planes.to(device, dtype)

    def call() -> None:
        with torch.inference_mode():
            net(planes)
        if device.type == "cuda":
            torch.cuda.synchronize()

    return call


_MAKERS = {Backend.OPENVINO: _openvino_call, Backend.NUMBA: _kernels_call}
