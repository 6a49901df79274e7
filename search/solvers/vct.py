"""Victory by continuous threats: a win in which every move of the attacker makes a four or a three.

A *three* here is any move after which the attacker, were it his turn again, could make an open four or two fours at
once: his winning moves. A four has one answer, as in `vcf`. A three is answered by every move that may stop it:
a stone on the cell of the winning move, or on one of the two cells that it would make a five with, which must spoil all
winning moves if there are several; or a four of the defender's own. After anything else the attacker has won in three
moves, so these are all the answers that need be searched.

The search is df-pn (proof numbers and disproof numbers, depth first): it goes where the fewest positions are left to
prove, or to refute, and keeps what it finds in a transposition table. Stones are never taken away, so no position comes
back on its own line, and what is proven holds however it was reached. Each position with the attacker to move is first
searched for fours alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.jit import kernel
from core.lines import DIRECTIONS
from core.position import Position
from core.rules import EMPTY, Cell, Rules
from core.threats import (
    FIVE,
    FOUR,
    OPEN_FOUR,
    OPEN_THREE,
    THREE,
    ThreatBoard,
    colour_of,
    packed_patterns,
    place,
    remove,
    side_of,
    strongest_pattern,
)
from core.zobrist import STONE_KEYS, WHITE_TO_MOVE
from search.solvers.vcf import (
    NO_WIN,
    NOT_KNOWN,
    TABLE_BITS,
    WINS_AT_ONCE,
    ThreatSearch,
    VcfWork,
    fives_of,
    fives_through,
    loaded_board,
    new_vcf_work,
    solve_vcf,
    stones_key,
    threat_search,
)

VCT_NODES = 100_000
"""Nodes that a search outside any other search may take: about a second."""

_VCF_NODES = 30
"""Nodes of the search for fours alone at each position. It saves work and decides nothing."""

_INFINITE = 1 << 40
"""The proof number of what is refuted, and the disproof number of what is proven; sums stay far below."""
_MOST = 1 << 30
"""The largest proof number or disproof number of a position that is neither."""

_DEFENDING: np.int64 = np.int64(0x2545F4914F6CDD1D)
"""In the key of a position with the defender to move: another attacker, another question."""

_COUNT, _INDEX, _PROOF, _DISPROOF, _PLIES, _PROOF_LIMIT, _DISPROOF_LIMIT, _OTHERWISE = range(8)
_CHILD_PROOF, _CHILD_DISPROOF, _CHILD_PLIES = range(3)
_KEY, _ENTRY_PROOF, _ENTRY_DISPROOF, _ENTRY_PLIES = range(4)
_NODES, _FOUR_NODES = range(2)


class VctWork(NamedTuple):
    """What searches need beside the board: scratch, and a transposition table. One for each thread; see `new_vct_work`.

    A node is *even* where the attacker is to move and *odd* where the defender is, counted from the root.
    """

    fours: VcfWork
    """For the searches for fours alone; its table too is kept."""
    moves: NDArray[np.int16]
    """[A+1, A] the attacker's threats, or the defender's replies, at each node of the current line."""
    children: NDArray[np.int64]
    """[A+1, A, 3] of the position after each of them: proof number, disproof number, plies of the win if proven."""
    frames: NDArray[np.int64]
    """[A+1, 8] the nodes of the current line: moves listed, the one under way, the node's own proof number, disproof
    number and plies, the limits of both, and the plies of the win after replies that are not listed."""
    stops: NDArray[np.int64]
    """[A] winning moves of the attacker that a stone on the cell would spoil."""
    table: NDArray[np.int64]
    """[2^TABLE_BITS, 4] key, proof number, disproof number, plies of the win."""
    line: NDArray[np.int64]
    """[A] the first move of the win that was found last; all of it where it is one by fours alone."""
    tally: NDArray[np.int64]
    """[2] nodes of the last search: without and within its searches for fours alone."""


def new_vct_work(rules: Rules, table_bits: int = TABLE_BITS) -> VctWork:
    """Scratch for searches by `rules`, with empty transposition tables of 2^`table_bits` entries.

    To have the same results again, to the node, empty them: `work.table[:] = 0`, `work.fours.table[:] = 0`.
    """
    cells = rules.cells
    return VctWork(
        fours=new_vcf_work(rules, table_bits),
        moves=np.empty((cells + 1, cells), dtype=np.int16),
        children=np.empty((cells + 1, cells, 3), dtype=np.int64),
        frames=np.zeros((cells + 1, 8), dtype=np.int64),
        stops=np.zeros(cells, dtype=np.int64),
        table=np.zeros((1 << table_bits, 4), dtype=np.int64),
        line=np.empty(cells, dtype=np.int64),
        tally=np.zeros(2, dtype=np.int64),
    )


@kernel
def _wins_next(board: ThreatBoard, work: VctWork, side: int, cell: int) -> bool:
    """Whether `side` would make an open four or two fours on the empty `cell`."""
    return bool(work.fours.ranks[packed_patterns(board, side, cell)] == WINS_AT_ONCE)


@kernel
def _crosses_four(board: ThreatBoard, side: int, cell: int) -> bool:
    """Whether a stone on `cell` makes a three on a line where some cell makes a four of `side` along another line."""
    size, connect = board.size, board.connect
    for direction in range(4):
        if board.patterns[side, direction, cell] != THREE:
            continue
        row_step, column_step = DIRECTIONS[direction]
        for sign in (1, -1):
            row, column = cell // size, cell % size
            for _ in range(connect - 1):
                row += sign * row_step
                column += sign * column_step
                if not (0 <= row < size and 0 <= column < size):
                    break
                at = row * size + column
                if board.stones[at] == EMPTY:
                    if strongest_pattern(board, side, at) >= FOUR:
                        return True
                elif side_of(board.stones[at]) != side:
                    break
    return False


@kernel
def _list_threats(board: ThreatBoard, work: VctWork, side: int, ply: int) -> int:
    """Writes every move of `side` that may make a four or a three to `work.moves[ply]`; returns how many there are.

    No five is at hand for either side, nor an open four or two fours for `side`.
    """
    moves = work.moves[ply]
    fours = board.counts[side, FOUR] > 0
    front, count = 0, 0
    for cell in range(len(board.stones)):
        if board.stones[cell] != EMPTY:
            continue
        strongest = strongest_pattern(board, side, cell)
        if strongest in (FOUR, OPEN_THREE):
            # These before the threes that are blocked, which seldom threaten anything.
            moves[count], moves[front] = moves[front], cell
            front += 1
            count += 1
        elif strongest == THREE and fours and _crosses_four(board, side, cell):
            moves[count] = cell
            count += 1
    return count


@kernel
def _list_replies(board: ThreatBoard, work: VctWork, attacker: int, ply: int) -> tuple[int, int]:
    """Writes every reply to the attacker's three that may stop it to `work.moves[ply]`.

    Returns how many there are, and how many winning moves the attacker has after any other reply: none if it was no
    three. Where nothing may stop it, `work.moves[ply, 0]` is one of those moves. No five is at hand for either side.
    """
    stops, moves = work.stops, work.moves[ply]
    winners = 0
    if board.counts[attacker, OPEN_FOUR] + board.counts[attacker, FOUR] == 0:
        return 0, 0
    stops[:] = 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY and _wins_next(board, work, attacker, cell):
            winners += 1
            moves[0] = cell
            stops[cell] += 1
            place(board, cell, colour_of(attacker))
            fives, first, second = fives_through(board, attacker, cell)
            remove(board, cell)
            # With three cells for a five one stone leaves two of them.
            if fives == 2:
                stops[first] += 1
                stops[second] += 1
    count = 0
    if winners == 0:
        return 0, 0
    for cell in range(len(board.stones)):
        if board.stones[cell] == EMPTY and (
            stops[cell] == winners or strongest_pattern(board, 1 - attacker, cell) >= FOUR
        ):
            moves[count] = cell
            count += 1
    return count, winners


@kernel
def _settle(frame: NDArray[np.int64], plies: int) -> None:
    """Notes in a node's frame that it is proven to be a win in `plies`, or refuted (`NO_WIN`)."""
    won = plies != NO_WIN
    frame[_COUNT], frame[_PLIES] = 0, plies
    frame[_PROOF] = 0 if won else _INFINITE
    frame[_DISPROOF] = _INFINITE if won else 0


@kernel
def _open_attack(board: ThreatBoard, work: VctWork, side: int, ply: int, fresh: bool) -> None:
    """Begins a node with the attacker to move: settles it, or lists his threats.

    `fresh`: it is yet to be searched for fours alone.
    """
    frame = work.frames[ply]
    if board.counts[side, FIVE] > 0:
        _settle(frame, 1)
        return
    fives, must, _ = fives_of(board, 1 - side)
    if fives > 1:
        _settle(frame, NO_WIN)
        return
    if fresh and board.counts[side, FOUR] + board.counts[side, OPEN_FOUR] > 0:
        plies = solve_vcf(board, work.fours, side, _VCF_NODES)
        work.tally[_FOUR_NODES] += work.fours.tally[0]
        if plies > 0:
            _settle(frame, plies)
            return
    if fives == 1:
        frame[_COUNT] = 1
        work.moves[ply, 0] = must
    else:
        frame[_COUNT] = _list_threats(board, work, side, ply)
        if frame[_COUNT] == 0:
            _settle(frame, NO_WIN)


@kernel
def _open_defence(board: ThreatBoard, work: VctWork, attacker: int, ply: int) -> None:
    """Begins a node with the defender to move: settles it, or lists his replies."""
    frame = work.frames[ply]
    frame[_OTHERWISE] = NO_WIN
    if board.counts[1 - attacker, FIVE] > 0:
        _settle(frame, NO_WIN)
        return
    fives, reply, _ = fives_of(board, attacker)
    if fives > 1:
        _settle(frame, 2)
        work.moves[ply, 0] = reply
    elif fives == 1:
        frame[_COUNT] = 1
        work.moves[ply, 0] = reply
    else:
        count, winners = _list_replies(board, work, attacker, ply)
        frame[_COUNT], frame[_OTHERWISE] = count, 4
        if winners == 0:
            _settle(frame, NO_WIN)
        elif count == 0:
            _settle(frame, 4)


@kernel
def _key_after(key: int, side: int, move: int) -> int:
    """The key after a move of `side`, or before it if `key` is the one after it."""
    return key ^ int(STONE_KEYS[side, move] ^ WHITE_TO_MOVE ^ _DEFENDING)


@kernel
def _look_up_children(work: VctWork, key: int, side: int, ply: int) -> None:
    """Fills `work.children[ply]` with what the table knows, or one and one."""
    for index in range(work.frames[ply, _COUNT]):
        child_key = _key_after(key, side, work.moves[ply, index])
        entry, child = work.table[child_key & (len(work.table) - 1)], work.children[ply, index]
        if entry[_KEY] == child_key:
            child[_CHILD_PROOF], child[_CHILD_DISPROOF] = entry[_ENTRY_PROOF], entry[_ENTRY_DISPROOF]
            child[_CHILD_PLIES] = entry[_ENTRY_PLIES]
        else:
            child[_CHILD_PROOF], child[_CHILD_DISPROOF], child[_CHILD_PLIES] = 1, 1, NO_WIN


@kernel
def _sum_up(work: VctWork, ply: int, attacking: bool) -> tuple[int, int]:
    """Brings a node's numbers up to date from its children; returns the child to go on with and the next best number.

    The attacker needs one child that wins: his proof number is the least of theirs, his disproof number their sum. For
    the defender it is the other way about.
    """
    frame = work.frames[ply]
    min_of, sum_of = (_CHILD_PROOF, _CHILD_DISPROOF) if attacking else (_CHILD_DISPROOF, _CHILD_PROOF)
    least, second, total, best = _INFINITE, _INFINITE, 0, 0
    soonest, longest = _MOST, int(frame[_OTHERWISE]) - 1
    for index in range(frame[_COUNT]):
        child = work.children[ply, index]
        total += child[sum_of]
        if child[min_of] < least:
            least, second, best = child[min_of], least, index
        elif child[min_of] < second:
            second = child[min_of]
        if child[_CHILD_PROOF] == 0:
            soonest = min(soonest, child[_CHILD_PLIES])
            longest = max(longest, child[_CHILD_PLIES])
    # A sum that holds an infinite number is infinite.
    total = _INFINITE if total >= _INFINITE else min(total, _MOST)
    frame[_PROOF], frame[_DISPROOF] = (least, total) if attacking else (total, least)
    frame[_PLIES] = NO_WIN if frame[_PROOF] > 0 else 1 + (soonest if attacking else longest)
    return best, second


@kernel
def _store(work: VctWork, key: int, ply: int) -> None:
    frame, entry = work.frames[ply], work.table[key & (len(work.table) - 1)]
    entry[_KEY] = key
    entry[_ENTRY_PROOF], entry[_ENTRY_DISPROOF] = frame[_PROOF], frame[_DISPROOF]
    entry[_ENTRY_PLIES] = frame[_PLIES]


@kernel
def _prove(board: ThreatBoard, work: VctWork, attacker: int, root_key: int, nodes: int) -> None:
    """Proves or refutes a win of `attacker`, to move, and leaves the root's numbers in `work.frames[0]`.

    Neither is 0 where `nodes` ran out. The root has been searched for fours alone already. df-pn with an explicit stack
    of frames.
    """
    ply, key, side, opening = 0, root_key, attacker, True
    work.frames[0, _PROOF_LIMIT], work.frames[0, _DISPROOF_LIMIT] = _MOST, _MOST
    while True:
        frame = work.frames[ply]
        attacking = side == attacker
        if opening:
            work.tally[_NODES] += 1
            if attacking:
                entry = work.table[key & (len(work.table) - 1)]
                _open_attack(board, work, side, ply, ply > 0 and entry[_KEY] != key)
            else:
                _open_defence(board, work, attacker, ply)
            _look_up_children(work, key, side, ply)
            opening = False
        best, second = 0, 0
        if frame[_COUNT] > 0:
            best, second = _sum_up(work, ply, attacking)
        if (
            0 < frame[_PROOF] < frame[_PROOF_LIMIT]
            and 0 < frame[_DISPROOF] < frame[_DISPROOF_LIMIT]
            and work.tally[_NODES] + work.tally[_FOUR_NODES] < nodes
        ):
            child, below = work.children[ply, best], work.frames[ply + 1]
            # A quarter more than the next best keeps the search from going back and forth between two moves.
            by_next = second + second // 4 + 1
            if attacking:
                below[_PROOF_LIMIT] = min(frame[_PROOF_LIMIT], by_next)
                below[_DISPROOF_LIMIT] = frame[_DISPROOF_LIMIT] - frame[_DISPROOF] + child[_CHILD_DISPROOF]
            else:
                below[_PROOF_LIMIT] = frame[_PROOF_LIMIT] - frame[_PROOF] + child[_CHILD_PROOF]
                below[_DISPROOF_LIMIT] = min(frame[_DISPROOF_LIMIT], by_next)
            frame[_INDEX] = best
            move = int(work.moves[ply, best])
            key = _key_after(key, side, move)
            place(board, move, colour_of(side))
            ply, side, opening = ply + 1, 1 - side, True
            continue
        _store(work, key, ply)
        if ply == 0:
            return
        ply, side = ply - 1, 1 - side
        above = work.frames[ply]
        index = int(above[_INDEX])
        move = int(work.moves[ply, index])
        remove(board, move)
        key = _key_after(key, side, move)
        child = work.children[ply, index]
        child[_CHILD_PROOF], child[_CHILD_DISPROOF] = frame[_PROOF], frame[_DISPROOF]
        child[_CHILD_PLIES] = frame[_PLIES]


@kernel
def _proven_move(work: VctWork, longest: bool) -> int:
    """The move of the node at the root that is proven to win latest or soonest; the first one where none is."""
    best, found = 0, NO_WIN
    for index in range(work.frames[0, _COUNT]):
        child = work.children[0, index]
        plies = child[_CHILD_PLIES]
        if child[_CHILD_PROOF] == 0 and (found == NO_WIN or (plies > found if longest else plies < found)):
            best, found = index, plies
    return int(work.moves[0, best])


@kernel
def solve_vct(board: ThreatBoard, work: VctWork, side: int, nodes: int) -> int:
    """Whether `side`, to move, wins by continuous threats.

    Returns the plies within which the win that was found is over, whatever the defence, with the move to make in
    `work.line[0]`; `NO_WIN` where there is none; or `NOT_KNOWN` where `nodes` positions were not enough to tell.
    A win by fours alone stands in `work.line` in full, and `work.frames[0, 0]` is then 0. The sum of `work.tally` says
    how many positions it took. The board must be without a five; it is left as it was.
    """
    frame = work.frames[0]
    frame[_COUNT] = 0
    plies = solve_vcf(board, work.fours, side, min(nodes, _VCF_NODES))
    work.tally[_NODES], work.tally[_FOUR_NODES] = 0, work.fours.tally[0]
    if plies > 0:
        work.line[:plies] = work.fours.line[:plies]
        return plies
    _prove(board, work, side, stones_key(board, side), nodes)
    if frame[_PROOF] == 0:
        work.line[0] = _proven_move(work, False)
        return int(frame[_PLIES])
    return NO_WIN if frame[_DISPROOF] == 0 else NOT_KNOWN


def trace_vct(board: ThreatBoard, work: VctWork, side: int) -> list[Cell]:
    """The moves of the win that `solve_vct` has just found, up to the stone that makes five.

    The defender resists as long as the search has seen him do. What the table has lost meanwhile is searched again.
    """
    line: list[Cell] = []
    while True:
        plies = solve_vct(board, work, side, np.iinfo(np.int64).max)
        if work.frames[0, _COUNT] == 0:
            break
        move = int(work.line[0])
        key = _key_after(stones_key(board, side), side, move)
        place(board, move, colour_of(side))
        _open_defence(board, work, side, 0)
        _look_up_children(work, key, 1 - side, 0)
        reply = _proven_move(work, True)
        place(board, reply, colour_of(1 - side))
        line += (move, reply)
    made = len(line)
    line += work.line[:plies].tolist()
    for cell in line[:made]:
        remove(board, cell)
    return line


def find_vct(position: Position, *, nodes: int = VCT_NODES, work: VctWork | None = None) -> ThreatSearch:
    """Whether the side to move wins by continuous threats, told after `nodes` positions or a few more.

    `work`: of `new_vct_work` for the position's rules, so that what one search has proven is known in the next.
    Raises `ValueError` where the game is over or `nodes` is less than 1.
    """
    board, side = loaded_board(position, nodes), side_of(position.side_to_move)
    work = work or new_vct_work(position.rules)
    plies = solve_vct(board, work, side, nodes)
    taken = int(work.tally.sum())
    return threat_search(plies, trace_vct(board, work, side) if plies > 0 else [], taken)
