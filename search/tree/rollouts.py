"""Pure Monte Carlo tree search: PUCT with uniform priors and random playouts, without a net.

A compiled call runs a few hundred playouts of a position, so that thousands are cheap.
"""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.lines import makes_line
from core.position import Position
from core.rules import EMPTY
from core.streams import Purpose, stream_key
from search.analysis import Analysis
from search.limits import Limit
from search.players import Decision, Player, decide_each, never
from search.tree import kernels
from search.tree.forest import WON, Forest, bytes_per_node, make_forest, set_root
from search.tree.kernels import COLLISION, END, FULL, SearchParams, back_up, descend, open_node, release
from search.tree.root import analyse_root, root_visits
from search.tree.settings import DEFAULT_MAX_BYTES, MAX_SIMULATIONS

_PARAMS = SearchParams(
    c_puct=5.0,
    decay=1.0,
    repository=False,
    fpu_reduction=-1.0,
    virtual_loss=1,
    virtual_loss_share=1.0,
    proofs=False,
)
_PLAYOUTS_A_CALL = 500
_TIE_BREAK = 0.05
"""Spread of random logits around uniform priors, so that equal moves are tried in random order."""


@kernel
def next_random(state: NDArray[np.int64]) -> int:
    """Return a random integer of 32 bits, above 0 (xorshift32, Marsaglia 2003). `state` [1] holds the last one."""
    x: int = state[0]
    x ^= (x << 13) & 0xFFFFFFFF
    x ^= x >> 17
    x ^= (x << 5) & 0xFFFFFFFF
    state[0] = x
    return x


@kernel
def roll_out(
    stones: NDArray[np.int8],
    to_move: int,
    size: int,
    connect: int,
    empties: NDArray[np.int64],
    random: NDArray[np.int64],
) -> int:
    """Play random moves to the end: 1 if `to_move` wins, -1 if it loses, 0 for a draw. Overwrites `stones` [A]."""
    count = 0
    for cell in range(stones.shape[0]):
        if stones[cell] == EMPTY:
            empties[count] = cell
            count += 1
    side = to_move
    while count > 0:
        index = (next_random(random) * count) >> 32
        cell = empties[index]
        count -= 1
        empties[index] = empties[count]
        stones[cell] = side
        if makes_line(stones, cell, size, connect):
            return 1 if side == to_move else -1
        side = -side
    return 0


@kernel
def run_playouts(
    forest: Forest, tree: int, playouts: int, size: int, connect: int, params: SearchParams, random: NDArray[np.int64]
) -> None:
    """Run `playouts` playouts from the tree's root: descend, roll out from the leaf, back up."""
    cells = forest.root_stones.shape[1]
    stones = np.empty(cells, dtype=np.int8)
    board = np.empty(cells, dtype=np.int8)
    logits = np.empty(cells, dtype=np.float32)
    empties = np.empty(cells, dtype=np.int64)
    weights = np.empty(cells, dtype=np.float32)
    exponents = np.empty(cells, dtype=np.int32)
    for _ in range(playouts):
        descent = descend(forest, tree, stones, connect, params)
        node = descent.node
        if descent.end == END:
            back_up(forest, tree, node, 1.0 if forest.nodes[tree, node]["state"] == WON else 0.0, params.decay)
        elif descent.end in (FULL, COLLISION):
            release(forest, tree, node)
            return
        else:
            for cell in range(cells):
                logits[cell] = _TIE_BREAK * (next_random(random) / 4294967296.0)
            board[:] = stones
            value = roll_out(board, descent.to_move, size, connect, empties, random)
            open_node(forest, tree, node, stones, logits, float(value), weights, exponents)
            back_up(forest, tree, node, float(-value), params.decay)


class PureMcts(Player):
    """Monte Carlo tree search with random playouts and no net; plays the most visited move, keeps no tree."""

    def __init__(self, playouts: int) -> None:
        """`playouts` a move, 2 or more: the first only opens the root. Raises `ValueError` for any other number."""
        self.playouts = _checked(playouts)
        self.name = f"pure-mcts:{playouts}"

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

    def analyse(
        self, position: Position, limit: Limit | None = None, *, seed: int = 0, stop: Callable[[], bool] = never
    ) -> Analysis:
        """Return the search's view of a position that is not over: all legal moves, the best first."""
        started = time.perf_counter()
        forest = self._searched(position, seed, limit, stop)
        return analyse_root(forest, 0, decay=_PARAMS.decay, seconds=time.perf_counter() - started, has_priors=False)

    def _decide(self, position: Position, seed: int, limit: Limit | None, stop: Callable[[], bool]) -> Decision:
        forest = self._searched(position, seed, limit, stop)
        visits = root_visits(forest, 0)
        return Decision(
            move=int(np.argmax(visits)),
            value=float(kernels.root_value(forest, 0, _PARAMS.decay)),
            policy=(visits / visits.sum()).astype(np.float32),
            simulations=int(forest.nodes["visits"][0, 0]),
        )

    def _searched(self, position: Position, seed: int, limit: Limit | None, stop: Callable[[], bool]) -> Forest:
        """Return the tree of one position after its playouts."""
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
            run_playouts(forest, 0, count, rules.size, rules.connect, _PARAMS, random)
            done += count
        return forest


def _checked(playouts: int) -> int:
    if not 2 <= playouts <= MAX_SIMULATIONS:
        raise ValueError(f"pure MCTS makes 2 to {MAX_SIMULATIONS:,} playouts a move, not {playouts:,}")
    return playouts
