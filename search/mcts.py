"""The driver of the search: keeps the evaluator busy with one half of the forest while kernels descend the other."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import Cell, Rules
from search import kernels
from search.evaluator import Evaluator, Slot, Ticket
from search.forest import OPEN, Forest, clear, make_forest, plant
from search.settings import DecayForm, FirstPlay, SearchSettings

BATCH_AIM = 256
"""Leaves aimed at in a batch: each tree in flight gives its share of them."""


class EvaluationError(RuntimeError):
    """The evaluator gave a number that is not finite."""


@dataclass(slots=True)
class _Group:
    """Some trees of the forest and the batch they share."""

    trees: NDArray[np.int64]
    slot: Slot
    leaves: kernels.Leaves
    """The slot's own arrays, and where in the forest each row belongs."""
    ticket: Ticket | None = None


class ForestSearch:
    """Asynchronous tree search with virtual loss over many positions at once (A II-E).

    Give each tree a position (`plant`) and simulations (`begin`), then call `advance` until it names the tree as
    finished; ask for `visits` and `value`, and `play` a move or plant another position. The order in which trees finish
    and all that is found depend on the evaluator's answers alone, not on its timing.
    """

    def __init__(
        self,
        rules: Rules,
        evaluator: Evaluator,
        settings: SearchSettings,
        *,
        trees: int,
        capacity: int | None = None,
        leaves_per_tree: int | None = None,
    ) -> None:
        """`capacity`: nodes a tree may hold, by default those of one search from a fresh root.

        `leaves_per_tree`: most leaves of a tree in one batch; by default what fills `BATCH_AIM`, at most the settings'
        `leaves_in_flight`.
        """
        self.rules = rules
        self.evaluator = evaluator
        self.settings = settings
        # A batch with a single tree has nothing to overlap with: its next descents need its last answers.
        groups = 2 if trees > 1 else 1
        if leaves_per_tree is None:
            leaves_per_tree = max(1, min(settings.leaves_in_flight, BATCH_AIM * groups // trees))
        self._leaves_per_tree = leaves_per_tree
        self.forest: Forest = make_forest(trees, capacity or settings.simulations + 1, rules.cells)
        self._groups = [self._make_group(np.arange(group, trees, groups)) for group in range(groups)]
        self._turn = 0
        self._active = np.zeros(trees, dtype=np.bool_)
        self._remap = np.empty(self.forest.capacity, dtype=np.int32)
        self._terms = kernels.Terms(
            c_puct=float(settings.c_puct),
            decay=float(settings.value_decay),
            repository=settings.decay_form is DecayForm.REPOSITORY,
            fpu_reduction=float(settings.fpu_reduction) if settings.first_play is FirstPlay.REDUCED else -1.0,
            virtual_loss=int(settings.virtual_loss),
            virtual_loss_share=float(settings.virtual_loss_share),
        )
        self.evaluations = 0
        """Positions judged so far."""

    def _make_group(self, trees: NDArray[np.int64]) -> _Group:
        capacity = len(trees) * self._leaves_per_tree + 1  # one more: a descent needs a row to play on
        slot = Slot.with_capacity(capacity, self.rules.cells)
        where = np.zeros((2, capacity), dtype=np.int32)
        positions = slot.positions
        leaves = kernels.Leaves(positions.stones, positions.to_move, positions.last_moves, where[0], where[1])
        return _Group(trees, slot, leaves)

    def plant(self, tree: int, position: Position) -> None:
        """Gives the tree a position, with nothing searched yet. Raises `ValueError` if the game is over."""
        if position.rules != self.rules:
            raise ValueError(f"a search of {self.rules} cannot take a position of {position.rules}")
        plant(self.forest, tree, position)

    def begin(
        self, tree: int, simulations: int, *, noise: NDArray[np.float32] | None = None, noise_share: float = 0.0
    ) -> None:
        """Orders `simulations` new ones (at least one) from the tree's root; `noise` [A] is mixed into its priors once.

        A kept subtree that leaves no room for them is forgotten.
        """
        if self.forest.nodes[tree] + simulations > self.forest.capacity:
            clear(self.forest, tree)
        self.forest.simulations_left[tree] = max(1, simulations)
        if noise is not None:
            self.forest.root_noise[tree] = noise
            self.forest.root_noise_share[tree] = noise_share
            if self.forest.state[tree, 0] == OPEN:
                kernels.mix_root_noise(self.forest, tree)
        self._active[tree] = True

    def advance(self) -> list[int]:
        """One round: starts a batch for one group of trees, ends that of the next; names the trees that finished.

        Raises what the evaluation raised, and `EvaluationError` for numbers that are not finite.
        """
        self._start(self._groups[self._turn])
        self._turn = (self._turn + 1) % len(self._groups)
        group = self._groups[self._turn]
        self._finish(group)
        done = group.trees[self._active[group.trees] & (self.forest.simulations_left[group.trees] == 0)]
        self._active[done] = False
        return [int(tree) for tree in done]

    def halt(self) -> None:
        """Ends all searches where they stand: waits for batches in flight and starts no more.

        Raises the first of what their evaluations raised, after all of them have ended.
        """
        self.forest.simulations_left[:] = 0
        self._active[:] = False
        errors: list[BaseException] = []
        for group in self._groups:
            try:
                self._finish(group)
            except BaseException as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def visits(self, tree: int) -> NDArray[np.int32]:
        """[A] the visit counts of the moves at the root."""
        visits = np.empty(self.rules.cells, dtype=np.int32)
        kernels.root_visits(self.forest, tree, visits)
        return visits

    def priors(self, tree: int) -> NDArray[np.float32]:
        """[A] the evaluator's priors at the root, 0 on occupied cells (and everywhere before it was judged)."""
        forest = self.forest
        if forest.state[tree, 0] != OPEN:
            return np.zeros(self.rules.cells, dtype=np.float32)
        priors: NDArray[np.float32] = np.maximum(forest.child_priors[tree, 0], 0.0)
        children = np.flatnonzero(forest.parent[tree, : forest.nodes[tree]] == 0)
        priors[forest.move[tree, children]] = forest.prior[tree, children]
        return priors

    def value(self, tree: int) -> float:
        """The root's value for its side to move, -1 to 1: the mean over what was searched."""
        return float(kernels.root_value(self.forest, tree))

    def play(self, tree: int, move: Cell) -> None:
        """Makes a legal move at the tree's root; the subtree below it is kept, the rest freed.

        The move must not end the game: a finished game cannot be searched.
        """
        forest = self.forest
        kept = kernels.reroot(forest, tree, move, self._remap)
        forest.root_stones[tree, move] = forest.root_to_move[tree]
        forest.root_to_move[tree] *= -1
        forest.root_last_moves[tree, 1] = forest.root_last_moves[tree, 0]
        forest.root_last_moves[tree, 0] = move
        if not kept:
            clear(forest, tree)

    def _start(self, group: _Group) -> None:
        trees = group.trees[self._active[group.trees]]
        if group.ticket is not None or not len(trees):
            return
        slot = group.slot
        slot.count = kernels.gather(
            self.forest,
            trees,
            self._leaves_per_tree,
            self.settings.visits_per_leaf,
            self.rules.connect,
            self._terms,
            group.leaves,
        )
        if not slot.count:
            return
        try:
            group.ticket = self.evaluator.submit(slot)
        except BaseException:
            kernels.abandon(self.forest, group.leaves, slot.count)
            raise
        self.evaluations += slot.count

    def _finish(self, group: _Group) -> None:
        ticket, slot = group.ticket, group.slot
        if ticket is None:
            return
        group.ticket = None
        try:
            ticket.result()
        except BaseException:
            kernels.abandon(self.forest, group.leaves, slot.count)
            raise
        broken = kernels.expand(self.forest, group.leaves, slot.logits, slot.values, slot.count, self._terms)
        if broken >= 0:
            raise EvaluationError(
                "the net's policy or value is not a finite number: the weights of its model are broken"
            )


def search_all(search: ForestSearch, positions: Sequence[Position], simulations: int) -> None:
    """Searches each position from a fresh root to its end, one a tree; there must be a tree for each."""
    for tree, position in enumerate(positions):
        search.plant(tree, position)
        search.begin(tree, simulations)
    waiting = len(positions)
    while waiting:
        waiting -= len(search.advance())
