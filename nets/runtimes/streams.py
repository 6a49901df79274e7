"""Streams of a GPU. A lane is one stream and one worker on it at a time, so no stream has the work of two.

torch hands out 32 streams a device, round robin: the next one asked for is the first again. So a process asks for each
once and lends them out here.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch

STREAMS = 32
"""Streams of a device that differ."""


class Lane:
    """A stream, and the right to work on it. More users than streams share lanes, and take turns on them."""

    def __init__(self, device: torch.device) -> None:
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self.users = 0
        self.lock = threading.Lock()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Make this thread's work the stream's, alone; it is done when the block ends."""
        with self.lock, torch.cuda.stream(self.stream):
            try:
                yield
            finally:
                self.stream.synchronize()


_lanes: dict[torch.device, list[Lane]] = {}
_registry = threading.RLock()
"""Reentrant, since an evaluator that is collected in the middle of a capture gives its lanes back."""


def take_lanes(device: torch.device, count: int) -> list[Lane]:
    """Return `count` lanes, at most `STREAMS`, which nobody else has as long as there are any; give them back."""
    with _registry:
        lanes = _lanes.setdefault(device, [])
        free = sum(not lane.users for lane in lanes)
        lanes += [Lane(device) for _ in range(min(count - free, STREAMS - len(lanes)))]
        taken = sorted(lanes, key=lambda lane: lane.users)[:count]
        for lane in taken:
            lane.users += 1
        return taken


def give_back(lanes: Sequence[Lane]) -> None:
    """End the use of lanes."""
    with _registry:
        for lane in lanes:
            lane.users -= 1


@contextmanager
def alone(device: torch.device) -> Iterator[None]:
    """Have the device without work on any lane; work that begins meanwhile waits. Captures need that.

    A wait for the whole device by another thread would break a capture, and a capture waits for it too.
    """
    with _registry, ExitStack() as stack:
        for lane in _lanes.get(device, ()):
            stack.enter_context(lane.lock)
        torch.cuda.synchronize(device)
        yield
