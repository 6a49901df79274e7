"""Our own mentor: a rule-based tree search for a young net to imitate and be measured against.

An alpha-beta search over the likely cells, judged by pattern counts. It keeps nothing between calls and releases the
GIL while it thinks.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.position import Position
from core.rules import EMPTY, Cell, Rules
from core.streams import Purpose, generator
from core.threats import (
    FIVE,
    FOUR,
    NONE,
    OPEN_FOUR,
    OPEN_THREE,
    PACKED,
    ThreatBoard,
    colour_of,
    load,
    new_threat_board,
    packed_patterns,
    place,
    remove,
    side_of,
    strongest_pattern,
    unpack_patterns,
)
from search.players import Decision, decide_each, never


def centre(rules: Rules) -> Cell:
    """The cell in the middle of the board; of an even board, the one above and right of it."""
    return rules.size // 2 * rules.size + rules.size // 2


def sole_decision(position: Position, move: Cell, value: float, nodes: int) -> Decision:
    """A decision that puts all of its policy on `move`; `value` for the side to move."""
    policy = np.zeros(position.rules.cells, dtype=np.float32)
    policy[move] = 1.0
    return Decision(int(move), value=value, policy=policy, simulations=nodes)


MAX_PLY = 32
"""Moves ahead of the root at which every line ends, forced replies included."""

_WIN = 30_000
"""A won game; `_WIN - n` is a win in `n` plies. Scores are for the side to move."""
_PROVEN = _WIN - 1_000
"""From here on a score is proven: every defence has been tried, not just the likely ones."""
_UNPROVEN_LOSS = -20_000
"""Every move tried loses, but not every move was tried."""
_INFINITY = 32_000

_CELL_FIVE = 10_000
_CELL_WINS = 2_000
"""A cell of this worth makes an open four or two fours: a win unless the opponent makes five first."""
_CELL_CAP = 100
"""The most one cell adds to the evaluation."""
_SQUASH = 350.0
"""The score whose value is tanh(1); fits the results of 120 games of the mentor with itself from balanced openings."""

_NODES, _LIMIT, _CUT_OFF = range(3)
_ALPHA, _BETA, _BEST, _LEFT, _COUNT, _NEXT, _COMPLETE = range(7)


@cache
def _cell_values() -> NDArray[np.int32]:
    """[PACKED] the worth of a move by the patterns it makes, for ordering and evaluation."""
    # From matches of 200 games between variants; a four must be dear, or it is spent for nothing.
    weights = (0, 1, 4, 5, 22, 45, 0, 0)
    values = np.zeros(PACKED, dtype=np.int32)
    for packed in range(PACKED):
        patterns = unpack_patterns(packed)
        fours, threes = patterns.count(FOUR), patterns.count(OPEN_THREE)
        if FIVE in patterns:
            value = _CELL_FIVE
        elif OPEN_FOUR in patterns or fours > 1:
            value = _CELL_WINS + sum(weights[pattern] for pattern in patterns)
        else:
            value = sum(weights[pattern] for pattern in patterns)
            if fours and threes:
                value += 60
            elif threes > 1:
                value += 40
        values[packed] = value
    return values


class _Work(NamedTuple):
    """What one search needs beside its board; made for each call."""

    values: NDArray[np.int32]
    """[PACKED] `_cell_values()`."""
    near: NDArray[np.int16]
    """[A] stones within two rows and columns of each cell."""
    moves: NDArray[np.int64]
    """[MAX_PLY, A] candidates of the nodes on the current line, best first."""
    worths: NDArray[np.int32]
    """[MAX_PLY, A] what they were ordered by."""
    frames: NDArray[np.int64]
    """[MAX_PLY, 7] the nodes on the current line: window and best score for the side to move there, depth left for its
    children, candidates, the next one of them, and whether they are all that can matter."""
    tally: NDArray[np.int64]
    """[3] nodes so far, nodes after which to cut the search off, and whether that has happened."""
    width: int
    """Most candidates of a node where nothing is forced."""


@kernel
def _touch(work: _Work, cell: int, size: int, change: int) -> None:
    row, column = cell // size, cell % size
    for r in range(max(row - 2, 0), min(row + 3, size)):
        for c in range(max(column - 2, 0), min(column + 3, size)):
            work.near[r * size + c] += change


@kernel
def _survey(board: ThreatBoard, work: _Work, side: int) -> tuple[int, int, int]:
    """The evaluation for `side`, to move, and the worth of the best cell for it and for the opponent."""
    mine, theirs, my_best, their_best = 0, 0, 0, 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY:
            value = work.values[packed_patterns(board, side, cell)]
            mine += min(value, _CELL_CAP)
            my_best = max(my_best, value)
            value = work.values[packed_patterns(board, 1 - side, cell)]
            theirs += min(value, _CELL_CAP)
            their_best = max(their_best, value)
    # The side to move can make its best move at once.
    return mine - theirs + min(my_best, _CELL_CAP), my_best, their_best


@kernel
def _list_candidates(board: ThreatBoard, work: _Work, side: int, ply: int, width: int, least: int) -> int:
    """Writes the best `width` candidates to `work.moves[ply]`, best first, and returns how many there are.

    `least`: candidates must make a pattern of at least this class for either side.
    """
    moves, worths = work.moves[ply], work.worths[ply]
    count = 0
    for cell in range(len(board.stones)):
        if board.stones[cell] != EMPTY or work.near[cell] == 0:
            continue
        if least > NONE and max(strongest_pattern(board, side, cell), strongest_pattern(board, 1 - side, cell)) < least:
            continue
        # An own win is worth more than to spoil the opponent's like.
        mine = work.values[packed_patterns(board, side, cell)]
        worth = 5 * mine + 4 * work.values[packed_patterns(board, 1 - side, cell)]
        if count == width:
            if worth <= worths[count - 1]:
                continue
            count -= 1
        at = count
        while at > 0 and worths[at - 1] < worth:
            worths[at], moves[at] = worths[at - 1], moves[at - 1]
            at -= 1
        worths[at], moves[at] = worth, cell
        count += 1
    return count


@kernel
def _list_fives(board: ThreatBoard, work: _Work, side: int, ply: int) -> int:
    """Writes the cells on which `side` wins at once to `work.moves[ply]` and returns how many there are."""
    count = 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY and strongest_pattern(board, side, cell) == FIVE:
            work.moves[ply, count] = cell
            count += 1
    return count


@kernel
def _open(board: ThreatBoard, work: _Work, side: int, empties: int, depth: int, ply: int) -> None:
    """Begins the node on `ply` with `side` to move: judges it or lists its candidates, in its frame.

    `empties`: empty cells of the board. A judged node has no candidates and its score as the best one.
    """
    frame = work.frames[ply]
    frame[_COUNT], frame[_NEXT], frame[_COMPLETE] = 0, 0, 1
    work.tally[_NODES] += 1
    if work.tally[_NODES] > work.tally[_LIMIT]:
        work.tally[_CUT_OFF] = 1
    elif board.counts[side, FIVE] > 0:
        frame[_BEST] = _WIN - ply - 1
    elif empties == 0:
        frame[_BEST] = 0
    elif board.counts[1 - side, FIVE] > 0:
        count = _list_fives(board, work, 1 - side, ply)
        if count > 1:
            frame[_BEST] = -(_WIN - ply - 2)
        elif ply + 1 == MAX_PLY:
            frame[_BEST] = _survey(board, work, side)[0]
        else:
            # A forced reply costs no depth, so that a row of fours is seen to its end.
            frame[_COUNT], frame[_BEST], frame[_LEFT] = 1, -_INFINITY, depth
    elif board.counts[side, OPEN_FOUR] > 0:
        frame[_BEST] = _WIN - ply - 3
    else:
        score, my_best, their_best = _survey(board, work, side)
        if my_best >= _CELL_WINS:
            frame[_BEST] = _WIN - ply - 3
        elif depth <= 0 or ply + 1 == MAX_PLY:
            frame[_BEST] = score
        else:
            # What stops an open four or two fours is a four of the opponent's there, or a four of one's own.
            threatened = their_best >= _CELL_WINS
            width, least = (empties, FOUR) if threatened else (work.width, NONE)
            count = _list_candidates(board, work, side, ply, width, least)
            frame[_COUNT], frame[_BEST], frame[_LEFT] = count, -_INFINITY, depth - 1
            frame[_COMPLETE] = threatened or count == empties


@kernel
def _search(board: ThreatBoard, work: _Work, side: int, empties: int, depth: int, alpha: int, beta: int) -> int:
    """The score for `side`, to move one ply from the root: exact between `alpha` and `beta`, else a bound.

    Negamax with an explicit stack of frames: numba cannot load a recursive function from its cache.
    """
    ply, left = 1, depth
    work.frames[ply, _ALPHA], work.frames[ply, _BETA] = alpha, beta
    deeper = True
    while True:
        if deeper:
            _open(board, work, side, empties, left, ply)
        frame = work.frames[ply]
        deeper = frame[_NEXT] < frame[_COUNT] and frame[_ALPHA] < frame[_BETA] and not work.tally[_CUT_OFF]
        if deeper:
            cell = int(work.moves[ply, frame[_NEXT]])
            place(board, cell, colour_of(side))
            _touch(work, cell, board.size, 1)
            ply, left, side, empties = ply + 1, int(frame[_LEFT]), 1 - side, empties - 1
            work.frames[ply, _ALPHA], work.frames[ply, _BETA] = -frame[_BETA], -frame[_ALPHA]
            continue
        score = int(frame[_BEST])
        if score <= -_PROVEN and not frame[_COMPLETE]:
            score = _UNPROVEN_LOSS
        if ply == 1:
            return score
        ply, side, empties = ply - 1, 1 - side, empties + 1
        frame = work.frames[ply]
        cell = int(work.moves[ply, frame[_NEXT]])
        _touch(work, cell, board.size, -1)
        remove(board, cell)
        frame[_NEXT] += 1
        frame[_BEST] = max(frame[_BEST], -score)
        frame[_ALPHA] = max(frame[_ALPHA], -score)


@kernel
def _list_root(board: ThreatBoard, work: _Work, side: int, empties: int, root_width: int) -> int:
    """Writes the moves worth a search at the root to `work.moves[0]` and returns how many there are.

    Notes in the root's frame whether no other move can matter.
    """
    work.frames[0, _COMPLETE] = 1
    if board.counts[side, FIVE] > 0:
        return _list_fives(board, work, side, 0)
    if board.counts[1 - side, FIVE] > 0:
        return _list_fives(board, work, 1 - side, 0)
    _, my_best, their_best = _survey(board, work, side)
    decided = max(my_best, their_best) >= _CELL_WINS
    width, least = (empties, FOUR) if decided else (root_width, NONE)
    count = _list_candidates(board, work, side, 0, width, least)
    work.frames[0, _COMPLETE] = decided or count == empties
    return count


@kernel
def _search_root(
    board: ThreatBoard,
    work: _Work,
    stones: NDArray[np.int8],
    colour: int,
    depth: int,
    root_width: int,
    margin: int,
    moves: NDArray[np.int64],
    scores: NDArray[np.int64],
) -> int:
    """Deepens move by move to `depth` and returns the number of candidates, written best first.

    `moves`, `scores`: [A] of the deepest search that was not cut off; scores less than `margin` below the best are
    exact, the others upper bounds.
    """
    load(board, stones)
    side, empties = side_of(colour), 0
    for cell in range(len(stones)):
        if stones[cell] == EMPTY:
            empties += 1
        else:
            _touch(work, cell, board.size, 1)
    count = _list_root(board, work, side, empties, root_width)
    moves[:count] = work.moves[0, :count]
    limit = work.tally[_LIMIT]
    fresh = np.empty(count, dtype=np.int64)
    for round_depth in range(1, depth + 1):
        # The first round is always finished: there must be a score for every candidate.
        work.tally[_LIMIT] = limit if round_depth > 1 else np.iinfo(np.int64).max
        best = -_INFINITY
        for index in range(count):
            cell = int(moves[index])
            place(board, cell, colour)
            if strongest_pattern(board, side, cell) == FIVE:
                fresh[index] = _WIN - 1
            else:
                _touch(work, cell, board.size, 1)
                alpha = max(best - margin - 1, -_INFINITY)
                fresh[index] = -_search(board, work, 1 - side, empties - 1, round_depth - 1, -_INFINITY, -alpha)
                _touch(work, cell, board.size, -1)
            remove(board, cell)
            best = max(best, fresh[index])
            if work.tally[_CUT_OFF]:
                return count
        for index in range(count):
            move, score, at = moves[index], fresh[index], index
            if score <= -_PROVEN and not work.frames[0, _COMPLETE]:
                # Some move not searched may hold; the longest resistance still comes first.
                score += _WIN + _UNPROVEN_LOSS
            while at > 0 and scores[at - 1] < score:
                scores[at], moves[at] = scores[at - 1], moves[at - 1]
                at -= 1
            scores[at], moves[at] = score, move
        if abs(scores[0]) >= _PROVEN:
            break
    return count


class Mentor:
    """Our own mentor: alpha-beta over the likely cells, judged by the patterns of both sides.

    It wins where it can, answers fives and open fours only by moves that answer them, follows rows of forced replies
    to their end, and deepens until `depth` or `nodes` is reached.
    """

    name = "mentor"

    def __init__(self, *, depth: int = 8, nodes: int = 3000, width: int = 8, variety: int = 4) -> None:
        """Set how hard to think and how freely to choose.

        `depth`: most plies, forced replies not counted. `nodes`: positions looked at a move, the first ply always
        in full. `width`: most candidates of a node where nothing is forced; the root has twice as many. `variety`:
        moves that score at most this much less than the best are as likely to be played; one open two is worth 4.

        Raises `ValueError` for a number out of range.
        """
        if not 1 <= depth < MAX_PLY:
            raise ValueError(f"depth is {depth}; it must be 1 to {MAX_PLY - 1}")
        if nodes < 1 or width < 1:
            raise ValueError("nodes and width must be 1 or more")
        if variety < 0:
            raise ValueError(f"variety is {variety}; it must be 0 or more")
        self.depth = depth
        self.nodes = nodes
        self.width = width
        self.variety = variety

    def choose(
        self, positions: Sequence[Position], *, seeds: Sequence[int], stop: Callable[[], bool] = never
    ) -> list[Decision]:
        """See `Player`. Once stopped, the remaining positions are searched one ply deep."""
        return decide_each(
            lambda position, seed: self._decide(position, seed, 1 if stop() else self.depth), positions, seeds
        )

    def _decide(self, position: Position, seed: int, depth: int) -> Decision:
        rules = position.rules
        if not position.moves:
            return sole_decision(position, centre(rules), 0.0, 0)
        work = _Work(
            values=_cell_values(),
            near=np.zeros(rules.cells, dtype=np.int16),
            moves=np.empty((MAX_PLY, rules.cells), dtype=np.int64),
            worths=np.empty((MAX_PLY, rules.cells), dtype=np.int32),
            frames=np.zeros((MAX_PLY, 7), dtype=np.int64),
            tally=np.array([0, self.nodes, 0], dtype=np.int64),
            width=self.width,
        )
        moves, scores = np.empty(rules.cells, dtype=np.int64), np.empty(rules.cells, dtype=np.int64)
        count = _search_root(
            new_threat_board(rules),
            work,
            position.stones,
            position.side_to_move,
            depth,
            2 * self.width,
            self.variety,
            moves,
            scores,
        )
        best = int(scores[0])
        # A proven result is no matter of taste: the shortest win, the longest resistance.
        least = best if abs(best) >= _PROVEN else best - self.variety
        move = int(generator(seed, Purpose.MENTOR).choice(moves[:count][scores[:count] >= least]))
        return sole_decision(position, move, _value(best), int(work.tally[_NODES]))


def _value(score: int) -> float:
    """A score as an expected result: 1 and -1 for proven ones alone."""
    if abs(score) >= _PROVEN:
        return 1.0 if score > 0 else -1.0
    return float(np.clip(np.tanh(score / _SQUASH), -0.99, 0.99))
