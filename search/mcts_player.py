"""The player that searches with an evaluator: positions in, moves by one of the three policies out."""

import threading
from collections.abc import Callable, Sequence

import numpy as np

from core.position import Position
from core.rules import Rules
from core.streams import Purpose, generator
from search.evaluator import Evaluator
from search.forest import bytes_per_node
from search.mcts import ForestSearch
from search.move_policy import choose_move, samples_at, visit_distribution
from search.players import Decision, never
from search.settings import Policy, SearchSettings

_MOST_TREES = 64
"""Positions searched at once: with 8 leaves of each in flight two halves of them fill batches of `BATCH_AIM`."""
_MOST_BYTES = 1 << 30
"""Memory that their trees may fill together; a single tree may be larger."""


class MctsPlayer:
    """Starts each move with an empty tree (A II-C); with 0 simulations it plays by the evaluator's policy alone."""

    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        settings: SearchSettings,
        *,
        policy: Policy = Policy.SEMI_STOCHASTIC,
        switch_stage: int = 6,
        temperature: float = 1.0,
        name: str = "mcts",
    ) -> None:
        self.name = name
        self._evaluator = evaluator
        self._rules = rules
        self._settings = settings
        self._policy = policy
        self._switch_stage = switch_stage
        self._temperature = temperature
        self._search: ForestSearch | None = None
        self._trees = 0
        self._lock = threading.Lock()

    def choose(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        """See `Player`. Positions are searched side by side, their leaves in shared batches; callers take turns."""
        decisions: list[Decision] = []
        tree_bytes = bytes_per_node(self._rules) * (self._settings.simulations + 1)
        most = max(1, min(_MOST_TREES, _MOST_BYTES // tree_bytes))
        with self._lock:
            for first in range(0, len(positions), most):
                chunk = slice(first, first + most)
                try:
                    decisions += self._choose(positions[chunk], seeds[chunk], stop)
                except BaseException:
                    self._search = None  # who knows what state it is in
                    raise
        return decisions

    def _forest_for(self, trees: int) -> ForestSearch:
        # The arrays are kept between calls, since their pages cost time to make; what is in them is not.
        if self._search is None or self._trees < trees or trees * 4 < self._trees:
            # As many leaves of a tree in flight as the settings say, whatever is beside it: a decision must not
            # depend on the company.
            leaves = self._settings.leaves_in_flight
            self._search = ForestSearch(
                self._rules, self._evaluator, self._settings, trees=trees, leaves_per_tree=leaves
            )
            self._trees = trees
        return self._search

    def _choose(self, positions: Sequence[Position], seeds: Sequence[int], stop: Callable[[], bool]) -> list[Decision]:
        search = self._forest_for(len(positions))
        for tree, position in enumerate(positions):
            search.plant(tree, position)
            search.begin(tree, self._settings.simulations)
        waiting = len(positions)
        try:
            while waiting:
                waiting -= len(search.advance())
                if stop():
                    break
        finally:
            search.halt()
        return [self._decide(search, tree, position, seeds[tree]) for tree, position in enumerate(positions)]

    def _decide(self, search: ForestSearch, tree: int, position: Position, seed: int) -> Decision:
        visits = search.visits(tree)
        searched = bool(visits.any())
        if searched:
            policy = visit_distribution(visits, self._temperature)
        else:
            priors = search.priors(tree)
            if not priors.any():  # stopped before the first answer came
                priors = (position.stones == 0).astype(np.float32)
            policy = priors / priors.sum()
        sample = samples_at(self._policy, position.ply, self._switch_stage)
        move = choose_move(policy, sample=sample, generator=generator(seed, Purpose.MOVE))
        simulations = int(search.forest.visits[tree, 0]) if searched else 0
        return Decision(move, value=search.value(tree), policy=policy, simulations=simulations)
