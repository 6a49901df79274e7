"""A stand-in of torch.cuda on the processor: it records streams and captures, and fails where torch would.

A capture records the operations of its block, and a replay does them again on the same tensors, as a CUDA graph does:
what a capture must not hold (sizes that depend on numbers, waits, memory from elsewhere) fails at the capture.
"""

import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from nets.runtimes import cuda, net_evaluator, streams

CARD = torch.device("cuda", 0)
_POOL = 32
_LIVE: "weakref.WeakSet[cuda.CudaRuntime]" = weakref.WeakSet()
"""The runtimes on a stand-in that somebody still holds, such as the ending thread of an evaluator."""
_SETTLE_S = 20.0
_WAITS = ("_local_scalar_dense", "_unique2", "nonzero", "masked_select", "repeat_interleave")
"""Operations whose result the processor has to know before it goes on."""


class _Stream:
    """One of torch's 32 streams, handed out round robin."""

    device = CARD

    def __init__(self, card: "Card", number: int) -> None:
        self.card, self.number = card, number

    def synchronize(self) -> None:
        self.card.busy.pop(self.number, None)

    def wait_stream(self, other: object) -> None:
        """Return at once: the stand-in's work is done when its call returns."""


class _Recorder(TorchDispatchMode):
    def __init__(self, operations: list[tuple[Any, ...]]) -> None:
        super().__init__()
        self._operations = operations

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in _WAITS:
            raise RuntimeError(f"operation not permitted when stream is capturing: {func}")
        result = func(*args, **(kwargs or {}))
        self._operations.append((func, args, kwargs or {}, result))
        return result


class _Graph:
    def __init__(self) -> None:
        self.operations: list[tuple[Any, ...]] = []

    def replay(self) -> None:
        with torch.no_grad():
            for func, args, kwargs, before in self.operations:
                result = func(*args, **kwargs)
                for room, made in zip(tree_leaves(before), tree_leaves(result), strict=True):
                    if isinstance(room, torch.Tensor) and room.data_ptr() != made.data_ptr():
                        room.copy_(made)


@dataclass
class Card:
    """The records of a card."""

    captures: int = 0
    captures_in_use: int = 0
    """Captures during an evaluation; counted by the test."""
    streams: int = 0
    """Streams that were asked for."""
    shared: list[int] = field(default_factory=list)
    """Streams on which two threads worked at once."""
    used: set[int] = field(default_factory=set)
    busy: dict[int, int] = field(default_factory=dict)
    """The thread whose work on a stream nobody has waited for."""
    capturing: set[int] = field(default_factory=set)
    bf16: bool = False

    def stream(self, device: object = None) -> _Stream:
        """`torch.cuda.Stream`."""
        self.streams += 1
        return _Stream(self, (self.streams - 1) % _POOL)

    @contextmanager
    def on(self, stream: _Stream) -> Iterator[None]:
        """`torch.cuda.stream`."""
        thread = threading.get_ident()
        if stream.number in self.capturing:
            raise RuntimeError("operation not permitted when stream is capturing")
        if self.busy.get(stream.number, thread) != thread:
            self.shared.append(stream.number)
        self.busy[stream.number] = thread
        self.used.add(stream.number)
        yield

    @contextmanager
    def graph(self, graph: _Graph, *, pool: object, stream: _Stream, capture_error_mode: str) -> Iterator[None]:
        """`torch.cuda.graph`."""
        if self.busy:
            raise RuntimeError(f"operation would make the legacy stream depend on a capturing stream: {self.busy}")
        assert capture_error_mode == "thread_local"
        self.captures += 1
        self.capturing.add(stream.number)
        try:
            with _Recorder(graph.operations):
                yield
        finally:
            self.capturing.discard(stream.number)

    def synchronize(self, device: object = None) -> None:
        """`torch.cuda.synchronize`."""
        if self.capturing:
            raise RuntimeError("operation not permitted when stream is capturing")
        self.busy.clear()


def settle() -> None:
    """Wait until all runtimes have given back their lanes and graphs."""
    deadline = time.monotonic() + _SETTLE_S
    while _LIVE:
        assert time.monotonic() < deadline, "somebody holds a runtime"
        gc.collect()
        time.sleep(0.01)
    time.sleep(0.01)  # what the end of the last one does


def make_card(patch: pytest.MonkeyPatch, *, memory: int = 1 << 30) -> Card:
    """Make torch see a card with so many free bytes, whose tensors are the processor's."""
    card = Card()
    settle()  # evaluators of earlier tests give their graphs back now, not into the fresh list
    make = cuda.CudaRuntime.__init__

    def noted(self: cuda.CudaRuntime, *arguments: Any) -> None:
        _LIVE.add(self)
        make(self, *arguments)

    patch.setattr(cuda.CudaRuntime, "__init__", noted)
    patch.setattr(streams, "_lanes", {})
    patch.setattr(cuda, "_idle", [])
    patch.setattr(cuda, "SIZES", (4, 64))
    patch.setattr(cuda, "_WARM_UPS", 1)
    patch.setattr(cuda.CudaRuntime, "sizes", (64,))
    for name, stand_in in {
        "Stream": card.stream,
        "stream": card.on,
        "graph": card.graph,
        "CUDAGraph": _Graph,
        "graph_pool_handle": lambda: (0, 1),
        "synchronize": card.synchronize,
        "default_stream": lambda device=None: _Stream(card, -1),
        "is_available": lambda: True,
        "is_bf16_supported": lambda including_emulation=True: card.bf16,
        "get_device_capability": lambda device=None: (6, 1),
        "get_device_name": lambda device=None: "Stand-in",
        "mem_get_info": lambda device=None: (memory, memory),
    }.items():
        patch.setattr(torch.cuda, name, stand_in)
    patch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor.clone())
    patch.setattr(torch.Tensor, "to", _on_processor(torch.Tensor.to))
    patch.setattr(torch.nn.Module, "to", _on_processor(torch.nn.Module.to))
    patch.setattr(net_evaluator, "best_device", lambda name: CARD)
    return card


def _on_processor(move: Callable[..., Any]) -> Callable[..., Any]:
    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        def here(value: Any) -> Any:
            return torch.device("cpu") if isinstance(value, torch.device) else value

        return move(self, *map(here, args), **{name: here(value) for name, value in kwargs.items()})

    return to
