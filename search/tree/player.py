"""The player that searches a tree with an evaluator: positions in, moves by one of the three policies out."""

import math
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from core.arguments import check_kind, member
from core.evaluation import Evaluator, Prepares
from core.input_limits import MAX_SIMULATIONS
from core.position import Position
from core.rules import Rules
from core.streams import Purpose, generator, stream_key
from search.analysis import Analysis
from search.limit import Limit
from search.players import PLAIN, Decision, How, Player, Report, Reports, Stop, never
from search.tree.forest import bytes_per_node
from search.tree.groups import EvaluationError
from search.tree.mcts import ForestSearch, max_batch
from search.tree.move_policy import choose_move, draws_move
from search.tree.settings import DEFAULT_MAX_BYTES, Policy, SearchSettings

_MAX_TREES = 64
"""Positions searched at once."""


class _Budget(NamedTuple):
    """The end of the search for one move."""

    simulations: int | None
    """None for as many as memory holds."""
    seconds: float
    """Infinite without a limit of time."""


class MctsPlayer(Player):
    """Starts each move with an empty tree (A II-C), except after `ponder` and with `keeps_tree`.

    With 0 simulations it plays by the evaluator's policy alone.

    >>> settings = gomoku.SearchSettings(simulations=20)
    >>> player = gomoku.MctsPlayer(gomoku.open_model("default"), gomoku.Rules(), settings)
    >>> player.choose(gomoku.Position()).simulations
    20
    """

    compiles = True

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
        """`seconds` limits each move by time instead of by `settings.simulations`.

        With `keeps_tree` the tree of a single position stays. The next decision on a single position that continues it
        starts from there, with as many new simulations as without; it then depends on earlier decisions.

        Raises `ValueError` for an evaluator that was opened for a board of another size.
        """
        if not callable(getattr(evaluator, "submit", None)):
            raise TypeError(f"evaluator is {evaluator!r}; it must be an evaluator, such as open_model('default')")
        check_kind("rules", rules, Rules, "Rules, such as Rules(15)")
        check_kind("settings", settings, SearchSettings, "SearchSettings, such as SearchSettings(simulations=100)")
        if (cells := getattr(evaluator, "cells", rules.cells)) != rules.cells:  # of `nets`; one of Python may take any
            size = math.isqrt(cells)
            raise ValueError(
                f"the evaluator is for a board of {size}x{size}, not for {rules}: open it with these rules"
            )
        self.max_bytes = max_bytes
        """Memory for all trees together, at least one node's. It may change between decisions. None sets
        `DEFAULT_MAX_BYTES`, which a single tree of a fixed number of simulations may exceed."""
        self.name = name
        self._evaluator = evaluator
        self._rules = rules
        self._settings = settings
        self._policy = member("policy", policy, Policy)
        self._switch_stage = switch_stage
        self._temperature = temperature
        self._budget = _Budget(settings.simulations, math.inf) if seconds is None else _Budget(None, seconds)
        self._keeps_tree = keeps_tree
        # A leaf with a single reply takes a second node: the reply's, which is the leaf then.
        self._nodes_per_simulation = 2 if settings.forced_moves else 1
        self._search: ForestSearch | None = None
        self._kept: Position | None = None
        """The position at the root of the first tree, if that tree is kept."""
        self._lock = threading.Lock()
        # Without simulations an analysis is the one that evaluates the position.
        self.limit = Limit(nodes=max(1, settings.simulations)) if seconds is None else Limit(seconds=seconds)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. Positions are searched side by side, their leaves in shared batches; callers take turns.

        `limit.nodes` are simulations. With a limit of time positions are searched one after the other, so that each
        gets all of its time. Raises `ValueError` for a limit of depth.
        """
        budget = self._budget_of(limit)
        batch = 1
        if budget.simulations is not None and budget.seconds == math.inf:
            batch = max(1, min(_MAX_TREES, self._max_nodes() // self._nodes_for(budget.simulations)))
        decisions: list[Decision] = []
        with self._searching():
            for first in range(0, len(positions), batch):
                some = positions[first : first + batch]
                keys = [stream_key(seed, Purpose.SEARCH) for seed in seeds[first : first + batch]]
                search = self._searched(some, budget, stop, keys=keys)
                decisions += [self._decide(search, tree, some[tree], seeds[first + tree]) for tree in range(len(some))]
        return decisions

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `Player`: all legal moves, the best first."""
        budget = self._budget_of(limit)
        started = time.perf_counter()
        keys = None if how.seed is None else [stream_key(how.seed, Purpose.SEARCH)]
        with self._searching():
            search = self._searched([position], budget, how.stop, keys=keys, report=how.report)
            analysis = search.analysis(0, time.perf_counter() - started, how.lines)
            return self._decide(search, 0, position, how.seed or 0), analysis

    @contextmanager
    def _searching(self) -> Iterator[None]:
        """Have the trees to oneself; after an error their state is unknown, and the next search makes new ones."""
        with self._lock:
            try:
                yield
            except BaseException as error:
                self._search = self._kept = None
                if isinstance(error, EvaluationError):
                    raise EvaluationError(f"{self.name}: {error}") from error
                raise

    def prepare(self) -> None:
        """Prepare the evaluator for decisions on one position, so that the first one in a game does not wait for it.

        May run on a thread of its own during decisions.
        """
        if isinstance(self._evaluator, Prepares):
            self._evaluator.prepare(max_batch(self._settings))

    def ponder(self, position: Position, stop: Stop) -> None:
        """Search a position until `stop` returns True; `choose` goes on from there after one more move.

        The next decision then depends on the progress of this search.
        """
        with self._searching():
            search = self._forest_for(1, self._max_nodes())
            if not self._resume(search, position):
                search.set_root(0, position)
            self._kept = position.copy()
            self._run(search, 1, search.forest.capacity, stop)

    def _budget_of(self, limit: Limit | None) -> _Budget:
        if limit is None:
            return self._budget
        if limit.depth is not None:
            raise ValueError("a tree search has no depth: limit its nodes (simulations) or its seconds")
        if limit.nodes is not None and limit.nodes > MAX_SIMULATIONS:
            raise ValueError(f"nodes is {limit.nodes:,}; a tree search makes at most {MAX_SIMULATIONS:,} simulations")
        return _Budget(limit.nodes, math.inf if limit.seconds is None else limit.seconds)

    def _nodes_for(self, simulations: int) -> int:
        """Nodes of a fresh tree after so many simulations."""
        return self._nodes_per_simulation * simulations + 1

    def _max_nodes(self) -> int:
        """Nodes of all trees together that memory allows."""
        max_bytes = DEFAULT_MAX_BYTES if self.max_bytes is None else self.max_bytes
        node_bytes = bytes_per_node(self._rules, transpositions=self._settings.transpositions)
        return max(1, min(MAX_SIMULATIONS, max_bytes // node_bytes))

    def _forest_for(self, trees: int, capacity: int) -> ForestSearch:
        # Only the arrays are kept between calls, because the system takes time to provide their pages.
        search = self._search
        held = len(search.forest.trees) if search else 0
        too_large = (
            search is not None
            and self.max_bytes is not None
            and (held * search.forest.capacity > max(self._max_nodes(), trees * capacity))
        )
        if search is None or held < trees or trees * 4 < held or search.forest.capacity < capacity or too_large:
            search = self._search = None  # free the old arrays before the new ones are made
            search = ForestSearch(self._rules, self._evaluator, self._settings, trees=trees, capacity=capacity)
            self._search, self._kept = search, None
        return search

    def _resume(self, search: ForestSearch, position: Position) -> bool:
        """Move the kept tree on to `position`; return False if the game did not pass through its root."""
        if self._kept is None:
            return False
        known, moves = self._kept.moves, position.moves
        self._kept = None
        if moves[: len(known)] != known:
            return False
        for move in moves[len(known) :]:
            search.play(0, move)
        return True

    def _searched(
        self,
        positions: Sequence[Position],
        budget: _Budget,
        stop: Stop,
        *,
        keys: Sequence[int] | None = None,
        report: Report | None = None,
    ) -> ForestSearch:
        """Search the positions, one a tree: for a move with `keys` of their searches, else for an analysis.

        `report` is for a single position.
        """
        single = len(positions) == 1
        max_nodes = self._max_nodes()
        simulations = budget.simulations
        if simulations is None:
            simulations = (max_nodes - 1) // self._nodes_per_simulation
        capacity = self._nodes_for(simulations)
        if self._keeps_tree and single:
            capacity = max(capacity, max_nodes)  # room for the kept nodes and the new ones
        if self.max_bytes is not None and single:
            capacity = min(capacity, max_nodes)
        search = self._forest_for(len(positions), capacity)
        resumed = single and self._resume(search, positions[0])
        self._kept = None
        if not resumed:
            for tree, position in enumerate(positions):
                search.set_root(tree, position)
        started, reports = time.monotonic(), Reports(report)

        def stops() -> bool:
            now = time.monotonic()
            if reports.is_best_due(now) and search.visits(0).any():
                reports.send_best(Decision(search.best_move(0), value=search.value(0)))
                if reports.is_due(now):
                    reports.send(search.analysis(0, now - started))
            return stop() or now >= started + budget.seconds

        self._run(search, len(positions), simulations, stops, keys=keys)
        if self._keeps_tree and single:
            self._kept = positions[0].copy()
        return search

    def _run(
        self, search: ForestSearch, trees: int, simulations: int, stop: Stop, *, keys: Sequence[int] | None = None
    ) -> None:
        """Search the first `trees` trees; with `keys` of their searches it ends as soon as the move is certain."""
        waiting = 0
        for tree in range(trees):
            room = search.forest.capacity - int(search.forest.trees["nodes"][tree])
            # A full kept tree is not cleared: its results decide.
            if room or not search.visits(tree).any():
                count = 1 if keys and search.has_one_reply(tree) else simulations
                key = keys[tree] if keys else 0
                search.begin(tree, min(count, -(-room // self._nodes_per_simulation)), key=key)
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
        sample = draws_move(self._policy, position.ply, self._switch_stage)
        if sample:
            move = choose_move(policy, sample=True, generator=lambda: generator(seed, Purpose.MOVE))
        else:
            move = search.best_move(tree)
        searched = search.visits(tree).any()
        simulations = int(search.forest.nodes["visits"][tree, 0]) if searched else 0
        return Decision(
            move,
            value=search.value(tree),
            policy=policy,
            simulations=simulations,
            value_decay=self._settings.value_decay,
        )
