"""The driver of the search: keeps the evaluator busy with some groups of trees while kernels descend another."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.errors import BadDataError
from core.evaluation import Evaluator, Slot, Ticket
from core.position import Position
from core.rules import BLACK, Cell, Rules
from core.streams import stream_key
from core.symmetry import sources, targets
from core.zobrist import STONE_KEYS, WHITE_TO_MOVE
from search.analysis import Analysis
from search.tree import cache, kernels
from search.tree.cache import EvaluationCache
from search.tree.forest import OPEN, Forest, clear, make_forest, set_root
from search.tree.leaf_tactics import LeafTactics, make_leaf_tactics, make_root_tactics, new_boards
from search.tree.root import analyse_root, root_policy, root_priors, root_proofs, root_visits
from search.tree.settings import DecayForm, FirstPlay, SearchSettings


class EvaluationError(BadDataError, RuntimeError):
    """The evaluator gave a number that is not finite."""


@dataclass(slots=True)
class _Shard:
    """Some trees of a group, which one thread descends, and its own part of the group's leaves."""

    trees: NDArray[np.int64]
    leaves: kernels.Leaves
    tactics: LeafTactics | None


@dataclass(slots=True)
class _Group:
    """Some trees of the forest and the batch they share."""

    trees: NDArray[np.int64]
    slot: Slot
    leaves: kernels.Leaves
    shards: list[_Shard]
    starts: NDArray[np.int64]
    """[shards] where each one's leaves begin."""
    found: NDArray[np.int64]
    """[shards] how many leaves of each are in flight."""
    entry_of_row: NDArray[np.int64]
    """[slot rows] the cache entry that waits for a row."""
    known: int = 0
    """The first of the slot's last rows, which the cache fills."""
    in_flight: bool = False
    ticket: Ticket | None = None
    """None where the cache knew all leaves in flight."""


class ForestSearch:
    """Asynchronous tree search with virtual loss over many positions at once (A II-E).

    Give each tree a position (`set_root`) and simulations (`begin`), then call `advance` until it names the tree as
    finished; ask for `visits` and `value`, and `play` a move or set another root. The order in which trees finish
    and all that is found depend on the evaluator's answers alone, not on its timing, nor on threads, nor on the cache.
    """

    def __init__(
        self,
        rules: Rules,
        evaluator: Evaluator,
        settings: SearchSettings,
        *,
        trees: int,
        capacity: int | None = None,
        judged: EvaluationCache | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        """`capacity`: nodes a tree may hold, by default those of one search from a fresh root.

        `judged`: what remembers judgements; by default nothing does. `seed`: of the symmetries. `threads` that descend
        the trees of a group; by default those that the evaluator leaves free.
        """
        self.rules = rules
        self.evaluator = evaluator
        self.settings = settings
        self.judged = judged or EvaluationCache(rules.cells)
        # While each lane of the evaluator works on one group, the next is descended. A single tree has nothing to
        # overlap with: its next descents need its last answers.
        groups = min(trees, evaluator.lanes + 1)
        self._boards = new_boards(rules, trees) if settings.looks_at_leaves or settings.looks_at_roots else None
        self._root_tactics: LeafTactics | None = None
        if self._boards and settings.looks_at_roots:
            self._root_tactics = make_root_tactics(rules, self._boards, vcf_nodes=settings.vcf_root_nodes)
        self.forest: Forest = make_forest(trees, capacity or settings.simulations + 1, rules.cells)
        threads = min(threads or evaluator.free_cores, -(-trees // groups))
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search") if threads > 1 else None
        self._groups = [self._make_group(np.arange(group, trees, groups), threads) for group in range(groups)]
        self._turn = 0
        self._active = np.zeros(trees, dtype=np.bool_)
        self._remap = np.empty(self.forest.capacity, dtype=np.int32)
        self._params = kernels.SearchParams(
            c_puct=float(settings.c_puct),
            decay=float(settings.value_decay),
            repository=settings.decay_form is DecayForm.REPOSITORY,
            fpu_reduction=float(settings.fpu_reduction) if settings.first_play is FirstPlay.REDUCED else -1.0,
            virtual_loss=int(settings.virtual_loss),
            virtual_loss_share=float(settings.virtual_loss_share),
            proofs=settings.proven_nodes,
        )
        self._identity = cache.Identity(
            fingerprint=stream_key(seed, evaluator.version) >> 1,
            last_moves=evaluator.last_moves,
            symmetric=settings.symmetric,
        )
        self._origins = sources(rules.size).astype(np.int64)
        self._images = targets(rules.size).astype(np.int64)
        self.evaluations = 0
        """Positions judged by the evaluator so far."""

    @property
    def simulations(self) -> int:
        """Simulations started so far."""
        return int(self.forest.trees["simulations"].sum())

    def _make_group(self, trees: NDArray[np.int64], threads: int) -> _Group:
        most = self.settings.leaves_in_flight
        slot = Slot.with_capacity(len(trees) * most, self.rules.cells)
        parts = np.array_split(trees, threads)
        sizes = np.array([len(part) * most + 1 for part in parts])  # one more: a descent needs a row to play on
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
        leaves = kernels.make_leaves(int(sizes.sum()), self.rules.cells)
        shards = [
            _Shard(
                part,
                kernels.Leaves._make(array[start : start + size] for array in leaves),
                self._leaf_tactics(int(size)),
            )
            for part, start, size in zip(parts, starts, sizes, strict=True)
        ]
        found = np.zeros(threads, dtype=np.int64)
        return _Group(trees, slot, leaves, shards, starts, found, np.empty(slot.capacity, dtype=np.int64))

    def _leaf_tactics(self, leaves: int) -> LeafTactics | None:
        settings = self.settings
        if self._boards is None or not settings.looks_at_leaves:
            return None
        return make_leaf_tactics(
            self.rules,
            self._boards,
            leaves,
            forced_moves=settings.forced_moves,
            vcf_nodes=settings.vcf_leaf_nodes,
            shuns_open_fours=settings.shun_open_fours,
        )

    def set_root(self, tree: int, position: Position) -> None:
        """Gives the tree a position, with nothing searched yet. Raises `ValueError` if the game is over."""
        if position.rules != self.rules:
            raise ValueError(f"a search of {self.rules} cannot take a position of {position.rules}")
        set_root(self.forest, tree, position)

    def begin(
        self, tree: int, simulations: int, *, noise: NDArray[np.float32] | None = None, noise_share: float = 0.0
    ) -> None:
        """Orders `simulations` new ones (at least one) from the tree's root; `noise` [A] is mixed into its priors once.

        A kept subtree that leaves no room for them is forgotten, unless it is proven what its root is worth. With
        `forced_moves` or `vcf_root_nodes` a win of the side to move is looked for, and ends the search before it began.
        """
        known, proof = self.forest.trees["nodes"][tree], self.forest.nodes["proof"][tree, 0]
        if known + simulations > self.forest.capacity and not proof:
            clear(self.forest, tree)
        if self._root_tactics is not None:
            kernels.prove_root(self.forest, tree, self._root_tactics)
        self.forest.trees["simulations_left"][tree] = max(1, simulations)
        if noise is not None:
            self.forest.root_noise[tree] = noise
            self.forest.trees["noise_share"][tree] = noise_share
            if self.forest.nodes["state"][tree, 0] == OPEN:
                kernels.mix_root_noise(self.forest, tree)
        self._active[tree] = True

    def advance(self) -> list[int]:
        """One round: starts a batch for one group of trees, ends the oldest batch; names the trees that finished.

        Raises what the evaluation raised, and `EvaluationError` for numbers that are not finite.
        """
        self._start(self._groups[self._turn])
        self._turn = (self._turn + 1) % len(self._groups)
        group = self._groups[self._turn]
        self._finish(group)
        done = group.trees[self._active[group.trees] & (self.forest.trees["simulations_left"][group.trees] == 0)]
        self._active[done] = False
        return [int(tree) for tree in done]

    def halt(self) -> None:
        """Ends all searches where they stand: waits for batches in flight and starts no more.

        Raises the first of what their evaluations raised, after all of them have ended.
        """
        self.forest.trees["simulations_left"][:] = 0
        self._active[:] = False
        errors: list[BaseException] = []
        for _ in self._groups:
            self._turn = (self._turn + 1) % len(self._groups)
            try:
                self._finish(self._groups[self._turn])
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def has_one_reply(self, tree: int) -> bool:
        """Whether one simulation is enough: with `forced_moves`, where the opponent threatens five on one cell."""
        tactics = self._root_tactics if self.settings.forced_moves else None
        return tactics is not None and bool(kernels.has_one_reply(self.forest, tree, tactics))

    def visits(self, tree: int) -> NDArray[np.int32]:
        """Return the visit counts [A] of the root's moves."""
        return root_visits(self.forest, tree)

    def proofs(self, tree: int) -> NDArray[np.int16]:
        """Return the proofs [A] of the root's moves: `n` wins in `n` plies, `-n` loses in `n`, 0 is unknown."""
        return root_proofs(self.forest, tree)

    def priors(self, tree: int) -> NDArray[np.float32]:
        """Return the evaluator's priors [A] at the root, 0 on occupied cells and everywhere before its evaluation."""
        return root_priors(self.forest, tree)

    def value(self, tree: int) -> float:
        """Return the root's value for its side to move, -1 to 1: its proven value, else the mean of the search."""
        return float(kernels.root_value(self.forest, tree, self._params.decay))

    def policy(self, tree: int, temperature: float = 1.0) -> NDArray[np.float32]:
        """Return pi [A] of the search (`search.tree.move_policy.search_policy`)."""
        return root_policy(self.forest, tree, temperature)

    def analysis(self, tree: int, seconds: float) -> Analysis:
        """Return the analysis of a searched tree, which took `seconds`."""
        return analyse_root(self.forest, tree, decay=self._params.decay, seconds=seconds)

    def play(self, tree: int, move: Cell) -> None:
        """Makes a legal move at the tree's root; the subtree below it is kept, the rest freed.

        The move must not end the game: a finished game cannot be searched.
        """
        forest = self.forest
        kept = kernels.reroot(forest, tree, move, self._remap)
        root = forest.trees[tree]
        forest.root_stones[tree, move] = root["to_move"]
        root["key"] ^= STONE_KEYS[0 if root["to_move"] == BLACK else 1, move] ^ WHITE_TO_MOVE
        root["to_move"] *= -1
        root["last_move"], root["move_before"] = move, root["last_move"]
        if not kept:
            clear(forest, tree)

    def _on_all(self, work: Callable[[int, _Shard], int], group: _Group) -> list[int]:
        """`work(index, shard)` for every shard of a group, on a thread each."""
        if self._pool is None:
            return [work(0, group.shards[0])]
        return list(self._pool.map(work, range(len(group.shards)), group.shards))

    def _gather(self, _: int, shard: _Shard) -> int:
        trees = shard.trees[self._active[shard.trees]]
        if not len(trees):
            return 0
        return kernels.gather(
            self.forest,
            trees,
            self.settings.leaves_in_flight,
            self.settings.visits_per_leaf,
            self.rules.connect,
            self._params,
            shard.leaves,
            shard.tactics,
        )

    def _start(self, group: _Group) -> None:
        if group.in_flight:
            return
        found = self._on_all(self._gather, group)
        if not any(found):
            return
        group.found[:] = found
        slot = group.slot
        positions = slot.positions
        slot.count, group.known = cache.assign_rows(
            group.leaves,
            group.starts,
            group.found,
            self._identity,
            self._origins,
            self._images,
            self.judged.entries,
            self.judged.next_batch(),
            positions.stones,
            positions.to_move,
            positions.last_moves,
            slot.logits,
            slot.values,
            group.entry_of_row,
        )
        group.in_flight = True
        if slot.count:
            try:
                group.ticket = self.evaluator.submit(slot)
            except BaseException:
                self._abandon(group)
                raise
            self.evaluations += slot.count

    def _finish(self, group: _Group) -> None:
        if not group.in_flight:
            return
        ticket, slot, entries = group.ticket, group.slot, self.judged.entries
        group.ticket = None
        try:
            if ticket is not None:
                ticket.result()
        except BaseException:
            self._abandon(group)
            raise
        # Batches end in the order they began, so whatever this one waits for is there, or failed.
        remembers = len(entries.key) > 0
        if remembers and not cache.collect_rows(entries, group.entry_of_row, group.known, slot.logits, slot.values):
            group.known = slot.capacity
            self._abandon(group)
            raise EvaluationError("a batch before this one failed, which was to judge some of its positions")
        group.in_flight = False

        def expand(index: int, shard: _Shard) -> int:
            return kernels.expand(
                self.forest,
                shard.leaves,
                slot.logits,
                slot.values,
                int(group.found[index]),
                self._images,
                self._params,
                shard.tactics,
            )

        if max(self._on_all(expand, group)) >= 0:
            cache.forget_rows(entries, group.entry_of_row, slot.count)
            raise EvaluationError(
                "the net's policy or value is not a finite number: the weights of its model are broken"
            )
        if remembers:
            cache.store_rows(entries, group.entry_of_row, slot.count, slot.logits, slot.values)

    def _abandon(self, group: _Group) -> None:
        group.in_flight = False
        for shard, found in zip(group.shards, group.found, strict=True):
            kernels.abandon(self.forest, shard.leaves, int(found))
        slot, entries = group.slot, self.judged.entries
        cache.forget_rows(entries, group.entry_of_row, slot.count)
        cache.collect_rows(entries, group.entry_of_row, group.known, slot.logits, slot.values)


def search_all(search: ForestSearch, positions: Sequence[Position], simulations: int) -> None:
    """Searches each position from a fresh root to its end, one a tree; there must be a tree for each."""
    for tree, position in enumerate(positions):
        search.set_root(tree, position)
        search.begin(tree, simulations)
    waiting = len(positions)
    while waiting:
        waiting -= len(search.advance())
