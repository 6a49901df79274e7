"""The `Runtime` protocol, and the parts that all runtimes share. Needs no torch.

A runtime evaluates positions with one net at a time, on the calling thread; many threads may call it at once. Two small
batches side by side, each on its own core, beat one batch on two cores, where each core waits for the other.
"""

import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.evaluation import PositionBatch
from nets.config import Backend, Precision

Rows = NDArray[np.intp]
"""[n] indices into a batch."""
_MAX_EMPTY_SHARE = 0.1
"""The share of a batch that may stay empty."""
_MAKING_S = 0.05
"""About the time to make a net of one size."""


class Piece(NamedTuple):
    """Some rows of a batch, and the place of their evaluations: the same rows of `logits` [B, A] and `values` [B]."""

    rows: Rows
    positions: PositionBatch
    logits: NDArray[np.float32]
    values: NDArray[np.float32]


class RuntimeUnavailableError(UsageError, RuntimeError):
    """A runtime is not installed, fails on this machine, or lacks a precision; the message names it and the reason."""


class Runtime(Protocol):
    """A library with a model's nets loaded, ready to evaluate."""

    backend: Backend
    precision: Precision
    lanes: int
    """Batches that it can work on side by side."""
    threads: int
    """Threads that keep it busy."""
    free_cores: int
    """Threads that it leaves to others."""
    sizes: tuple[int, ...]
    """Its best batch sizes, ascending. A single size is a maximum: every smaller batch is as good."""
    any_thread: bool
    """True if threads that were not made for it may evaluate too."""
    large_batches: bool
    """True if one large batch is faster than its parts side by side: not where each thread has a core of its own."""

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """Evaluate the pieces together, up to the last of `sizes` rows in all, with the net of that name."""


@runtime_checkable
class Reloads(Runtime, Protocol):
    """A runtime that takes other weights without being made anew."""

    def load(self, model: Any) -> None:
        """Evaluate with the weights of a model of the same kind, a `nets.dual.DualNet`, from now on."""

    def close(self) -> None:
        """Let others use what it has on its device."""


def scatter(pieces: Sequence[Piece], logits: NDArray[np.float32], values: NDArray[np.float32]) -> None:
    """Write evaluations, one piece after the other, to the arrays of the pieces."""
    first = 0
    for piece in pieces:
        part = slice(first, first + len(piece.rows))
        piece.logits[piece.rows] = logits[part]
        piece.values[piece.rows] = values[part]
        first = part.stop


class SizedNet(Protocol):
    """A net that evaluates batches of one size, with the arrays that it reads and writes."""

    logits: NDArray[np.float32]
    """[n, A]"""
    values: NDArray[np.float32]
    """[n]"""

    def put(self, first: int, piece: Piece) -> None:
        """Copy the positions of a piece to the net's input, from row `first` on."""

    def run(self) -> None:
        """Evaluate the input."""


class SizedNets:
    """Nets for batches of fixed sizes, each made at its first use.

    A thread that needs a net and size that others use waits for them; a second one is made only after threads have
    waited as long in all as it takes to make.
    """

    def __init__(self, make: Callable[[str, int], SizedNet], sizes: Sequence[int]) -> None:
        """`sizes` are ascending."""
        self._make = make
        self._sizes = sizes
        self._returned = threading.Condition()
        self._idle: defaultdict[tuple[str, int], list[SizedNet]] = defaultdict(list)
        self._in_use: Counter[tuple[str, int]] = Counter()
        self._waited_s: defaultdict[tuple[str, int], float] = defaultdict(float)

    def make(self, net: str, size: int) -> None:
        """Make a net for a size ahead of its first batch."""
        self._idle[net, size].append(self._make(net, size))

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`; uses the smallest size that holds all pieces."""
        size = self._sizes[bisect_left(self._sizes, sum(len(piece.rows) for piece in pieces))]
        with self._borrowed(net, size) as sized:
            first = 0
            for piece in pieces:
                sized.put(first, piece)
                first += len(piece.rows)
            sized.run()
            scatter(pieces, sized.logits, sized.values)

    @contextmanager
    def _borrowed(self, net: str, size: int) -> Iterator[SizedNet]:
        key = net, size
        with self._returned:
            idle = self._idle[key]
            patience_s = _MAKING_S - self._waited_s[key]
            if not idle and self._in_use[key] and patience_s > 0.0:
                start = time.perf_counter()
                self._returned.wait_for(lambda: idle, patience_s)
                self._waited_s[key] += time.perf_counter() - start
            sized = idle.pop() if idle else None
            self._in_use[key] += 1
        try:
            if sized is None:
                sized = self._make(net, size)
            yield sized
        except BaseException:
            sized = None  # its state is unknown
            raise
        finally:
            with self._returned:
                self._in_use[key] -= 1
                if sized is not None:
                    idle.append(sized)
                self._returned.notify_all()


def best_count(queued: int, sizes: Sequence[int]) -> int:
    """Return the number of `queued` positions, at least one, for the next batch; the others wait for a later one.

    As many as fill a size. But if they nearly fill the next larger one, all of them: a batch that is not full costs
    as much as a full one, and a second batch has its own cost.
    """
    if queued >= sizes[-1] or len(sizes) == 1:
        return min(queued, sizes[-1])
    larger = bisect_left(sizes, queued)
    empty = sizes[larger] - queued
    return queued if larger == 0 or empty <= max(1, _MAX_EMPTY_SHARE * sizes[larger]) else sizes[larger - 1]
