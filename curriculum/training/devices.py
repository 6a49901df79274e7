"""The device side of training: the nets of a model, batches made ahead, copies that do not wait."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from nets.runtimes.devices import use_threads
from nets.runtimes.streams import Lane, give_back, take_lanes

Item = TypeVar("Item")
Result = TypeVar("Result")

_AHEAD = 3
"""Batches that are made while others train."""


def to_device(array: NDArray[Any], device: torch.device) -> Tensor:
    """Return an array as a tensor on a device; a copy to a GPU is made while this thread goes on."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def ahead(items: Iterable[Item], device: torch.device) -> Iterator[Item]:
    """Yield items; for a GPU each is made on a thread of its own while the ones before it are in use.

    A processor has no core to spare for that.
    """
    if device.type != "cuda":
        yield from items
        return
    making, over = iter(items), object()
    with ThreadPoolExecutor(1, thread_name_prefix="batches") as thread:
        waiting = deque(thread.submit(next, making, over) for _ in range(_AHEAD))
        while (item := waiting.popleft().result()) is not over:
            waiting.append(thread.submit(next, making, over))
            yield item  # type: ignore[misc]


def for_each_net(work: Callable[[Item], Result], items: Sequence[Item], device: torch.device) -> list[Result]:
    """Return `work(item)` of each item: on a processor side by side, each on its share of the cores.

    On a GPU one after another on one stream: a step is several hundred launches, and two threads that launch them under
    one interpreter's lock were four times as slow as one.
    """
    if device.type == "cuda":
        (lane,) = take_lanes(device, 1)
        try:
            return [_on_lane(work, item, lane) for item in items]
        finally:
            give_back([lane])
    if len(items) == 1:
        return [work(items[0])]
    threads = torch.get_num_threads()
    share = partial(use_threads, max(1, threads // len(items)), threads)
    with ThreadPoolExecutor(len(items), thread_name_prefix="training", initializer=share) as pool:
        return list(pool.map(work, items))


def _on_lane(work: Callable[[Item], Result], item: Item, lane: Lane) -> Result:
    with lane.work():
        # Weights and the optimiser's state may just have been written on the stream of everything else.
        lane.stream.wait_stream(torch.cuda.default_stream(lane.stream.device))
        return work(item)
