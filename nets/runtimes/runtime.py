"""What runs a model's nets: OpenVINO, ONNX Runtime or torch on the CPU, torch with CUDA graphs on a GPU.

A runtime judges positions with one net at a time, on the thread that calls it; many threads may call it at once. Two
small batches side by side, each on a core of its own, beat one batch on two cores, where each waits for the other.
What they share is here, and needs no torch.
"""

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import UsageError
from core.evaluation import PositionBatch
from nets.config import Backend, Precision

Rows = NDArray[np.intp]
"""[n] indices into a batch."""
_WASTE = 0.1
"""Of a batch; so much may stay empty."""


class Piece(NamedTuple):
    """Some rows of a batch, and where their judgements go: the same rows of `logits` [B, A] and `values` [B]."""

    rows: Rows
    positions: PositionBatch
    logits: NDArray[np.float32]
    values: NDArray[np.float32]


class RuntimeUnavailableError(UsageError, RuntimeError):
    """A runtime that is not installed, fails on this machine, or lacks a precision; says which and why."""


class Runtime(Protocol):
    """A model ready to judge."""

    backend: Backend
    precision: Precision
    lanes: int
    """Batches that it can work on side by side."""
    threads: int
    """Threads that keep it busy."""
    free_cores: int
    """Threads that it leaves to others."""
    sizes: tuple[int, ...]
    """The numbers of positions it is best given at once, rising; any up to the last where there is one alone."""
    any_thread: bool
    """Whether threads that were not made for it may judge too."""

    def judge(self, net: str, pieces: Sequence[Piece]) -> None:
        """Judges the pieces together, up to the last of `sizes` in all, with the net of that name."""


def gathered(pieces: Sequence[Piece]) -> PositionBatch:
    """The positions of the pieces, one after the other."""
    parts = [piece.positions.rows(piece.rows) for piece in pieces]
    return parts[0] if len(parts) == 1 else PositionBatch.concatenate(parts)


def scatter(pieces: Sequence[Piece], logits: NDArray[np.float32], values: NDArray[np.float32]) -> None:
    """Writes judgements, in the order of `gathered`, to where the pieces want them."""
    first = 0
    for piece in pieces:
        part = slice(first, first + len(piece.rows))
        piece.logits[piece.rows] = logits[part]
        piece.values[piece.rows] = values[part]
        first = part.stop


class SizedNet(Protocol):
    """A net that judges batches of one size, and the arrays it reads and writes."""

    stones: NDArray[np.int8]
    """[n, A]"""
    to_move: NDArray[np.int8]
    """[n]"""
    last_moves: NDArray[np.int16]
    """[n, 2]"""
    logits: NDArray[np.float32]
    """[n, A]"""
    values: NDArray[np.float32]
    """[n]"""

    def run(self) -> None:
        """Judges what stands in the arrays."""


class SizedNets:
    """Judges with nets that take batches of fixed sizes, each made when it is first needed.

    Threads that need the same at the same time get one each.
    """

    def __init__(self, make: Callable[[str, int], SizedNet], sizes: Sequence[int], *, one_by_one: bool = True) -> None:
        """`sizes` rise. `one_by_one`: `make(net, size)` is never called by two threads at once."""
        self._make = make
        self._sizes = sizes
        self._making: AbstractContextManager[Any] = threading.Lock() if one_by_one else nullcontext()
        self._idle: defaultdict[tuple[str, int], list[SizedNet]] = defaultdict(list)

    def make(self, net: str, size: int) -> None:
        """Makes ahead what the first batch of a net and size needs."""
        with self._making:
            self._idle[net, size].append(self._make(net, size))

    def judge(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`; the smallest size that holds them all is used."""
        size = self._sizes[bisect_left(self._sizes, sum(len(piece.rows) for piece in pieces))]
        idle = self._idle[net, size]
        try:
            sized = idle.pop()
        except IndexError:
            with self._making:
                sized = self._make(net, size)
        first = 0
        for rows, positions, _, _ in pieces:
            last = first + len(rows)
            # With "raise" numpy would write into a copy first.
            np.take(positions.stones, rows, axis=0, out=sized.stones[first:last], mode="clip")
            sized.to_move[first:last] = positions.to_move[rows]
            sized.last_moves[first:last] = positions.last_moves[rows]
            first = last
        sized.run()
        scatter(pieces, sized.logits, sized.values)
        idle.append(sized)


def best_count(queued: int, sizes: Sequence[int]) -> int:
    """How many of `queued` positions, at least one, to judge in the next batch; the others wait for the one after it.

    As many as fill a size. But where they nearly fill the next larger one, all of them: a batch that is not full costs
    what a full one does, and a second batch has its own cost.
    """
    if queued >= sizes[-1] or len(sizes) == 1:
        return min(queued, sizes[-1])
    larger = bisect_left(sizes, queued)
    empty = sizes[larger] - queued
    return queued if larger == 0 or empty <= max(1, _WASTE * sizes[larger]) else sizes[larger - 1]
