"""The player that searches with an evaluator: positions in, moves by one of the three policies out."""

import threading
import time
from collections.abc import Callable, Sequence

from core.evaluation import Evaluator, Prepares
from core.position import Position
from core.rules import Rules
from core.streams import Purpose, generator
from search.limits import Limit
from search.players import Decision, Player, never
from search.tree.forest import bytes_per_node
from search.tree.mcts import ForestSearch
from search.tree.move_policy import choose_move, samples_at
from search.tree.settings import MAX_SIMULATIONS, Policy, SearchSettings

_MAX_TREES = 64
"""Positions searched at once."""
_MAX_BYTES = 1 << 30
"""Memory that their trees may fill together where nothing else is said; a single tree of a fixed number of simulations
may then be larger."""


class MctsPlayer(Player):
    """Starts each move with an empty tree (A II-C), except after `ponder`, and where it keeps its tree.

    With 0 simulations it plays by the evaluator's policy alone.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        rules: Rules,
        settings: SearchSettings,
        *,
        policy: Policy = Policy.SEMI_STOCHASTIC,
        switch_stage: int = 6,
        temperature: float = 1.0,
        seconds: float | None = None,
        max_bytes: int | None = None,
        keeps_tree: bool = False,
        name: str = "mcts",
    ) -> None:
        """With `seconds` it thinks about each move for so long, whatever number of simulations that makes.

        With `keeps_tree` the tree of a position that was asked about alone is kept. The next decision on a position
        that continues it goes on from there, with as many new simulations as without; it depends on what came before.
        """
        self.max_bytes = max_bytes
        """Memory that trees may fill together, at least one node's. May be changed between decisions; None sets a
        limit of its own, which a single tree of a fixed number of simulations may exceed."""
        self.name = name
        self._evaluator = evaluator
        self._rules = rules
        self._settings = settings
        self._policy = policy
        self._switch_stage = switch_stage
        self._temperature = temperature
        self._seconds = seconds
        self._keeps_tree = keeps_tree
        # A leaf with one reply takes a node for that as well, and then the leaf is the position after it.
        self._nodes_each = 2 if settings.forced_moves else 1
        self._search: ForestSearch | None = None
        self._kept: Position | None = None
        """The position at the root of the first tree, where that is kept."""
        self._lock = threading.Lock()

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`. Positions are searched side by side, their leaves in shared batches; callers take turns.

        Under a limit of time they are searched one after the other, so that each gets all of its time.
        """
        decisions: list[Decision] = []
        most = 1
        if self._seconds is None:
            most = max(1, min(_MAX_TREES, self._max_nodes() // self._nodes_for(self._settings.simulations)))
        with self._lock:
            for first in range(0, len(positions), most):
                chunk = slice(first, first + most)
                try:
                    decisions += self._choose(positions[chunk], seeds[chunk], stop)
                except BaseException:
                    self._search = self._kept = None  # who knows what state it is in
                    raise
        return decisions

    def prepare(self) -> None:
        """Makes ahead what a decision on one position would otherwise make when it first needs it, in the midst of a
        game; may run on a thread of its own, beside decisions."""
        if isinstance(self._evaluator, Prepares):
            self._evaluator.prepare(self._settings.leaves_in_flight)

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        """Thinks about a position until `stop` says so, for `choose` to go on from when one move more was made.

        What `choose` then decides depends on how far this got.
        """
        with self._lock:
            try:
                search = self._forest_for(1, self._max_nodes())
                if not self._resume(search, position):
                    search.set_root(0, position)
                self._kept = position.copy()
                self._run(search, 1, search.forest.capacity, stop)
            except BaseException:
                self._search = self._kept = None
                raise

    def _nodes_for(self, simulations: int) -> int:
        """Nodes that a fresh tree of so many simulations needs room for."""
        return self._nodes_each * simulations + 1

    def _max_nodes(self) -> int:
        """Nodes that all trees may have together."""
        max_bytes = _MAX_BYTES if self.max_bytes is None else self.max_bytes
        return max(1, min(MAX_SIMULATIONS, max_bytes // bytes_per_node(self._rules)))

    def _forest_for(self, trees: int, capacity: int) -> ForestSearch:
        # The arrays are kept between calls, since their pages cost time to make; what is in them is not.
        search = self._search
        held = len(search.forest.trees) if search else 0
        too_large = (
            search is not None
            and self.max_bytes is not None
            and (held * search.forest.capacity > max(self._max_nodes(), trees * capacity))
        )
        if search is None or held < trees or trees * 4 < held or search.forest.capacity < capacity or too_large:
            search = self._search = None  # so that two are never held at once
            search = ForestSearch(self._rules, self._evaluator, self._settings, trees=trees, capacity=capacity)
            self._search, self._kept = search, None
        return search

    def _resume(self, search: ForestSearch, position: Position) -> bool:
        """Brings the tree that is kept to `position`, if it was reached from there; False where it was not."""
        if self._kept is None:
            return False
        known, moves = self._kept.moves, position.moves
        self._kept = None
        if moves[: len(known)] != known:
            return False
        for move in moves[len(known) :]:
            search.play(0, move)
        return True

    def _choose(self, positions: Sequence[Position], seeds: Sequence[int], stop: Callable[[], bool]) -> list[Decision]:
        alone = len(positions) == 1
        most = self._max_nodes()
        simulations = self._settings.simulations if self._seconds is None else (most - 1) // self._nodes_each
        capacity = self._nodes_for(simulations)
        if self._keeps_tree and alone:
            capacity = max(capacity, most)  # the new ones come on top of those that were kept
        if self.max_bytes is not None and alone:
            capacity = min(capacity, most)
        search = self._forest_for(len(positions), capacity)
        resumed = alone and self._resume(search, positions[0])
        self._kept = None
        if not resumed:
            for tree, position in enumerate(positions):
                search.set_root(tree, position)
        deadline = time.monotonic() + self._seconds if self._seconds is not None else None
        self._run(
            search,
            len(positions),
            simulations,
            lambda: stop() or (deadline is not None and time.monotonic() >= deadline),
            decides=True,
        )
        if self._keeps_tree and alone:
            self._kept = positions[0].copy()
        return [self._decide(search, tree, position, seeds[tree]) for tree, position in enumerate(positions)]

    def _run(
        self, search: ForestSearch, trees: int, simulations: int, stop: Callable[[], bool], *, decides: bool = False
    ) -> None:
        """Searches the first `trees` trees; where it `decides` on a move, no further than that needs."""
        waiting = 0
        for tree in range(trees):
            room = search.forest.capacity - int(search.forest.trees["nodes"][tree])
            # A kept tree that is full is not forgotten for want of room: what is known of it decides.
            if room or not search.visits(tree).any():
                wanted = 1 if decides and search.has_one_reply(tree) else simulations
                search.begin(tree, min(wanted, -(-room // self._nodes_each)))
                waiting += 1
        try:
            while waiting:
                waiting -= len(search.advance())
                if stop():
                    break
        finally:
            search.halt()

    def _decide(self, search: ForestSearch, tree: int, position: Position, seed: int) -> Decision:
        policy = search.policy(tree, self._temperature)
        sample = samples_at(self._policy, position.ply, self._switch_stage)
        move = choose_move(policy, sample=sample, generator=lambda: generator(seed, Purpose.MOVE))
        searched = search.visits(tree).any()
        simulations = int(search.forest.nodes["visits"][tree, 0]) if searched else 0
        return Decision(
            move,
            value=search.value(tree),
            policy=policy,
            simulations=simulations,
            value_decay=self._settings.value_decay,
        )
