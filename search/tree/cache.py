"""The evaluation cache: a known position is not evaluated again, in whichever game it comes.

A leaf whose evaluation is cached stays in flight until its batch is back, like any other leaf. A search therefore finds
the same with the cache and without.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel
from core.compiled.zobrist import LAST_MOVE_KEYS
from core.evaluation import Slot
from search.tree.kernels.leaves import Leaves

_WAYS = 4
"""Entries in which a position may be stored."""
_NO_ENTRY = -1
_NO_KEY = -1
"""The key of an empty entry."""
_REGISTER_BITS = 14
_REGISTERS = 1 << _REGISTER_BITS

# Indices of `Entries.counts`.
_LOOKUPS, _HITS, _SHARED = 0, 1, 2


class Entries(NamedTuple):
    """The arrays of a cache of `E` entries, a power of two or 0, for boards of `A` cells."""

    key: NDArray[np.int64]
    """[E] the key of the position, or `_NO_KEY`."""
    used: NDArray[np.int64]
    """[E] the last batch that needed the entry."""
    pending: NDArray[np.int64]
    """[E] the batch in flight that evaluates it, 0 once it is evaluated."""
    waiting: NDArray[np.int32]
    """[E] rows of later batches that wait for it; the entry stays until they have it."""
    row: NDArray[np.int32]
    """[E] the row of that batch."""
    value: NDArray[np.float32]
    """[E] for the side to move."""
    logits: NDArray[np.float32]
    """[E, A]"""
    counts: NDArray[np.int64]
    """[3] leaves looked up, found evaluated, found in a batch in flight."""
    registers: NDArray[np.int8]
    """[2^14] of a HyperLogLog of the keys looked up."""


class Identity(NamedTuple):
    """The conditions under which two leaves are the same to the evaluator."""

    fingerprint: int
    """A hash of the evaluator's version and the seed of symmetries; part of every key."""
    last_moves: int
    """Number of last moves that the evaluator uses, 0 to 2."""
    symmetric: bool
    """True to evaluate each position under one of the eight symmetries, drawn by its key."""
    origins: NDArray[np.int64]
    """[8, A] the cell from which each symmetry fills a cell."""
    images: NDArray[np.int64]
    """[8, A] the cell to which each symmetry carries a cell."""


class Rows(NamedTuple):
    """The arrays of a slot of `B` rows: positions, their evaluations, and the entries that wait for these."""

    stones: NDArray[np.int8]
    """[B, A]"""
    to_move: NDArray[np.int8]
    """[B]"""
    last_moves: NDArray[np.int16]
    """[B, 2]"""
    logits: NDArray[np.float32]
    """[B, A]"""
    values: NDArray[np.float32]
    """[B] for the side to move."""
    entry: NDArray[np.int64]
    """[B] the cache entry of a row, or `_NO_ENTRY`."""


def rows_of(slot: Slot) -> Rows:
    """Return the arrays of a slot, with entries of their own."""
    positions = slot.positions
    entry = np.full(slot.capacity, _NO_ENTRY, dtype=np.int64)
    return Rows(positions.stones, positions.to_move, positions.last_moves, slot.logits, slot.values, entry)


@kernel
def _find(entries: Entries, key: int) -> int:
    """Return the entry of a key, or `_NO_ENTRY`."""
    first = key & (entries.key.shape[0] - _WAYS)
    for entry in range(first, first + _WAYS):
        if entries.key[entry] == key:
            return entry
    return _NO_ENTRY


@kernel
def _reserve(entries: Entries, key: int, batch: int, row: int) -> int:
    """Return the least recently used of a key's entries, now the key's own, or `_NO_ENTRY` if all are needed."""
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
    """Add a key to the HyperLogLog."""
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
    members: NDArray[np.int32],
    found: NDArray[np.int64],
    identity: Identity,
    entries: Entries,
    batch: int,
    rows: Rows,
) -> tuple[int, int]:
    """Give each leaf the row of its evaluation; return the rows to evaluate and the first of the cached rows.

    The batch has `found[s]` leaves of each shard `s`, whose leaves begin at `starts[s]`: `members[s, :found[s]]`
    [shards, B] counts from there. The positions to evaluate go into the first rows,
    each position once. The last rows hold cached evaluations, which are written at once, and those of earlier batches
    in flight, which `collect_rows` writes.
    """
    # Taken from their tuples once: in the loop each access would count references.
    stones, to_move, last_moves, logits, values, entry_of_row = rows
    origins, images = identity.origins, identity.images
    count = 0
    cached, cells = stones.shape
    for shard in range(starts.shape[0]):
        for index in range(found[shard]):
            leaf = starts[shard] + members[shard, index]
            record = leaves.records[leaf]
            last, before = record["last_move"], record["move_before"]
            key = record["key"] ^ identity.fingerprint
            if identity.last_moves > 0 and last >= 0:
                key ^= LAST_MOVE_KEYS[0, last]
            if identity.last_moves > 1 and before >= 0:
                key ^= LAST_MOVE_KEYS[1, before]
            symmetry = (key >> 40) & 7 if identity.symmetric else 0
            record["symmetry"] = symmetry
            entries.counts[_LOOKUPS] += 1
            _count(entries, key)
            entry = _NO_ENTRY
            if entries.key.shape[0] > 0:
                entry = _find(entries, key)
                if entry == _NO_ENTRY:
                    entry = _reserve(entries, key, batch, count)
                elif entries.pending[entry] == batch:
                    entries.counts[_SHARED] += 1
                    record["row"] = entries.row[entry]
                    continue
                else:
                    cached -= 1
                    entries.used[entry] = batch
                    record["row"] = cached
                    if entries.pending[entry] == 0:
                        entries.counts[_HITS] += 1
                        logits[cached] = entries.logits[entry]
                        values[cached] = entries.value[entry]
                        entry_of_row[cached] = _NO_ENTRY
                    else:
                        entries.counts[_SHARED] += 1
                        entries.waiting[entry] += 1
                        entry_of_row[cached] = entry
                    continue
            record["row"] = count
            entry_of_row[count] = entry
            to_move[count] = record["to_move"]
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
    return count, cached


@kernel
def collect_rows(entries: Entries, rows: Rows, cached: int) -> bool:
    """Write the rows from `cached` on that waited for an earlier batch; return False if that batch failed."""
    whole = True
    for row in range(cached, rows.values.shape[0]):
        entry = rows.entry[row]
        if entry != _NO_ENTRY:
            entries.waiting[entry] -= 1
            if entries.key[entry] == _NO_KEY or entries.pending[entry] != 0:
                whole = False
            else:
                rows.logits[row] = entries.logits[entry]
                rows.values[row] = entries.value[entry]
    return whole


@kernel
def store_rows(entries: Entries, rows: Rows, count: int) -> None:
    """Store the evaluations of the first `count` rows."""
    for row in range(count):
        entry = rows.entry[row]
        if entry != _NO_ENTRY:
            entries.logits[entry] = rows.logits[row]
            entries.value[entry] = rows.values[row]
            entries.pending[entry] = 0


@kernel
def forget_rows(entries: Entries, rows: Rows, count: int) -> None:
    """Free the entries of the first `count` rows after a failed evaluation."""
    for row in range(count):
        entry = rows.entry[row]
        if entry != _NO_ENTRY:
            entries.key[entry] = _NO_KEY
            entries.used[entry] = 0
            entries.pending[entry] = 0


class EvaluationCache:
    """Evaluations of up to `megabytes`, shared by the searches that use the cache one after the other on one thread."""

    def __init__(self, cells: int, megabytes: int = 0) -> None:
        """With 0 megabytes the cache stores nothing and only counts positions."""
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
        """Return a new number of a batch."""
        self._batch += 1
        return self._batch

    @property
    def lookups(self) -> int:
        """Leaves that needed an evaluation."""
        return int(self.entries.counts[_LOOKUPS])

    @property
    def hits(self) -> int:
        """Leaves whose position was evaluated before, or was in a batch in flight."""
        return int(self.entries.counts[_HITS] + self.entries.counts[_SHARED])

    @property
    def distinct(self) -> int:
        """Distinct positions among the leaves, to the evaluator, within about one percent.

        A HyperLogLog's estimate (Flajolet et al. 2007), with linear counting for small numbers.
        """
        registers = self.entries.registers.astype(np.float64)
        alpha = 0.7213 / (1 + 1.079 / _REGISTERS)
        estimate = alpha * _REGISTERS**2 / float(np.sum(2.0**-registers))
        empty = int(np.count_nonzero(registers == 0))
        if estimate <= 2.5 * _REGISTERS and empty:
            estimate = _REGISTERS * math.log(_REGISTERS / empty)
        return round(estimate)
