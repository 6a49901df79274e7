"""State of a mentor's search: the frames of the current line, the progress of a paused search, and all its tables."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled.zobrist import STONE_KEYS
from core.rules import Rules
from search.mentor.evaluation import Evaluation, new_evaluation
from search.mentor.scores import INFINITY

MAX_PLY = 96
"""Plies ahead of the root at which every line ends, forced replies included."""
MAX_DEPTH = 48
"""The greatest depth of a search."""
NO_MOVE = -1
SCORE, BEST, LINE = range(3)
"""Columns of `SearchState.root`."""

_MARGINS = ((4, 80), (2, 250), (3, 80))
"""The rows of `SearchState.margins`: the greatest depth with a margin, and the margin for each ply of depth."""
_MIN_WIDTH = 10
"""The maximum of candidates at the horizon; it grows by one with each ply of depth."""
_UNORDERED_DEPTH = 4
"""From this depth on, a node without a known move is searched one ply less deep: its poor order costs too much."""

FRAME = np.dtype(
    [
        ("key", "i8"),  # Zobrist key of the stones
        ("alpha", "i8"),
        ("beta", "i8"),
        ("floor", "i8"),  # alpha when the node began
        ("best", "i8"),  # the best score so far
        ("best_move", "i8"),
        ("depth", "i8"),
        ("child_depth", "i8"),
        ("count", "i8"),  # candidates to try
        ("listed", "i8"),  # candidates listed, also those beyond `count`
        ("next", "i8"),  # candidates tried so far
        ("move", "i8"),  # the candidate under way
        ("first_killer", "i8"),  # the last quiet moves that were too good on this ply
        ("second_killer", "i8"),
        ("stage", "i8"),  # how the candidate under way is searched
        ("kind", "i8"),  # the kind of node
        ("complete", "i8"),  # True if no moves but the candidates can matter
    ]
)
"""A node of the current line. All fields have the width of a register: narrow ones made the search 3 percent slower."""

PROGRESS = np.dtype(
    [
        ("nodes", "i8"),  # searched so far
        # Limits of the search, set before it begins.
        ("vcf_nodes", "i8"),  # of a search for a win by fours at the horizon
        ("margin", "i8"),  # root scores at most this much below the best are exact
        ("lines", "i8"),  # so many of the best root scores are exact
        ("slots", "i8"),  # slots of the table in use, a power of two
        ("generation", "i8"),  # generation of this search in the table
        ("oldest", "i8"),  # the oldest generation of which entries are used
        # Set by the search.
        ("empties", "i8"),  # empty cells at the root
        ("side", "i8"),  # to move at the root
        ("ply", "i8"),  # of the node at which a paused search goes on
        ("reached", "i8"),  # root candidates that the iteration has searched
        ("entering", "i8"),  # True if that node is still to be opened
    ]
)
"""The limits of a search, the position of a paused one in its tree, and its counters."""


class SearchState(NamedTuple):
    """The arrays of a search but its board. Later searches use them again, one thread at a time."""

    evaluation: Evaluation
    near: NDArray[np.int16]
    """[A] stones within two rows and columns of each cell."""
    root_moves: NDArray[np.int16]
    """[A] the root's candidates, in the order of the search."""
    ranked: NDArray[np.int32]
    """[MAX_PLY, A] candidates of the nodes on the current line: the rank of each, and its cell in the lowest bits."""
    frames: NDArray[np.void]
    """[MAX_PLY + 1] of `FRAME`: the nodes on the current line."""
    history: NDArray[np.int32]
    """[2, A] scores of each side's quiet moves that were too good, by the depth at which they were."""
    countermoves: NDArray[np.int16]
    """[2, A] each side's last quiet move that was too good after the opponent's move on a cell, or `NO_MOVE`."""
    variations: NDArray[np.int16]
    """[MAX_PLY + 1, MAX_PLY + 1] the principal variation from each ply but the root on: its length, then its moves."""
    reductions: NDArray[np.int8]
    """[MAX_DEPTH + 1, 32] plies less for a late move, by depth and number of the move; in the first column, plies less
    for a node for which the table has no move."""
    margins: NDArray[np.int32]
    """[3, MAX_DEPTH + 1] distances of the evaluation from the window, by depth. Beyond the first the node is too good
    to be searched; beyond the second the horizon is here; beyond the third the node tries few moves. They hold for
    nodes without a threat and with an empty window."""
    widths: NDArray[np.int16]
    """[MAX_DEPTH + 1] the maximum of candidates of a node where nothing is forced, fewer near the horizon."""
    progress: NDArray[np.void]
    """[1] of `PROGRESS`."""
    root: NDArray[np.int64]
    """[A, LINE + MAX_PLY + 1] results of the root's candidates searched in this iteration, in order: in the column
    `SCORE` the score, from `LINE` on the principal variation as in `variations`, empty where the score is a bound.
    Apart from these, the column `BEST` holds the best `lines` scores, the best first. One array, since each more in
    here slows the search down."""
    table: NDArray[np.int64]
    """[slots, 2] the transposition table of `search.mentor.table`."""
    over: NDArray[np.int64]
    """[1] the last generation whose search is over."""
    keys: NDArray[np.int64]
    """[2, A] Zobrist keys of stones."""


def _reductions() -> NDArray[np.int8]:
    """Return `SearchState.reductions`: for late moves they grow with the logarithms of depth and number."""
    depth, number = np.arange(MAX_DEPTH + 1)[:, None], np.arange(32)[None, :]
    plies = 0.7 + np.log(np.maximum(depth, 1)) * np.log(np.maximum(number, 1)) / 0.8
    plies[(depth < 2) | (number < 2)] = 0
    plies[_UNORDERED_DEPTH:, 0] = 1
    return np.minimum(plies, np.maximum(depth - 1, 0)).astype(np.int8)


def _margins() -> NDArray[np.int32]:
    """Return `SearchState.margins`: they grow with the depth, and are out of reach where the horizon is far."""
    depth = np.arange(MAX_DEPTH + 1)
    rows = [np.where(depth <= max_depth, step * depth, 2 * INFINITY) for max_depth, step in _MARGINS]
    return np.array(rows, dtype=np.int32)


def new_search_state(rules: Rules, table: NDArray[np.int64], over: NDArray[np.int64]) -> SearchState:
    """Return a state; those of several threads may share `table` and `over`."""
    return SearchState(
        evaluation=new_evaluation(rules),
        near=np.zeros(rules.cells, dtype=np.int16),
        root_moves=np.zeros(rules.cells, dtype=np.int16),
        ranked=np.zeros((MAX_PLY, rules.cells), dtype=np.int32),
        frames=np.zeros(MAX_PLY + 1, dtype=FRAME),
        history=np.zeros((2, rules.cells), dtype=np.int32),
        countermoves=np.full((2, rules.cells), NO_MOVE, dtype=np.int16),
        variations=np.zeros((MAX_PLY + 1, MAX_PLY + 1), dtype=np.int16),
        reductions=_reductions(),
        margins=_margins(),
        widths=np.arange(_MIN_WIDTH, _MIN_WIDTH + MAX_DEPTH + 1, dtype=np.int16),
        progress=np.zeros(1, dtype=PROGRESS),
        root=np.zeros((rules.cells, LINE + MAX_PLY + 1), dtype=np.int64),
        table=table,
        over=over,
        keys=STONE_KEYS[:, : rules.cells].copy(),
    )
