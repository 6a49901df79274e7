"""Random playouts, compiled: a call runs a few hundred of them from a tree's root, so that thousands are cheap."""

import numpy as np
from numpy.typing import NDArray

from core.compiled.jit import kernel
from core.compiled.lines import makes_line
from core.rules import EMPTY
from search.tree.forest import WON, Forest
from search.tree.kernels import COLLISION, END, FULL, SearchParams, back_up, descend, open_node, release
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
    scratch = Scratch(
        turned=logits,
        weights=np.empty(cells, dtype=np.float32),
        exponents=np.empty(cells, dtype=np.int32),
        collided=np.empty(0, dtype=np.int32),
    )
    for _ in range(playouts):
        descent = descend(forest, tree, stones, connect, params, scratch)
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
            open_node(forest, tree, node, stones, logits, float(value), scratch)
            back_up(forest, tree, node, float(-value), params.decay)
