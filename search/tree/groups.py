"""Groups of trees that share batches: their leaves are gathered, evaluated and expanded together."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.compiled.rules import CompiledRules
from core.compiled.threats import ThreatBoard
from core.errors import BadDataError
from core.evaluation import Evaluator, Slot, Ticket
from core.rules import Rules
from search.tree import cache
from search.tree.forest import Forest
from search.tree.kernels.backup import abandon, abandon_waiting
from search.tree.kernels.expansion import expand
from search.tree.kernels.gathering import batch_leaves, gather
from search.tree.kernels.leaves import Leaves, Shard, make_leaves
from search.tree.kernels.puct import SearchParams
from search.tree.leaf_tactics import LeafTactics, make_leaf_tactics
from search.tree.settings import SearchSettings
from search.tree.softmax import make_scratch


class EvaluationError(BadDataError, RuntimeError):
    """The evaluator returned a number that is not finite."""


@dataclass(slots=True)
class SharedParts:
    """The parts of a search that its groups share; evaluator and identity may change while nothing is in flight."""

    rules: Rules
    compiled_rules: CompiledRules
    settings: SearchSettings
    evaluator: Evaluator
    forest: Forest
    active: NDArray[np.bool_]
    """[G] True for trees with a search under way."""
    params: SearchParams
    identity: cache.Identity
    cache: cache.EvaluationCache
    boards: ThreatBoard | None
    """A board a tree for tactics; None without tactics."""
    pool: ThreadPoolExecutor | None
    """Runs the shards of a group side by side; None for one thread."""

    def shard(self, trees: NDArray[np.int64], leaves: Leaves) -> Shard:
        """Return some trees as kernels take them."""
        return Shard(self.forest, trees, self.active, self.compiled_rules, self.params, leaves)


class TreeGroup:
    """Some trees of the forest, which share their batches."""

    def __init__(self, parts: SharedParts, trees: NDArray[np.int64], threads: int) -> None:
        settings, rules = parts.settings, parts.rules
        self.trees = trees
        """[trees of the group] their indices in the forest."""
        self.parts = parts
        self._width = settings.leaves_in_flight
        self.leaves = make_leaves(len(trees), self._width, rules.cells)
        of_shards = np.array_split(np.arange(len(trees)), min(threads, len(trees)))
        self.starts = np.array([shard[0] * self._width for shard in of_shards], dtype=np.int64)
        """[shards] the first of each one's leaves."""
        self.shards = [self._shard(shard) for shard in of_shards]

    def _shard(self, which: NDArray[np.intp]) -> tuple[Shard, LeafTactics | None]:
        """Return a shard with a part of the group's trees, and its tactics."""
        first, last = int(which[0]), int(which[-1]) + 1
        stones, records, free, waiting, counts, _ = self.leaves
        leaves = slice(first * self._width, last * self._width)
        part = Leaves(
            stones[leaves],
            records[leaves],
            free[first:last] - leaves.start,
            waiting[first:last],
            counts[first:last],
            make_scratch(self.parts.rules.cells, self._width),
        )
        return self.parts.shard(self.trees[first:last], part), tactics_of(self.parts, last - first)

    def abandon_waiting(self) -> None:
        """Make the leaves that wait for a batch new again."""
        for shard, _ in self.shards:
            abandon_waiting(self.parts.forest, shard.leaves)


class SharedBatch:
    """One of the batches of a group: its leaves are gathered, evaluated and expanded together."""

    def __init__(self, group: TreeGroup) -> None:
        settings = group.parts.settings
        self.group = group
        self.trees = group.trees
        self._parts = group.parts
        max_leaves = int(batch_leaves(settings.leaves_in_flight, group.parts.params))
        self._slot = Slot.with_capacity(len(group.trees) * max_leaves, group.parts.rules.cells)
        self._rows = cache.rows_of(self._slot)
        self._cached = 0
        """The first of the slot's last rows, which the cache fills."""
        self._in_flight = False
        self._ticket: Ticket | None = None
        """None if the cache held all leaves in flight."""
        most = max(len(shard.trees) for shard, _ in group.shards) * max_leaves
        self._members = np.zeros((len(group.shards), most), dtype=np.int32)
        """[shards, B] the leaves in flight, as each shard counts them."""
        self._found = np.zeros(len(group.shards), dtype=np.int64)
        """[shards] the number of leaves in flight."""

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
            self.group.leaves,
            self.group.starts,
            self._members,
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
        if not all(self._for_each_shard(self._expand)):
            cache.forget_rows(entries, self._rows, self._slot.count)
            raise EvaluationError(
                "a policy or value is not a finite number: the weights of the model are broken, or its evaluator is"
            )
        if stores:
            cache.store_rows(entries, self._rows, self._slot.count)

    def _for_each_shard(self, work: Callable[[int], int]) -> list[int]:
        """Return `work(index)` of every shard, each on a thread of its own."""
        pool, shards = self._parts.pool, range(len(self.group.shards))
        return [work(0)] if pool is None else list(pool.map(work, shards))

    def _gather(self, index: int) -> int:
        shard, tactics = self.group.shards[index]
        return gather(shard, self._members[index], tactics)

    def _expand(self, index: int) -> bool:
        (shard, tactics), slot = self.group.shards[index], self._slot
        members, images = self._members[index, : self._found[index]], self._parts.identity.images
        return expand(shard, members, slot.logits, slot.values, images, tactics)

    def _abandon(self) -> None:
        self._in_flight = False
        for (shard, _), members, found in zip(self.group.shards, self._members, self._found, strict=True):
            abandon(self._parts.forest, shard.leaves, members[:found])
        entries = self._parts.cache.entries
        cache.forget_rows(entries, self._rows, self._slot.count)
        cache.collect_rows(entries, self._rows, self._cached)


def tactics_of(parts: SharedParts, trees: int) -> LeafTactics | None:
    """Return what the leaves of a number of trees need for tactics; None without tactics."""
    settings = parts.settings
    if parts.boards is None or not settings.looks_at_leaves:
        return None
    return make_leaf_tactics(parts.rules, parts.boards, trees * settings.leaves_in_flight, settings)
