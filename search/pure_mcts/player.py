"""Pure Monte Carlo tree search: PUCT with uniform priors and random playouts, without a net."""

import math
import time
from collections.abc import Sequence

import numpy as np

from core.compiled.rules import compile_rules
from core.input_limits import MAX_SIMULATIONS
from core.position import Position
from core.streams import Purpose, stream_key
from search.analysis import Analysis
from search.limit import Limit
from search.players import PLAIN, Decision, How, Player, Reports, Stop, decide_each, never
from search.pure_mcts.rollouts import run_playouts
from search.tree.forest import bytes_per_node, make_forest, set_root
from search.tree.kernels.puct import kernel_params
from search.tree.root import Roots
from search.tree.settings import DEFAULT_MAX_BYTES, FirstPlay, SearchSettings
from search.tree.softmax import make_scratch

_SETTINGS = SearchSettings(value_decay=1.0, first_play=FirstPlay.ZERO, proven_nodes=False)
_PARAMS = kernel_params(_SETTINGS)
_PLAYOUTS_A_CALL = 500


class PureMcts(Player):
    """Monte Carlo tree search with random playouts and no net; plays the most visited move, keeps no tree."""

    compiles = True

    def __init__(self, playouts: int) -> None:
        """`playouts` a move, 2 or more: the first only opens the root. Raises `ValueError` for any other number."""
        self.playouts = _checked(playouts)
        self.name = f"pure-mcts:{playouts}"
        self.limit = Limit(nodes=playouts)

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. Positions are searched on all cores; `limit.nodes` are playouts.

        Raises `ValueError` for a limit of depth.
        """

        def decide(position: Position, seed: int) -> Decision:
            return _decision_of(self._searched(position, limit, How(seed, stop)))

        return decide_each(decide, positions, seeds)

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> tuple[Decision, Analysis]:
        """See `Player`: all legal moves, the best first."""
        started = time.perf_counter()
        roots = self._searched(position, limit, how)
        return _decision_of(roots), roots.analysis(0, time.perf_counter() - started, how.lines)

    def _searched(self, position: Position, limit: Limit | None, how: How) -> Roots:
        """Return the tree of one position after its playouts."""
        started, reports = time.perf_counter(), Reports(how.report)
        rules, compiled = position.rules, compile_rules(position.rules)
        playouts, deadline = self.playouts, math.inf
        if limit is not None:
            if limit.depth is not None:
                raise ValueError("pure MCTS has no depth: limit its nodes (playouts) or its seconds")
            largest = min(MAX_SIMULATIONS, DEFAULT_MAX_BYTES // bytes_per_node(rules))
            playouts = largest if limit.nodes is None else _checked(limit.nodes)
            deadline = math.inf if limit.seconds is None else time.monotonic() + limit.seconds
        forest = make_forest(1, playouts + 1, rules.cells)
        set_root(forest, 0, position)
        roots = Roots(compiled, forest, _SETTINGS, has_priors=False)
        random = np.array([stream_key(how.seed or 0, Purpose.ROLLOUT) % 0xFFFFFFFF + 1], dtype=np.int64)
        scratch, done = make_scratch(rules.cells), 0
        while done < playouts and not (done >= 2 and (how.stop() or time.monotonic() >= deadline)):
            count = min(_PLAYOUTS_A_CALL, playouts - done)
            run_playouts(compiled, forest, count, _PARAMS, random, scratch)
            done += count
            if reports.is_due(time.monotonic()):
                reports.send(roots.analysis(0, time.perf_counter() - started))
        return roots


def _decision_of(roots: Roots) -> Decision:
    visits = roots.visits(0)
    return Decision(
        move=int(np.argmax(visits)),
        value=roots.value(0),
        policy=(visits / visits.sum()).astype(np.float32),
        simulations=int(roots.forest.nodes["visits"][0, 0]),
    )


def _checked(playouts: int) -> int:
    if not 2 <= playouts <= MAX_SIMULATIONS:
        raise ValueError(f"pure MCTS makes 2 to {MAX_SIMULATIONS:,} playouts a move, not {playouts:,}")
    return playouts
