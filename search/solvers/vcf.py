"""Victory by continuous fours: a win in which every move of the attacker but the last makes a four.

A four leaves the defender one reply and no choice, so the search looks for a row of fours that ends in an open four, in
two fours at once, or in renju in a four whose only reply is forbidden to Black. If a reply makes a four of the
defender's own, the attacker's next move is forced too, and the row goes on only if that move makes a four. Fours that
have two replies, as some in caro, are left out.

The search deepens four by four, so no win has fewer of them than the one it finds. Without a win it ends when no row of
fours is left to try. Its proofs go to a transposition table and stay true in all later searches by the same rules.

Or it goes into the depth at once, without the fours that make nothing else, which finds more wins with few nodes
(`benchmarks.leaf_fours` of commit 36b4785). White in renju tries those too. It may miss a win and take a longer one, so
the entries of its table are for no other search.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.jit import lean_inlined_kernel, lean_kernel
from core.compiled.rules import is_legal
from core.compiled.threats import (
    BLACK_SIDE,
    FIVE,
    FOUR,
    OPEN_FOUR,
    OPEN_THREE,
    OPEN_TWO,
    THREE,
    ThreatBoard,
    colour_of,
    load,
    new_threat_board,
    packed_patterns,
    place,
    remove,
    side_of,
    strongest_pattern,
    table_of,
)
from core.compiled.zobrist import STONE_KEYS, WHITE_TO_MOVE
from core.position import Position
from core.rules import DIRECTIONS, EMPTY, NO_CELL, Cell, Rules
from search.solvers.fives import fives_of, fives_through, forced_reply

NO_WIN = 0
"""Result of a search that has proven that there is no win of this kind."""
NOT_KNOWN = -1
"""Result of a search that has used up its nodes."""

VCF_NODES = 100_000
"""Default limit of a search outside any other search: a fraction of a second."""

TABLE_BITS = 16
"""Default size of the transposition table: two to the power of this many entries of 16 bytes."""

WINS_AT_ONCE = 127
"""The rank of a move that makes an open four or two fours."""

_MAKES_MORE = 3
"""The least rank of a move that makes a four and, in another direction, at least an open two."""

_FOREVER = 10_000
"""More fours than any board has room for: no win however long the search."""

_TWO_CELLS = -2
"""In place of the cell that must be played: the defender has two cells for a five, and nothing helps."""

_COUNT, _TRIES, _NEXT, _REACH, _REPLY, _MUST = range(6)
_NODES, _STAMP = range(2)
_KEY, _FACT = range(2)


class VcfVerdict(StrEnum):
    """Result of a search for a win by continuous fours."""

    WIN = "win"
    NONE = "none"
    """Proven: there is no win of this kind."""
    UNKNOWN = "unknown"
    """The nodes ran out."""


@dataclass(frozen=True, slots=True)
class VcfResult:
    """A search for a win of the side to move by continuous fours."""

    verdict: VcfVerdict
    line: tuple[Cell, ...]
    """The moves of both sides up to the stone that wins, the attacker's first; empty without a win."""
    nodes: int
    """Positions searched, all with the attacker to move."""


@cache
def four_ranks() -> NDArray[np.int8]:
    """Return the ranks, [PACKED], of moves that make a four, by their patterns; the highest is tried first."""
    weights = {OPEN_THREE: 9, THREE: 5, OPEN_TWO: 2}

    def rank(patterns: tuple[int, ...]) -> int:
        if OPEN_FOUR in patterns or patterns.count(FOUR) > 1:
            return WINS_AT_ONCE
        return 1 + sum(weights.get(pattern, 0) for pattern in patterns)

    return table_of(rank, np.int8)


class VcfWork(NamedTuple):
    """Scratch and transposition table of searches (`new_vcf_work`); each thread needs its own."""

    ranks: NDArray[np.int8]
    """[PACKED] `four_ranks()`."""
    moves: NDArray[np.int16]
    """[A/2+2, A] cells where the attacker can make a four, at each node of the current line."""
    orders: NDArray[np.int8]
    """[A/2+2, A] their ranks."""
    frames: NDArray[np.int64]
    """[A/2+2, 6] the nodes of the current line: cells listed, how many of them may be played, the next one, fours
    within which there is proven to be no win, the reply to the four under way, and the cell that must be played."""
    stamps: NDArray[np.int64]
    """[A] the number of the last list that holds the cell."""
    table: NDArray[np.int64]
    """[2^TABLE_BITS, 2] key of a position with the attacker to move, and a fact: the fours within which it has no win,
    times A+1, plus the four to try first plus one (0 for none)."""
    line: NDArray[np.int64]
    """[A] the moves of the last win found."""
    tally: NDArray[np.int64]
    """[2] nodes of the last search, and lists made so far."""


def new_vcf_work(rules: Rules, table_bits: int = TABLE_BITS) -> VcfWork:
    """Return scratch for searches by `rules`, with an empty transposition table of 2^`table_bits` entries.

    The entries of earlier searches save nodes, so a repeated search may prove more within its limit. To repeat a search
    exactly, empty the table: `work.table[:] = 0`.
    """
    plies = rules.cells // 2 + 2
    return VcfWork(
        ranks=four_ranks(),
        moves=np.empty((plies, rules.cells), dtype=np.int16),
        orders=np.empty((plies, rules.cells), dtype=np.int8),
        frames=np.zeros((plies, 6), dtype=np.int64),
        stamps=np.zeros(rules.cells, dtype=np.int64),
        table=np.zeros((1 << table_bits, 2), dtype=np.int64),
        line=np.empty(rules.cells, dtype=np.int64),
        tally=np.zeros(2, dtype=np.int64),
    )


@lean_kernel
def stones_key(board: ThreatBoard, side: int) -> int:
    """Return the Zobrist key of the board with `side` to move."""
    key = 0 if side == BLACK_SIDE else int(WHITE_TO_MOVE)
    for cell in range(len(board.stones)):
        if board.stones[cell] != EMPTY:
            key ^= int(STONE_KEYS[side_of(board.stones[cell]), cell])
    return key


@lean_kernel
def _insert(board: ThreatBoard, work: VcfWork, side: int, ply: int, count: int, cell: int, bonus: int) -> None:
    """Insert a cell for a four into the `count` cells listed, by its rank."""
    moves, orders = work.moves[ply], work.orders[ply]
    order = work.ranks[packed_patterns(board, side, cell)]
    if order < WINS_AT_ONCE:
        order += bonus
    at = count
    while at > 0 and orders[at - 1] < order:
        orders[at], moves[at] = orders[at - 1], moves[at - 1]
        at -= 1
    orders[at], moves[at] = order, cell


@lean_kernel
def _list_all(board: ThreatBoard, work: VcfWork, side: int, ply: int) -> int:
    """Write all cells where `side` can make a four to `work.moves[ply]`, best first, and return their number."""
    rules, stones, patterns, colour = board.rules, board.stones, board.patterns[side], colour_of(side)
    count = 0
    for cell in range(len(stones)):
        strongest = max(patterns[0, cell], patterns[1, cell], patterns[2, cell], patterns[3, cell])
        if strongest >= FOUR and is_legal(rules, stones, cell, colour):
            _insert(board, work, side, ply, count, cell, 0)
            count += 1
    return count


@lean_kernel
def _list_after(board: ThreatBoard, work: VcfWork, side: int, ply: int) -> int:
    """Do the same for `work.moves[ply]`, from the list of the node before and the four that was played there.

    Only that four makes new cells for a four; they come first among cells of equal rank.
    """
    size, connect, colour = board.rules.size, board.rules.connect, colour_of(side)
    before = work.frames[ply - 1]
    four = int(work.moves[ply - 1, before[_NEXT]])
    work.tally[_STAMP] += 1
    stamp = work.tally[_STAMP]
    count = 0
    for direction in range(4):
        row_step, column_step = DIRECTIONS[direction]
        for sign in (1, -1):
            row, column = four // size, four % size
            for _ in range(connect - 1):
                row += sign * row_step
                column += sign * column_step
                if not (0 <= row < size and 0 <= column < size):
                    break
                cell = row * size + column
                stone = board.stones[cell]
                if stone == EMPTY:
                    legal = is_legal(board.rules, board.stones, cell, colour)
                    if legal and board.patterns[side, direction, cell] >= FOUR:
                        work.stamps[cell] = stamp
                        _insert(board, work, side, ply, count, cell, 3)
                        count += 1
                elif side_of(stone) != side:
                    break
    for index in range(before[_COUNT]):
        cell = int(work.moves[ply - 1, index])
        is_left = work.stamps[cell] != stamp and is_legal(board.rules, board.stones, cell, colour)
        if is_left and strongest_pattern(board, side, cell) >= FOUR:
            _insert(board, work, side, ply, count, cell, 0)
            count += 1
    return count


@lean_kernel
def _to_front(work: VcfWork, ply: int, count: int, cell: int) -> bool:
    """Move a cell to the front of the list at `ply`; return False if the list lacks it."""
    moves, orders = work.moves[ply], work.orders[ply]
    for index in range(count):
        if moves[index] == cell:
            order = orders[index]
            for at in range(index, 0, -1):
                moves[at], orders[at] = moves[at - 1], orders[at - 1]
            moves[0], orders[0] = cell, order
            return True
    return False


@lean_kernel
def _find_unanswerable(board: ThreatBoard, work: VcfWork, side: int, ply: int, count: int) -> bool:
    """Move a four whose only reply is forbidden, or leaves a five, to the front of the first `count` ones, if any is.

    Returns False without one. A five is left in caro, in another line through the four: one that is no four, since a
    stone at its open end would prevent it too.
    """
    may_leave_five = board.rules.needs_open_end is not None
    for index in range(count):
        four = int(work.moves[ply, index])
        threes = 0
        for direction in range(4):
            threes += THREE <= board.patterns[side, direction, four] < FOUR
        if may_leave_five and threes == 0:
            continue
        place(board, four, colour_of(side))
        fives, reply = forced_reply(board, 1 - side)
        if may_leave_five and fives == 1 and _five_behind(board, side, reply) != NO_CELL:
            fives = 2
        remove(board, four)
        if fives > 1:
            return _to_front(work, ply, count, four)
    return False


@lean_kernel
def _five_behind(board: ThreatBoard, side: int, reply: int) -> int:
    """Return a cell where `side` makes five after a reply of the opponent, `NO_CELL` without one."""
    place(board, reply, -colour_of(side))
    _, five, _ = fives_of(board, side)
    remove(board, reply)
    return five


@lean_inlined_kernel
def _open(board: ThreatBoard, work: VcfWork, side: int, key: int, ply: int, left: int) -> bool:
    """Begin the node at `ply`; return True if its first four wins at once, else fill its frame.

    `left`: fours to the end of the line at most, this one counted; a search in depth has more than a board has cells.
    """
    frame = work.frames[ply]
    must = frame[_MUST]
    frame[_NEXT], frame[_TRIES], frame[_REACH] = 0, 0, _FOREVER
    work.tally[_NODES] += 1
    if must == _TWO_CELLS or board.counts[side, FOUR] + board.counts[side, OPEN_FOUR] == 0:
        frame[_COUNT] = 0
        return False
    # In renju any stone may forbid or allow cells to Black, in caro one at a distance opens a line.
    afresh = (
        ply == 0 or board.rules.needs_open_end is not None or (board.rules.has_fouls is not None and side == BLACK_SIDE)
    )
    count = _list_all(board, work, side, ply) if afresh else _list_after(board, work, side, ply)
    tries = count
    # A four that makes nothing else, or the reply to it, may forbid the reply to a later one to Black.
    may_forbid = board.rules.has_fouls is not None and side != BLACK_SIDE
    while not may_forbid and left > len(board.stones) and tries > 0 and work.orders[ply, tries - 1] < _MAKES_MORE:
        tries -= 1
    if must != NO_CELL:
        tries = 1 if _to_front(work, ply, count, must) else 0
    frame[_COUNT] = count
    if tries == 0:
        return False
    if work.orders[ply, 0] == WINS_AT_ONCE:
        return True
    may_be = board.rules.needs_open_end is not None or may_forbid
    if may_be and _find_unanswerable(board, work, side, ply, count if must == NO_CELL else 1):
        return True
    if left == 1:
        frame[_REACH] = 1
        return False
    entry = work.table[key & (len(work.table) - 1)]
    if entry[_KEY] == key:
        cells = len(board.stones) + 1
        reach, first = entry[_FACT] // cells, entry[_FACT] % cells - 1
        if reach >= left:
            frame[_REACH] = reach
            return False
        if first >= 0 and must == NO_CELL:
            _to_front(work, ply, count, first)
    frame[_TRIES] = tries
    return False


@lean_kernel
def _any_reply(board: ThreatBoard, side: int) -> int:
    """Return a legal move of `side`, `NO_CELL` without one."""
    for cell in range(len(board.stones)):
        if is_legal(board.rules, board.stones, cell, colour_of(side)):
            return cell
    return NO_CELL


@lean_inlined_kernel
def _search(board: ThreatBoard, work: VcfWork, side: int, root_key: int, limit: int, nodes: int) -> int:
    """Search for a win within `limit` fours: return its plies and write it to `work.line`.

    Without a win return `NO_WIN`, with the reach of that proof in the root's frame, or `NOT_KNOWN` after `nodes`.

    A search in depth with an explicit stack of frames: numba cannot load a recursive function from its cache.
    """
    colour, cells = colour_of(side), len(board.stones) + 1
    ply, key, opening, plies = 0, root_key, True, NO_WIN
    while True:
        frame = work.frames[ply]
        if opening:
            opening = False
            if work.tally[_NODES] >= nodes:
                plies = NOT_KNOWN
            elif _open(board, work, side, key, ply, limit - ply):
                plies = 2 * ply + 3
                last = int(work.moves[ply, 0])
                place(board, last, colour)
                _, first, second = fives_through(board, side, last, True)
                if second == NO_CELL and board.rules.needs_open_end is not None:
                    second = _five_behind(board, side, first)
                elif second == NO_CELL and board.rules.has_fouls is not None:
                    first, second = _any_reply(board, 1 - side), first
                remove(board, last)
                work.line[2 * ply], work.line[2 * ply + 1], work.line[2 * ply + 2] = last, first, second
        if plies == NO_WIN and frame[_NEXT] < frame[_TRIES]:
            four = int(work.moves[ply, frame[_NEXT]])
            place(board, four, colour)
            _, reply, _ = fives_through(board, side, four, True)
            place(board, reply, -colour)
            frame[_REPLY] = reply
            key ^= STONE_KEYS[side, four] ^ STONE_KEYS[1 - side, reply]
            ply += 1
            fives, must, _ = fives_through(board, 1 - side, reply, False)
            work.frames[ply, _MUST] = must if fives < 2 else _TWO_CELLS
            opening = True
            continue
        reach = frame[_REACH]
        if plies == NO_WIN and frame[_TRIES] > 0:
            entry = work.table[key & (len(work.table) - 1)]
            entry[_KEY], entry[_FACT] = key, reach * cells
        if ply == 0:
            return plies
        ply -= 1
        frame = work.frames[ply]
        four, reply = int(work.moves[ply, frame[_NEXT]]), int(frame[_REPLY])
        remove(board, reply)
        remove(board, four)
        key ^= STONE_KEYS[side, four] ^ STONE_KEYS[1 - side, reply]
        if plies == NO_WIN:
            frame[_NEXT] += 1
            frame[_REACH] = min(frame[_REACH], reach + 1) if reach < _FOREVER else frame[_REACH]
        elif plies > 0:
            work.line[2 * ply], work.line[2 * ply + 1] = four, reply
            if limit < _FOREVER:
                # Shorter rows were tried before: there is no win within one four less.
                entry = work.table[key & (len(work.table) - 1)]
                entry[_KEY], entry[_FACT] = key, (limit - ply - 1) * cells + four + 1


@lean_kernel
def solve_vcf(board: ThreatBoard, work: VcfWork, side: int, nodes: int, shortest: bool = True) -> int:
    """Search for a win of `side`, to move, by continuous fours.

    Returns the plies of the shortest such win, or without `shortest` of the first one in depth, with its moves in
    `work.line` (1 for a five at hand; `line[0]` is the move to make), `NO_WIN` if there is none (without `shortest`: if
    none is found), or `NOT_KNOWN` after `nodes` positions. `work.tally[0]` is the number of nodes used. The board must
    be without a five; it is left as it was. Without `shortest` the table must be empty, and be emptied afterwards.
    """
    work.tally[_NODES] = 0
    if board.counts[side, FIVE] > 0:
        work.line[0] = fives_of(board, side)[1]
        return 1
    if board.counts[side, FOUR] + board.counts[side, OPEN_FOUR] == 0:
        return NO_WIN
    fives, must, _ = fives_of(board, 1 - side)
    if fives > 1:
        return NO_WIN
    key = stones_key(board, side)
    work.frames[0, _MUST] = must
    limit = 1 if shortest else _FOREVER
    entry = work.table[key & (len(work.table) - 1)]
    if shortest and entry[_KEY] == key:
        limit = entry[_FACT] // (len(board.stones) + 1) + 1
    while limit <= _FOREVER:
        plies = _search(board, work, side, key, limit, nodes)
        if plies != NO_WIN:
            return plies
        if work.frames[0, _REACH] >= _FOREVER:
            break
        limit += 1
    return NO_WIN


def find_vcf(position: Position, *, nodes: int = VCF_NODES, work: VcfWork | None = None) -> VcfResult:
    """Search for a win of the side to move by continuous fours, in at most `nodes` positions.

    `work`: from `new_vcf_work` for the position's rules; with it the next search uses the proofs of this one.
    Raises `ValueError` if the game is over or `nodes` is less than 1.
    """
    if position.is_game_over():
        raise ValueError("the game is over; there is nothing to search")
    if nodes < 1:
        raise ValueError(f"nodes is {nodes}; it must be 1 or more")
    board = new_threat_board(position.rules)
    load(board, stones_of(position))
    work = work or new_vcf_work(position.rules)
    plies = solve_vcf(board, work, side_of(position.side_to_move), nodes)
    verdict = VcfVerdict.WIN if plies > 0 else VcfVerdict.NONE if plies == NO_WIN else VcfVerdict.UNKNOWN
    return VcfResult(verdict, tuple(work.line[: max(plies, 0)].tolist()), int(work.tally[_NODES]))
