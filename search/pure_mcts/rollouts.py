"""Random playouts, compiled: a call runs a few hundred of them from a tree's root, so that thousands are cheap."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel
from core.compiled.rules import CompiledRules, is_forbidden, wins
from core.rules import EMPTY
from search.tree.forest import WON, Forest
from search.tree.kernels.backup import back_up, release
from search.tree.kernels.descent import COLLISION, END, FULL, descend
from search.tree.kernels.expansion import open_node
from search.tree.kernels.puct import SearchParams
from search.tree.softmax import Scratch

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
    rules: CompiledRules, stones: NDArray[np.int8], to_move: int, moves: NDArray[np.int64], random: NDArray[np.int64]
) -> int:
    """Play random moves to the end: 1 if `to_move` wins, -1 if it loses, 0 for a draw. Overwrites `stones` [A].

    `moves` [A] is scratch.
    """
    count = 0
    for cell in range(stones.shape[0]):
        if stones[cell] == EMPTY:
            moves[count] = cell
            count += 1
    side = to_move
    while count > 0:
        index = (next_random(random) * count) >> 32
        tries = 0
        while rules.has_fouls is not None and tries < count and is_forbidden(rules, stones, moves[index], side):
            index, tries = (index + 1) % count, tries + 1
        if tries == count:
            return 0
        cell = moves[index]
        count -= 1
        moves[index] = moves[count]
        stones[cell] = side
        if wins(rules, stones, cell):
            return 1 if side == to_move else -1
        side = -side
    return 0


@kernel
def run_playouts(
    rules: CompiledRules,
    forest: Forest,
    playouts: int,
    params: SearchParams,
    random: NDArray[np.int64],
    scratch: Scratch,
) -> None:
    """Run `playouts` playouts from the root of a single tree: descend, roll out from the leaf, back up."""
    tree, cells = 0, forest.root_stones.shape[1]
    stones = np.empty(cells, dtype=np.int8)
    board = np.empty(cells, dtype=np.int8)
    moves = np.empty(cells, dtype=np.int64)
    logits = scratch.numbers[0]
    for _ in range(playouts):
        descent = descend(forest, tree, stones, rules, params, scratch)
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
            value = roll_out(rules, board, descent.to_move, moves, random)
            open_node(forest, tree, node, stones, descent.to_move, rules, logits, float(value), scratch)
            back_up(forest, tree, node, float(-value), params.decay)
