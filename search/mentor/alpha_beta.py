"""The mentor's search: principal-variation search over the likely cells, as one compiled machine that can be paused.

Negamax with an explicit stack of frames (numba cannot load a recursive function from its cache), so a search stops
after any number of nodes, answers Python and goes on where it was. Scores are for the side to move.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import lean_inlined_kernel, lean_kernel
from core.rules import EMPTY, Rules
from core.threats import (
    FIVE,
    FOUR,
    OPEN_FOUR,
    ThreatBoard,
    colour_of,
    load,
    place,
    remove,
    side_of,
    strongest_pattern,
)
from core.zobrist import STONE_KEYS
from search.mentor.evaluation import (
    MAKES_FOUR,
    MAKES_THREE,
    Evaluation,
    Network,
    follow,
    new_evaluation,
    score,
    start,
)
from search.mentor.table import (
    EXACT,
    GENERATIONS,
    INFINITY,
    LOWER,
    UPPER,
    decides,
    depth_of,
    keep,
    look_up,
    move_of,
    score_of,
)
from search.solvers.vcf import VcfWork, fives_of, solve_vcf

MAX_PLY = 96
"""Moves ahead of the root at which every line ends, forced replies included."""
MAX_DEPTH = 48
"""The deepest that a search can be asked for."""

WIN = 30_000
"""A won game; `WIN - n` is a win in `n` plies."""
PROVEN = WIN - 1_000
"""From here on a score is proven: every defence has been tried, not just the likely ones."""
LIKELY = 20_000
"""`LIKELY - n` wins in `n` plies against every move that was tried, but not every move was tried."""
MATE = LIKELY - 1_000
"""From here on a score counts plies."""
_NO_MOVE = -1
_LEAF_FOURS = 2
"""Fours to be made without which no win by fours is looked for at the horizon."""
VCF_NODES = 32
"""What such a search may take: a longer one costs more than it finds."""
_MARGINS = ((4, 80), (2, 250), (3, 80))
"""`SearchState.margins`: up to which depth, and for each ply of it."""
_TOO_GOOD, _HOPELESS, _POOR = range(3)
_JUDGED_DEPTH = 4
"""The greatest depth of a node that has margins."""
_MIN_WIDTH = 4
"""Candidates that are tried however poor a position is."""
_UNORDERED_DEPTH = 4
"""From here on a node without a known move is searched one ply less deep: its order would cost more than it gives."""
_OWN, _OTHER = 5, 4
"""What a pattern of one's own and one of the opponent's spoilt are worth, next to each other."""
_SCALE = 16
_CELL_BITS = 10
_CELL_MASK = (1 << _CELL_BITS) - 1
_FIRST = (1 << 31 - _CELL_BITS) - 1
"""What the transposition table's move is ordered by."""
_KILLER = 1_600
"""What a killer is preferred by: as much as a pattern whose worth is 20, of one's own."""

# Fields of a frame, the node on one ply of the current line.
(
    _ALPHA,
    _BETA,
    _FLOOR,  # alpha when the node began
    _DEPTH,
    _LEFT,  # depth for the children
    _KIND,
    _COMPLETE,  # whether the candidates are all that can matter
    _COUNT,
    _NEXT,  # candidates that were tried
    _MOVE,  # the one that is tried now
    _STAGE,
    _BEST,
    _BEST_MOVE,
    _KEY,
    _FIRST_KILLER,
    _SECOND_KILLER,
    _LISTED,  # candidates, also those too many to be tried
) = range(17)
_FIELDS = 17

_JUDGED, _FORCED, _LEAF, _DEFENCE, _QUIET = range(5)
"""Kinds of nodes: scored at once; one reply; the horizon; a threat must be answered; anything may be played."""
_FULL, _SCOUT, _REDUCED = range(3)
"""How a child is searched: with the whole window, with none, with none and less deep."""

# Registers: where a paused search goes on, and its numbers.
_PLY, _SIDE, _NODES, _ENTERING, _GENERATION, _OLDEST, _EMPTIES, _MARGIN, _SLOTS, _REACHED, _VCF_NODES = range(11)
_REGISTERS = 11


class SearchState(NamedTuple):
    """All that one search needs beside its board; used again by the next one, by one thread at a time."""

    evaluation: Evaluation
    near: NDArray[np.int16]
    """[A] stones within two rows and columns of each cell."""
    root_moves: NDArray[np.int16]
    """[A] the root's candidates, in the order in which they are searched."""
    ranked: NDArray[np.int32]
    """[MAX_PLY, A] candidates of the nodes on the current line: the rank of each, and its cell in the lowest bits."""
    frames: NDArray[np.int64]
    """[MAX_PLY + 1, 17] the nodes on the current line."""
    history: NDArray[np.int32]
    """[2, A] how often a quiet move of each side was too good, by the depth."""
    variations: NDArray[np.int16]
    """[MAX_PLY + 1, MAX_PLY + 1] the principal variation from each ply on: its length, then its moves."""
    reductions: NDArray[np.int8]
    """[MAX_DEPTH + 1, 32] plies less for a late move, by depth and number of the move; in the first column, for a node
    where the table knows no move to begin with."""
    margins: NDArray[np.int32]
    """[3, MAX_DEPTH + 1] how far a judgement may be from the window, by depth: too good to be searched, so poor that
    the horizon is here, so poor that few moves are tried. For nodes without a threat, searched with no window."""
    widths: NDArray[np.int16]
    """[MAX_DEPTH + 1] most candidates of a node where nothing is forced, by depth."""
    registers: NDArray[np.int64]
    """[11] where the search is."""
    root_scores: NDArray[np.int64]
    """[A] of the root's candidates searched in this iteration, in order."""
    table: NDArray[np.int64]
    """[slots, 2] the transposition table of `search.mentor.table`."""
    keys: NDArray[np.int64]
    """[2, cells] Zobrist keys of stones."""


def reductions() -> NDArray[np.int8]:
    """`SearchState.reductions`: of late moves, growing with the logarithms of depth and number."""
    depth, number = np.arange(MAX_DEPTH + 1)[:, None], np.arange(32)[None, :]
    plies = 0.7 + np.log(np.maximum(depth, 1)) * np.log(np.maximum(number, 1)) / 0.8
    plies[(depth < 2) | (number < 2)] = 0
    plies[_UNORDERED_DEPTH:, 0] = 1
    return np.minimum(plies, np.maximum(depth - 1, 0)).astype(np.int8)


def margins() -> NDArray[np.int32]:
    """`SearchState.margins`: growing with the depth, and beyond reach where the horizon is far."""
    depth = np.arange(MAX_DEPTH + 1)
    rows = [np.where(depth <= most, step * depth, 2 * INFINITY) for most, step in _MARGINS]
    return np.array(rows, dtype=np.int32)


def widths(least: int, step: int) -> NDArray[np.int16]:
    """`SearchState.widths`: the nearer the horizon, the fewer."""
    return (least + step * np.arange(MAX_DEPTH + 1)).astype(np.int16)


def new_search_state(rules: Rules, network: Network, slots: int) -> SearchState:
    """A state with a transposition table of `slots`, a power of two, that judges by `network`."""
    return SearchState(
        evaluation=new_evaluation(rules, network),
        near=np.zeros(rules.cells, dtype=np.int16),
        root_moves=np.zeros(rules.cells, dtype=np.int16),
        ranked=np.zeros((MAX_PLY, rules.cells), dtype=np.int32),
        frames=np.zeros((MAX_PLY + 1, _FIELDS), dtype=np.int64),
        history=np.zeros((2, rules.cells), dtype=np.int32),
        variations=np.zeros((MAX_PLY + 1, MAX_PLY + 1), dtype=np.int16),
        reductions=reductions(),
        margins=margins(),
        widths=widths(10, 1),
        registers=np.zeros(_REGISTERS, dtype=np.int64),
        root_scores=np.zeros(rules.cells, dtype=np.int64),
        table=np.zeros((slots, 2), dtype=np.int64),
        keys=STONE_KEYS[:, : rules.cells].copy(),
    )


@lean_kernel
def _touch(near: NDArray[np.int16], cell: int, size: int, change: int) -> None:
    row, column = cell // size, cell % size
    for r in range(max(row - 2, 0), min(row + 3, size)):
        for c in range(max(column - 2, 0), min(column + 3, size)):
            near[r * size + c] += change


@lean_kernel
def set_up(
    board: ThreatBoard,
    state: SearchState,
    stones: NDArray[np.int8],
    colour: int,
    margin: int,
    slots: int,
    remember: bool,
    vcf_nodes: int,
) -> int:
    """Begins a search of `stones` [A] with `colour` to move: lists the root's candidates and returns how many.

    `margin`: scores at most this much below the best are exact. `slots`: how much of the table is used, a power of two.
    `remember`: whether what the last searches left in the table counts, as far as they remembered each other.
    `vcf_nodes`: what a search for a win by fours may take at the horizon.
    """
    load(board, stones)
    start(state.evaluation, board)
    side, empties, key = side_of(colour), 0, 0
    state.near[:] = 0
    state.history[:] = 0
    for cell in range(len(stones)):
        if stones[cell] == EMPTY:
            empties += 1
        else:
            _touch(state.near, cell, board.size, 1)
            key ^= int(state.keys[side_of(stones[cell]), cell])
    registers = state.registers
    registers[_SIDE], registers[_EMPTIES], registers[_NODES] = side, empties, 0
    registers[_MARGIN], registers[_SLOTS], registers[_VCF_NODES] = margin, slots, vcf_nodes
    if registers[_GENERATION] == GENERATIONS:
        state.table[:] = 0
        registers[_GENERATION], registers[_OLDEST] = 0, 0
    registers[_GENERATION] += 1
    if not remember:
        registers[_OLDEST] = registers[_GENERATION]
    state.frames[:, _FIRST_KILLER] = _NO_MOVE
    state.frames[:, _SECOND_KILLER] = _NO_MOVE
    frame = state.frames[0]
    frame[_COMPLETE], frame[_KIND], frame[_KEY] = 1, _DEFENCE, key
    if board.counts[side, FIVE] > 0:
        frame[_COUNT] = _list_fives(board, state.root_moves, side)
    elif board.counts[1 - side, FIVE] > 0:
        frame[_COUNT] = _list_fives(board, state.root_moves, 1 - side)
    else:
        if max(state.evaluation.wins) > 0:
            frame[_COUNT] = _list_threats(board, state, side, 0, _NO_MOVE)
        else:
            frame[_KIND] = _QUIET
            frame[_COUNT] = _list_near(board, state, side, 0, _NO_MOVE)
            frame[_COMPLETE] = frame[_COUNT] == empties
        for index in range(frame[_COUNT]):
            state.root_moves[index] = _best_of(state.ranked[0], index, frame[_COUNT])
    return int(frame[_COUNT])


@lean_kernel
def _list_fives(board: ThreatBoard, moves: NDArray[np.int16], side: int) -> int:
    """Writes the cells on which `side` wins at once and returns how many there are."""
    count = 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY and strongest_pattern(board, side, cell) == FIVE:
            moves[count] = cell
            count += 1
    return count


@lean_inlined_kernel
def _list_threats(board: ThreatBoard, state: SearchState, side: int, ply: int, table_move: int) -> int:
    """Lists the cells where either side makes a four, with their ranks, and returns how many there are.

    Fours of one's own, and fours of the opponent's spoilt, are all that answers an open four or two fours threatened.
    """
    ranked, stones, evaluation = state.ranked[ply], board.stones, state.evaluation
    mine, theirs = evaluation.packed[side], evaluation.packed[1 - side]
    order, good_for = evaluation.order, evaluation.good_for
    count = 0
    for cell in range(len(stones)):
        if stones[cell] == EMPTY and (good_for[mine[cell]] | good_for[theirs[cell]]) & MAKES_FOUR:
            worth = _OWN * order[mine[cell]] + _OTHER * order[theirs[cell]]
            ranked[count] = (_FIRST if cell == table_move else worth) << _CELL_BITS | cell
            count += 1
    return count


@lean_inlined_kernel
def _list_near(board: ThreatBoard, state: SearchState, side: int, ply: int, table_move: int) -> int:
    """Lists the empty cells near stones, with their ranks, and returns how many there are."""
    ranked, stones, near, history = state.ranked[ply], board.stones, state.near, state.history[side]
    mine, theirs, order = state.evaluation.packed[side], state.evaluation.packed[1 - side], state.evaluation.order
    first, second = state.frames[ply, _FIRST_KILLER], state.frames[ply, _SECOND_KILLER]
    count = 0
    for cell in range(len(stones)):
        if stones[cell] == EMPTY and near[cell] > 0:
            worth = _SCALE * (_OWN * order[mine[cell]] + _OTHER * order[theirs[cell]]) + history[cell]
            if cell == table_move:
                worth = _FIRST
            elif cell in (first, second):
                worth += _KILLER
            ranked[count] = worth << _CELL_BITS | cell
            count += 1
    return count


@lean_kernel
def _best_of(ranked: NDArray[np.int32], index: int, count: int) -> int:
    """Brings the best of the candidates from `index` on there, and returns its cell."""
    # Two short loops, the first of them in vector instructions: this is what most time would go to.
    best = ranked[index]
    for other in range(index + 1, count):
        best = max(best, ranked[other])
    at = index
    while ranked[at] != best:
        at += 1
    ranked[at] = ranked[index]
    ranked[index] = best
    return int(best & _CELL_MASK)


@lean_inlined_kernel
def _open(board: ThreatBoard, state: SearchState, vcf: VcfWork, side: int, ply: int) -> None:
    """Begins the node on `ply` with `side` to move: judges it or lists its candidates, in its frame.

    A judged node has no candidates and its score as the best one.
    """
    frame = state.frames[ply]
    frame[_COUNT], frame[_NEXT], frame[_COMPLETE], frame[_KIND] = 0, 0, 1, _JUDGED
    frame[_BEST_MOVE], frame[_FLOOR] = _NO_MOVE, frame[_ALPHA]
    state.variations[ply, 0] = 0
    other, empties = 1 - side, state.registers[_EMPTIES] - ply
    last = ply + 1 >= MAX_PLY
    if board.counts[side, FIVE] > 0:
        frame[_BEST] = WIN - ply - 1
        return
    if empties == 0:
        frame[_BEST] = 0
        return
    if board.counts[other, FIVE] > 0:
        count, reply, _ = fives_of(board, other)
        if count > 1:
            frame[_BEST] = -(WIN - ply - 2)
        elif last:
            frame[_BEST] = 0
        else:
            state.ranked[ply, 0] = reply
            # A forced reply costs no depth, so that a row of fours is seen to its end.
            frame[_KIND], frame[_COUNT], frame[_BEST], frame[_LEFT] = _FORCED, 1, -INFINITY, frame[_DEPTH]
        return
    if board.counts[side, OPEN_FOUR] > 0:
        frame[_BEST] = WIN - ply - 3
        return

    depth, table_move = frame[_DEPTH], _NO_MOVE
    entry = look_up(state.table, state.registers[_SLOTS], state.registers[_OLDEST], frame[_KEY])
    if entry != 0:
        table_move, known = move_of(entry), score_of(entry)
        deep = depth_of(entry) >= depth or abs(known) >= PROVEN
        if deep and frame[_BETA] - frame[_ALPHA] == 1:
            if known >= MATE:
                known -= ply
            elif known <= -MATE:
                known += ply
            if decides(entry, known, frame[_ALPHA], frame[_BETA]):
                frame[_BEST] = known
                return

    if state.evaluation.wins[side] > 0:
        frame[_BEST] = WIN - ply - 3
        return
    if table_move == _NO_MOVE:
        depth -= state.reductions[min(depth, MAX_DEPTH), 0]
        frame[_DEPTH] = depth
    alpha, beta, poor = frame[_ALPHA], frame[_BETA], False
    if (
        0 < depth <= _JUDGED_DEPTH
        and beta - alpha == 1
        and -MATE < alpha < MATE
        and state.evaluation.wins[other] == 0
        and not last
    ):
        judged = score(state.evaluation, side)
        if judged - beta >= state.margins[_TOO_GOOD, depth]:
            frame[_BEST] = judged
            return
        if alpha - judged >= state.margins[_HOPELESS, depth]:
            depth = 0
        poor = alpha - judged > state.margins[_POOR, depth]
    if depth <= 0 or last:
        frame[_KIND], frame[_BEST] = _LEAF, score(state.evaluation, side)
        if frame[_BEST] < frame[_BETA] and board.counts[side, FOUR] >= _LEAF_FOURS:
            plies = solve_vcf(board, vcf, side, int(state.registers[_VCF_NODES]))
            state.registers[_NODES] += vcf.tally[0]
            if plies > 0:
                frame[_KIND], frame[_BEST] = _JUDGED, WIN - ply - plies
    else:
        frame[_BEST], frame[_LEFT] = -INFINITY, depth - 1
        if state.evaluation.wins[other] > 0:
            frame[_KIND] = _DEFENCE
            frame[_COUNT] = _list_threats(board, state, side, ply, table_move)
        else:
            frame[_KIND] = _QUIET
            frame[_COUNT] = _list_near(board, state, side, ply, table_move)
        frame[_LISTED] = frame[_COUNT]
        if frame[_KIND] == _QUIET:
            width = state.widths[min(depth, MAX_DEPTH)]
            frame[_COUNT] = min(frame[_LISTED], max(_MIN_WIDTH, width // 2) if poor else width)
            frame[_COMPLETE] = frame[_COUNT] == empties


@lean_kernel
def begin_iteration(state: SearchState, depth: int, alpha: int, beta: int) -> None:
    """Sets the root for a search to `depth` between `alpha` and `beta`, its candidates in the order of `root_moves`."""
    frame = state.frames[0]
    frame[_ALPHA], frame[_BETA], frame[_FLOOR], frame[_DEPTH], frame[_LEFT] = alpha, beta, alpha, depth, depth - 1
    frame[_NEXT], frame[_BEST], frame[_BEST_MOVE] = 0, -INFINITY, _NO_MOVE
    state.variations[0, 0] = 0
    state.registers[_PLY], state.registers[_ENTERING], state.registers[_REACHED] = 0, 0, 0


def nodes_of(state: SearchState) -> int:
    """Nodes of the search so far."""
    return int(state.registers[_NODES])


def spend(state: SearchState, nodes: int) -> None:
    """Counts nodes that were spent outside `run`."""
    state.registers[_NODES] += nodes


def reached_in(state: SearchState) -> int:
    """Candidates of the root that the iteration is through with, whose scores stand in `root_scores`."""
    return int(state.registers[_REACHED])


def root_is_complete(state: SearchState) -> bool:
    """Whether no other moves than the root's candidates can matter."""
    return bool(state.frames[0, _COMPLETE])


@lean_kernel
def run(board: ThreatBoard, state: SearchState, vcf: VcfWork, nodes: int) -> bool:
    """Searches on for up to `nodes` nodes; whether the iteration is finished."""
    registers = state.registers
    ply, entering = int(registers[_PLY]), bool(registers[_ENTERING])
    side = int(registers[_SIDE]) ^ (ply & 1)
    limit = registers[_NODES] + nodes
    finished = False
    while True:
        if entering:
            if registers[_NODES] >= limit:
                break
            registers[_NODES] += 1
            _open(board, state, vcf, side, ply)
            entering = False
        frame = state.frames[ply]
        index = int(frame[_NEXT])
        if index < frame[_COUNT] and frame[_ALPHA] < frame[_BETA]:
            if ply == 0:
                cell = int(state.root_moves[index])
            elif frame[_KIND] == _FORCED:
                cell = int(state.ranked[ply, 0])
            else:
                cell = _best_of(state.ranked[ply], index, int(frame[_LISTED]))
            stage, left = _FULL, int(frame[_LEFT])
            if index > 0:
                stage = _SCOUT
                if frame[_KIND] == _QUIET:
                    less = int(state.reductions[min(frame[_DEPTH], MAX_DEPTH), min(index, 31)])
                    packed = state.evaluation.packed[side, cell]
                    if less > 0 and not state.evaluation.good_for[packed] & MAKES_THREE:
                        stage, left = _REDUCED, left - less
            place(board, cell, colour_of(side))
            follow(state.evaluation, board, cell)
            _touch(state.near, cell, board.size, 1)
            frame[_MOVE] = cell
            state.frames[ply + 1, _KEY] = frame[_KEY] ^ state.keys[side, cell]
        else:
            # The node is done.
            best = int(frame[_BEST])
            if best <= -PROVEN and not frame[_COMPLETE]:
                best += WIN - LIKELY
            if ply == 0:
                finished = True
                break
            if frame[_KIND] > _FORCED:
                bound = LOWER if best >= frame[_BETA] else EXACT if best > frame[_FLOOR] else UPPER
                counted = best + ply if best >= MATE else best - ply if best <= -MATE else best
                keep(
                    state.table,
                    int(registers[_SLOTS]),
                    int(registers[_GENERATION]),
                    int(frame[_KEY]),
                    counted,
                    int(frame[_DEPTH]),
                    int(frame[_BEST_MOVE]),
                    bound,
                )
            ply, side = ply - 1, 1 - side
            frame = state.frames[ply]
            cell, value, stage, left = int(frame[_MOVE]), -best, int(frame[_STAGE]), int(frame[_LEFT])
            again = True
            if stage == _REDUCED and value > frame[_ALPHA]:
                stage = _SCOUT
            elif stage == _SCOUT and frame[_ALPHA] < value < frame[_BETA]:
                stage = _FULL
            else:
                again = False
            if not again:
                _touch(state.near, cell, board.size, -1)
                remove(board, cell)
                follow(state.evaluation, board, cell)
                _note(state, frame, side, ply, cell, value)
                continue
        frame[_STAGE] = stage
        child = state.frames[ply + 1]
        child[_DEPTH], child[_ALPHA] = max(left, 0), -frame[_ALPHA] - 1
        child[_BETA] = -frame[_ALPHA]
        if stage == _FULL:
            child[_ALPHA] = -frame[_BETA]
        ply, side, entering = ply + 1, 1 - side, True
    registers[_PLY], registers[_ENTERING] = ply, entering
    return finished


@lean_inlined_kernel
def _note(state: SearchState, frame: NDArray[np.int64], side: int, ply: int, cell: int, value: int) -> None:
    """Takes the score of the move that was tried last into its node."""
    index = int(frame[_NEXT])
    frame[_NEXT] = index + 1
    if ply == 0:
        if value <= -PROVEN and not frame[_COMPLETE]:
            # Some move not searched may hold; the longest resistance still comes first.
            value += WIN - LIKELY
        state.root_scores[index] = value
        state.registers[_REACHED] = index + 1
    if value > frame[_BEST]:
        frame[_BEST], frame[_BEST_MOVE] = value, cell
        if ply == 0 or value > frame[_ALPHA]:
            length = int(state.variations[ply + 1, 0])
            state.variations[ply, 0], state.variations[ply, 1] = length + 1, cell
            for at in range(1, length + 1):
                state.variations[ply, at + 1] = state.variations[ply + 1, at]
        floor = value - state.registers[_MARGIN] - 1 if ply == 0 else value
        frame[_ALPHA] = max(frame[_ALPHA], floor)
        if value >= frame[_BETA]:
            frame[_ALPHA] = frame[_BETA]  # nothing more is tried
            if frame[_KIND] == _QUIET and ply > 0:
                if cell != frame[_FIRST_KILLER]:
                    frame[_SECOND_KILLER], frame[_FIRST_KILLER] = frame[_FIRST_KILLER], cell
                bonus = min(int(frame[_DEPTH]) ** 2, 100)
                state.history[side, cell] += bonus - state.history[side, cell] * bonus // 1024
