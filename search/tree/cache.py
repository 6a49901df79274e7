"""The evaluation cache: a position that was judged before, in this game or another, is not judged again.

What comes from the cache takes the same way as what comes from the evaluator: a leaf is in flight until its batch is
back, whether its judgement was known or not. So a search finds the same with the cache and without.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.zobrist import LAST_MOVE_KEYS
from search.tree.kernels import Leaves

_WAYS = 4
"""Entries among which a position has its place."""
_NO_ENTRY = -1
_NO_KEY = -1
_REGISTER_BITS = 14
_REGISTERS = 1 << _REGISTER_BITS

# Places in `Entries.counts`.
_LOOKUPS, _HITS, _SHARED = 0, 1, 2


class Entries(NamedTuple):
    """The arrays of a cache of `E` entries, a power of two or 0, for boards of `A` cells."""

    key: NDArray[np.int64]
    """[E] or `_NO_KEY`."""
    used: NDArray[np.int64]
    """[E] the batch that asked for it last."""
    pending: NDArray[np.int64]
    """[E] the batch that is to judge it, 0 when it is judged."""
    waiting: NDArray[np.int32]
    """[E] rows of later batches that wait for it; it keeps its place until they have it."""
    row: NDArray[np.int32]
    """[E] the row of that batch."""
    value: NDArray[np.float32]
    """[E]"""
    logits: NDArray[np.float32]
    """[E, A]"""
    counts: NDArray[np.int64]
    """[3] leaves looked up, found judged, found in a batch under way."""
    registers: NDArray[np.int8]
    """[2^14] of a HyperLogLog of the keys looked up."""


class Identity(NamedTuple):
    """What makes two leaves the same to the evaluator."""

    fingerprint: int
    """Of its version and of the seed of symmetries; part of every key."""
    last_moves: int
    """How many last moves it looks at."""
    symmetric: bool
    """Whether each position is judged under one of the eight symmetries, drawn by its key."""


@kernel
def _find(entries: Entries, key: int) -> int:
    """The entry of a key, or `_NO_ENTRY`."""
    first = key & (entries.key.shape[0] - _WAYS)
    for entry in range(first, first + _WAYS):
        if entries.key[entry] == key:
            return entry
    return _NO_ENTRY


@kernel
def _reserve(entries: Entries, key: int, batch: int, row: int) -> int:
    """Gives a key the entry, of those it may have, that was not asked for longest; `_NO_ENTRY` if all are needed."""
    first = key & (entries.key.shape[0] - _WAYS)
    oldest = _NO_ENTRY
    for entry in range(first, first + _WAYS):
        free = entries.pending[entry] == 0 and entries.waiting[entry] == 0
        if free and (oldest == _NO_ENTRY or entries.used[entry] < entries.used[oldest]):
            oldest = entry
    if oldest != _NO_ENTRY:
        entries.key[oldest] = key
        entries.used[oldest] = batch
        entries.pending[oldest] = batch
        entries.row[oldest] = row
    return oldest


@kernel
def _count(entries: Entries, key: int) -> None:
    register = key & (_REGISTERS - 1)
    rest = key >> _REGISTER_BITS
    rank = 1
    while rest & 1 == 0 and rank < 49:
        rest >>= 1
        rank += 1
    entries.registers[register] = max(entries.registers[register], rank)


@kernel
def assign_rows(
    leaves: Leaves,
    starts: NDArray[np.int64],
    found: NDArray[np.int64],
    identity: Identity,
    origins: NDArray[np.int64],
    images: NDArray[np.int64],
    entries: Entries,
    batch: int,
    stones: NDArray[np.int8],
    to_move: NDArray[np.int8],
    last_moves: NDArray[np.int16],
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
    entry_of_row: NDArray[np.int64],
) -> tuple[int, int]:
    """Gives each leaf the row of the slot where its judgement is going to be; returns (rows to be judged, known from).

    Leaves stand in shards: `found[s]` of them from `starts[s]` on. Those to be judged have their positions written
    into the slot's first rows, each position once. The slot's last rows, from the second number on, are for what the
    cache knows, which is written at once, and for what an older batch is going to say, which `collect_rows` writes.
    """
    count = 0
    known = stones.shape[0]
    cells = stones.shape[1]
    for shard in range(starts.shape[0]):
        for leaf in range(starts[shard], starts[shard] + found[shard]):
            last, before = leaves.last_moves[leaf, 0], leaves.last_moves[leaf, 1]
            key = leaves.key[leaf] ^ identity.fingerprint
            if identity.last_moves > 0 and last >= 0:
                key ^= LAST_MOVE_KEYS[0, last]
            if identity.last_moves > 1 and before >= 0:
                key ^= LAST_MOVE_KEYS[1, before]
            symmetry = (key >> 40) & 7 if identity.symmetric else 0
            leaves.symmetry[leaf] = symmetry
            entries.counts[_LOOKUPS] += 1
            _count(entries, key)
            entry = _NO_ENTRY
            if entries.key.shape[0] > 0:
                entry = _find(entries, key)
                if entry == _NO_ENTRY:
                    entry = _reserve(entries, key, batch, count)
                elif entries.pending[entry] == batch:
                    entries.counts[_SHARED] += 1
                    leaves.row[leaf] = entries.row[entry]
                    continue
                else:
                    known -= 1
                    entries.used[entry] = batch
                    leaves.row[leaf] = known
                    if entries.pending[entry] == 0:
                        entries.counts[_HITS] += 1
                        logits[known] = entries.logits[entry]
                        values[known] = entries.value[entry]
                        entry_of_row[known] = _NO_ENTRY
                    else:
                        entries.counts[_SHARED] += 1
                        entries.waiting[entry] += 1
                        entry_of_row[known] = entry
                    continue
            leaves.row[leaf] = count
            entry_of_row[count] = entry
            to_move[count] = leaves.to_move[leaf]
            if symmetry == 0:
                stones[count] = leaves.stones[leaf]
                last_moves[count, 0] = last
                last_moves[count, 1] = before
            else:
                for cell in range(cells):
                    stones[count, cell] = leaves.stones[leaf, origins[symmetry, cell]]
                last_moves[count, 0] = images[symmetry, last] if last >= 0 else last
                last_moves[count, 1] = images[symmetry, before] if before >= 0 else before
            count += 1
    return count, known


@kernel
def collect_rows(
    entries: Entries,
    entry_of_row: NDArray[np.int64],
    known: int,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> bool:
    """Writes the rows from `known` on that waited for an older batch; False where that batch failed."""
    whole = True
    for row in range(known, values.shape[0]):
        entry = entry_of_row[row]
        if entry != _NO_ENTRY:
            entries.waiting[entry] -= 1
            if entries.key[entry] == _NO_KEY or entries.pending[entry] != 0:
                whole = False
            else:
                logits[row] = entries.logits[entry]
                values[row] = entries.value[entry]
    return whole


@kernel
def store_rows(
    entries: Entries,
    entry_of_row: NDArray[np.int64],
    count: int,
    logits: NDArray[np.float32],
    values: NDArray[np.float32],
) -> None:
    """Keeps what the first `count` rows of a slot were judged to be."""
    for row in range(count):
        entry = entry_of_row[row]
        if entry != _NO_ENTRY:
            entries.logits[entry] = logits[row]
            entries.value[entry] = values[row]
            entries.pending[entry] = 0


@kernel
def forget_rows(entries: Entries, entry_of_row: NDArray[np.int64], count: int) -> None:
    """Frees the entries of the first `count` rows of a slot: their evaluation failed."""
    for row in range(count):
        entry = entry_of_row[row]
        if entry != _NO_ENTRY:
            entries.key[entry] = _NO_KEY
            entries.used[entry] = 0
            entries.pending[entry] = 0


class EvaluationCache:
    """Judgements of up to `megabytes`, shared by the searches that are given it, one after the other, on one thread."""

    def __init__(self, cells: int, megabytes: int = 0) -> None:
        """With 0 megabytes nothing is kept and positions are counted only."""
        fits = (megabytes << 20) // (4 * cells + 36)
        size = 1 << (fits.bit_length() - 1) if fits >= _WAYS else 0
        self.entries = Entries(
            key=np.full(size, _NO_KEY, dtype=np.int64),
            used=np.zeros(size, dtype=np.int64),
            pending=np.zeros(size, dtype=np.int64),
            waiting=np.zeros(size, dtype=np.int32),
            row=np.zeros(size, dtype=np.int32),
            value=np.empty(size, dtype=np.float32),
            logits=np.empty((size, cells), dtype=np.float32),
            counts=np.zeros(3, dtype=np.int64),
            registers=np.zeros(_REGISTERS, dtype=np.int8),
        )
        self._batch = 0

    def next_batch(self) -> int:
        """A number that no batch had before."""
        self._batch += 1
        return self._batch

    @property
    def lookups(self) -> int:
        """Leaves that needed a judgement."""
        return int(self.entries.counts[_LOOKUPS])

    @property
    def hits(self) -> int:
        """Leaves that were judged before, or stood in their batch already."""
        return int(self.entries.counts[_HITS] + self.entries.counts[_SHARED])

    @property
    def distinct(self) -> int:
        """Distinct positions among the leaves, as the evaluator sees them, within about one percent.

        A HyperLogLog's estimate (Flajolet et al. 2007), with linear counting for small numbers.
        """
        registers = self.entries.registers.astype(np.float64)
        alpha = 0.7213 / (1 + 1.079 / _REGISTERS)
        estimate = alpha * _REGISTERS**2 / float(np.sum(2.0**-registers))
        empty = int(np.count_nonzero(registers == 0))
        if estimate <= 2.5 * _REGISTERS and empty:
            estimate = _REGISTERS * math.log(_REGISTERS / empty)
        return round(estimate)
