"""Groups of trees that share a batch: their leaves are gathered, evaluated and expanded together."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import BadDataError
from core.evaluation import Evaluator, Slot, Ticket
from core.rules import Rules
from core.threats import ThreatBoard
from search.tree import cache, kernels
from search.tree.forest import Forest
from search.tree.leaf_tactics import LeafTactics, make_leaf_tactics
from search.tree.settings import SearchSettings


class EvaluationError(BadDataError, RuntimeError):
    """The evaluator returned a number that is not finite."""


@dataclass(frozen=True, slots=True)
class SharedParts:
    """The parts of a search that its groups share."""

    rules: Rules
    settings: SearchSettings
    evaluator: Evaluator
    forest: Forest
    active: NDArray[np.bool_]
    """[G] True for trees with a search under way."""
    params: kernels.SearchParams
    identity: cache.Identity
    cache: cache.EvaluationCache
    boards: ThreatBoard | None
    """A board a tree for tactics; None without tactics."""
    pool: ThreadPoolExecutor | None
    """Runs the shards of a group side by side; None for one thread."""


@dataclass(slots=True)
class _Shard:
    """Some trees of a group, which one thread descends, and its own part of the group's leaves."""

    trees: NDArray[np.int64]
    leaves: kernels.Leaves
    tactics: LeafTactics | None


class TreeGroup:
    """Some trees of the forest and the batch that they share; one batch is in flight at a time."""

    def __init__(self, parts: SharedParts, trees: NDArray[np.int64], threads: int) -> None:
        settings, rules = parts.settings, parts.rules
        self.trees = trees
        """[trees of the group] their indices in the forest."""
        self._parts = parts
        max_leaves = settings.leaves_in_flight
        self._slot = Slot.with_capacity(len(trees) * max_leaves, rules.cells)
        self._rows = cache.rows_of(self._slot)
        self._cached = 0
        """The first of the slot's last rows, which the cache fills."""
        self._in_flight = False
        self._ticket: Ticket | None = None
        """None if the cache held all leaves in flight."""
        of_shards = np.array_split(trees, threads)
        sizes = np.array([len(some) * max_leaves + 1 for some in of_shards])  # one more for the stones of a descent
        self._starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        """[shards] the first of each one's leaves."""
        self._found = np.zeros(threads, dtype=np.int64)
        """[shards] the number of leaves in flight."""
        self._leaves = kernels.make_leaves(int(sizes.sum()), rules.cells)
        self._shards = [
            _Shard(
                some,
                kernels.Leaves._make(array[start : start + size] for array in self._leaves),
                _leaf_tactics(parts, int(size)),
            )
            for some, start, size in zip(of_shards, self._starts, sizes, strict=True)
        ]

    def start(self) -> int:
        """Gather leaves, submit those that the cache lacks, and return their number."""
        if self._in_flight:
            return 0
        found = self._for_each_shard(self._gather)
        if not any(found):
            return 0
        parts, slot = self._parts, self._slot
        self._found[:] = found
        slot.count, self._cached = cache.assign_rows(
            self._leaves,
            self._starts,
            self._found,
            parts.identity,
            parts.cache.entries,
            parts.cache.next_batch(),
            self._rows,
        )
        self._in_flight = True
        if slot.count:
            try:
                self._ticket = parts.evaluator.submit(slot)
            except BaseException:
                self._abandon()
                raise
        return slot.count

    def finish(self) -> None:
        """Wait for the batch in flight, expand its leaves and back them up.

        Raises the evaluation's error, and `EvaluationError` for numbers that are not finite.
        """
        if not self._in_flight:
            return
        ticket, entries = self._ticket, self._parts.cache.entries
        self._ticket = None
        try:
            if ticket is not None:
                ticket.result()
        except BaseException:
            self._abandon()
            raise
        # Batches end in the order of their starts: every earlier batch has written its evaluations, or failed.
        stores = len(entries.key) > 0
        if stores and not cache.collect_rows(entries, self._rows, self._cached):
            self._cached = self._slot.capacity
            self._abandon()
            raise EvaluationError("an earlier batch, which had to evaluate some positions of this one, failed")
        self._in_flight = False
        if max(self._for_each_shard(self._expand)) >= 0:
            cache.forget_rows(entries, self._rows, self._slot.count)
            raise EvaluationError(
                "the net's policy or value is not a finite number: the weights of its model are broken"
            )
        if stores:
            cache.store_rows(entries, self._rows, self._slot.count)

    def _for_each_shard(self, work: Callable[[int, _Shard], int]) -> list[int]:
        """Return `work(index, shard)` of every shard, each on a thread of its own."""
        pool = self._parts.pool
        if pool is None:
            return [work(0, self._shards[0])]
        return list(pool.map(work, range(len(self._shards)), self._shards))

    def _gather(self, _: int, shard: _Shard) -> int:
        parts = self._parts
        trees = shard.trees[parts.active[shard.trees]]
        if not len(trees):
            return 0
        return kernels.gather(
            parts.forest,
            trees,
            parts.settings.leaves_in_flight,
            parts.settings.visits_per_leaf,
            parts.rules.connect,
            parts.params,
            shard.leaves,
            shard.tactics,
        )

    def _expand(self, index: int, shard: _Shard) -> int:
        return kernels.expand(
            self._parts.forest,
            shard.leaves,
            self._slot.logits,
            self._slot.values,
            int(self._found[index]),
            self._parts.identity.images,
            self._parts.params,
            shard.tactics,
        )

    def _abandon(self) -> None:
        self._in_flight = False
        for shard, found in zip(self._shards, self._found, strict=True):
            kernels.abandon(self._parts.forest, shard.leaves, int(found))
        entries = self._parts.cache.entries
        cache.forget_rows(entries, self._rows, self._slot.count)
        cache.collect_rows(entries, self._rows, self._cached)


def _leaf_tactics(parts: SharedParts, leaves: int) -> LeafTactics | None:
    settings = parts.settings
    if parts.boards is None or not settings.looks_at_leaves:
        return None
    return make_leaf_tactics(
        parts.rules,
        parts.boards,
        leaves,
        forced_moves=settings.forced_moves,
        vcf_nodes=settings.vcf_leaf_nodes,
        shuns_open_fours=settings.shun_open_fours,
    )
