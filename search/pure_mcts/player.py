"""Pure Monte Carlo tree search: PUCT with uniform priors and random playouts, without a net."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from core.compiled.rules import compile_rules
from core.input_limits import MAX_SIMULATIONS
from core.position import Position
from core.streams import Purpose, stream_key
from search.analysis import Analysis
from search.limit import Limit
from search.players import Decision, Player, Report, Reports, decide_each, never
from search.pure_mcts.rollouts import run_playouts
from search.tree.forest import Forest, bytes_per_node, make_forest, set_root
from search.tree.kernels.puct import SearchParams
from search.tree.kernels.roots import root_value
from search.tree.root import analyse_root, root_visits
from search.tree.settings import DEFAULT_MAX_BYTES

_PARAMS = SearchParams(
    c_puct=5.0,
    decay=1.0,
    repository=False,
    fpu_reduction=-1.0,
    virtual_loss=1,
    virtual_loss_share=1.0,
    proofs=False,
    leaves_in_flight=1,
    visits_per_leaf=1,
    batches_in_flight=1,
    local_playouts=0.0,
)
_PLAYOUTS_A_CALL = 500


class PureMcts(Player):
    """Monte Carlo tree search with random playouts and no net; plays the most visited move, keeps no tree."""

    def __init__(self, playouts: int) -> None:
        """`playouts` a move, 2 or more: the first only opens the root. Raises `ValueError` for any other number."""
        self.playouts = _checked(playouts)
        self.name = f"pure-mcts:{playouts}"
        self.limit = Limit(nodes=playouts)

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`. Positions are searched on all cores; `limit.nodes` are playouts.

        Raises `ValueError` for a limit of depth.
        """
        return decide_each(lambda position, seed: self._decide(position, seed, limit, stop), positions, seeds)

    def search(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        seed: int | None = None,
        stop: Callable[[], bool] = never,
        report: Report | None = None,
        lines: int | None = None,
    ) -> tuple[Decision, Analysis]:
        """See `Player`: all legal moves, the best first."""
        started = time.perf_counter()
        forest = self._searched(position, seed or 0, limit, stop, report)
        return _decision_of(forest), _analysis_of(position, forest, started, lines)

    def _decide(self, position: Position, seed: int, limit: Limit | None, stop: Callable[[], bool]) -> Decision:
        return _decision_of(self._searched(position, seed, limit, stop))

    def _searched(
        self,
        position: Position,
        seed: int,
        limit: Limit | None,
        stop: Callable[[], bool],
        report: Report | None = None,
    ) -> Forest:
        """Return the tree of one position after its playouts."""
        started, reports = time.perf_counter(), Reports(report)
        rules = position.rules
        playouts, deadline = self.playouts, math.inf
        if limit is not None:
            if limit.depth is not None:
                raise ValueError("pure MCTS has no depth: limit its nodes (playouts) or its seconds")
            largest = min(MAX_SIMULATIONS, DEFAULT_MAX_BYTES // bytes_per_node(rules))
            playouts = largest if limit.nodes is None else _checked(limit.nodes)
            deadline = math.inf if limit.seconds is None else time.monotonic() + limit.seconds
        forest = make_forest(1, playouts + 1, rules.cells)
        set_root(forest, 0, position)
        random = np.array([stream_key(seed, Purpose.ROLLOUT) % 0xFFFFFFFF + 1], dtype=np.int64)
        done = 0
        while done < playouts and not (done >= 2 and (stop() or time.monotonic() >= deadline)):
            count = min(_PLAYOUTS_A_CALL, playouts - done)
            run_playouts(compile_rules(rules), forest, 0, count, _PARAMS, random)
            done += count
            if reports.is_due(time.monotonic()):
                reports.send(_analysis_of(position, forest, started))
        return forest


def _decision_of(forest: Forest) -> Decision:
    visits = root_visits(forest, 0)
    return Decision(
        move=int(np.argmax(visits)),
        value=float(root_value(forest, 0, _PARAMS.decay)),
        policy=(visits / visits.sum()).astype(np.float32),
        simulations=int(forest.nodes["visits"][0, 0]),
    )


def _analysis_of(position: Position, forest: Forest, started: float, lines: int | None = None) -> Analysis:
    rules, seconds = compile_rules(position.rules), time.perf_counter() - started
    return analyse_root(rules, forest, 0, decay=_PARAMS.decay, seconds=seconds, has_priors=False, lines=lines)


def _checked(playouts: int) -> int:
    if not 2 <= playouts <= MAX_SIMULATIONS:
        raise ValueError(f"pure MCTS makes 2 to {MAX_SIMULATIONS:,} playouts a move, not {playouts:,}")
    return playouts
