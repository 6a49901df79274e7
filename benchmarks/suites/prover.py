"""A compiled prover of forced wins, also with quiet moves: the referee of the suites `tactics` and `hard`.

It shares no code with the players. A window is any `connect` cells in a line, and one with `n` stones of one side and
none of the other is a whole pattern in freestyle. Three claims are proven, each by every reply of the other side that
could matter:

- `fours`: a win in which every move makes a four.
- `win` at level L: a win with at most L quiet moves (no fours) on any line. After each of them the winner threatens to
  win by fours. Up to `LEADING_FOURS` fours may come before a quiet move.
- `loss` at level L: each move of the side to move is followed by such a win of the other side.

Every proof has a length, the plies of its longest line, fives included. A result of 0 proves nothing.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from benchmarks.suites.windows import (
    FREE,
    Tables,
    kernel,
    mark_completing,
    new_tables,
    put,
    take,
    write_fives_through,
    write_promise,
)

LEADING_FOURS = 2
"""Fours that a proof may play before each quiet move."""
_MAX_FOURS = 24
"""Limit of the fours in a row, and half the room for a line."""
_LINE = 2 * _MAX_FOURS + 2


@kernel
def _fours(board: Tables, side: int, left: int, line: NDArray[np.int64]) -> int:
    """Return the plies of a win by at most `left` fours for `side` to move; 0 if there is none, or after the limit.

    `line` gets its moves: up to the five at hand, or to the four that threatens two fives.
    """
    cells = board.owner.shape[0]
    marks = np.zeros(cells, np.bool_)
    if mark_completing(board, side, 1, marks):
        line[0] = np.argmax(marks)
        return 1
    if left == 0:
        return 0
    key = board.key[0] ^ board.keys[side, cells]
    slot = np.int64(key & np.uint64(board.seen.shape[1] - 1))
    if board.seen[0, slot] == key and board.values[0, slot] >= left:
        return 0
    must = np.zeros(cells, np.bool_)
    threats = mark_completing(board, 1 - side, 1, must)
    if threats > 1:
        return 0
    mark_completing(board, side, 2, marks)
    if threats:
        marks &= must
    fives = np.empty(2, np.int64)
    for each in np.flatnonzero(marks):
        cell = int(each)
        board.tried[0] += 1
        if board.tried[0] > board.tried[1]:
            return 0
        put(board, cell, side)
        found = 3 if write_fives_through(board, cell, side, fives) == 2 else 0
        if not found:
            answer = int(fives[0])
            put(board, answer, 1 - side)
            rest = _fours(board, side, left - 1, line[2:])
            take(board, answer)
            if rest:
                line[1] = answer
                found = rest + 2
        take(board, cell)
        if found:
            line[0] = cell
            return found
    if board.tried[0] <= board.tried[1]:
        board.seen[0, slot] = key
        board.values[0, slot] = left
    return 0


@kernel
def _short_fours(board: Tables, side: int, line: NDArray[np.int64]) -> int:
    """Return the plies of the shortest win by fours of `side` to move, and its moves in `line`; 0 without one."""
    line[:] = -1
    plies = _fours(board, side, int(_MAX_FOURS), line)  # a constant would compile another version
    shorter = np.empty_like(line)
    while plies > 3:
        shorter[:] = -1
        fewer = _fours(board, side, (plies - 1) // 2 - 1, shorter)
        if fewer == 0:
            break
        plies = fewer
        line[:] = shorter
    return plies


@kernel
def _mark_replies(board: Tables, side: int, line: NDArray[np.int64], marks: NDArray[np.bool_]) -> None:
    """Mark the replies that could matter against the win by fours `line` of `side`, with the other side to move.

    A reply that takes no cell of the win, makes no four, and makes no four together with the forced answers leaves the
    win as it is.
    """
    other = 1 - side
    some = np.zeros_like(marks)
    mark_completing(board, other, 2, marks)
    moves = [int(move) for move in line if move >= 0]
    for ply, move in enumerate(moves):
        put(board, move, side if ply % 2 == 0 else other)
    mark_completing(board, side, 1, some)
    marks |= some
    for move in moves:
        take(board, move)
        marks[move] = True
    for move in moves[1::2]:
        put(board, move, other)
    for lacking in (1, 2):
        mark_completing(board, other, lacking, some)
        marks |= some
    for move in moves[1::2]:
        take(board, move)


@kernel
def _prove(board: Tables, side: int, attacks: int, level: int, leading: int) -> int:
    """Return the plies of a forced win of `side` with at most `level` quiet moves; 0 if none is proven.

    `attacks`: 1 if `side` is to move; 0 if the other side is, and `side` must threaten to win by fours.
    """
    again, other = int(LEADING_FOURS), 1 - side  # a constant would compile another version
    cells = board.owner.shape[0]
    line = np.full(_LINE, -1, np.int64)
    marks, fives = np.zeros(cells, np.bool_), np.empty(2, np.int64)
    if attacks:
        plies = _short_fours(board, side, line)
        if plies or level == 0:
            return plies
        threats = mark_completing(board, other, 1, marks)
        if threats > 1:
            return 0
        if threats == 0:
            marks[:] = True
    else:
        if mark_completing(board, other, 1, marks):
            return 0
        threats = mark_completing(board, side, 1, marks)
        if threats > 1:
            return 2
        if threats == 1:
            reply = int(np.argmax(marks))
            put(board, reply, other)
            rest = _prove(board, side, 1 - attacks, level, again)
            take(board, reply)
            return rest + 1 if rest else 0
    if board.tried[0] > board.tried[1]:
        return 0
    row = 1 if attacks else 2
    key = board.key[0] ^ board.keys[side, cells + 1 + 2 * (4 * level + leading) + attacks]
    slot = np.int64(key & np.uint64(board.seen.shape[1] - 1))
    if board.seen[row, slot] == key:
        return int(np.int64(board.values[row, slot]))
    plies = 0
    if attacks:
        fours = np.zeros(cells, np.bool_)
        mark_completing(board, side, 2, fours)
        promise = np.zeros(cells, np.int32)
        write_promise(board, side, promise)
        promise[fours | ~marks] = 0
        while plies == 0 and promise.any():
            cell = int(np.argmax(promise))
            promise[cell] = 0
            put(board, cell, side)
            rest = _prove(board, side, 1 - attacks, level - 1, again)
            take(board, cell)
            plies = rest + 1 if rest else 0
        if plies == 0 and leading:
            for each in np.flatnonzero(fours & marks):
                cell = int(each)
                put(board, cell, side)
                write_fives_through(board, cell, side, fives)
                answer = int(fives[0])
                put(board, answer, other)
                rest = _prove(board, side, attacks, level, leading - 1)
                take(board, answer)
                take(board, cell)
                if rest:
                    plies = rest + 2
                    break
    else:
        plies = _short_fours(board, side, line)
        if plies and _fours(board, other, int(_MAX_FOURS), np.empty_like(line)) == 0:
            _mark_replies(board, side, line, marks)
            plies += 1
            for each in np.flatnonzero(marks):
                reply = int(each)
                put(board, reply, other)
                threats = write_fives_through(board, reply, other, fives)
                rest = 0
                if threats == 1:
                    answer = int(fives[0])
                    put(board, answer, side)
                    rest = _prove(board, side, attacks, level, leading)
                    take(board, answer)
                    rest += 2 if rest else 0
                elif threats == 0:
                    rest = _prove(board, side, 1 - attacks, level, again)
                    rest += 1 if rest else 0
                take(board, reply)
                if rest == 0:
                    plies = 0
                    break
                plies = max(plies, rest)
        else:
            plies = 0
    if board.tried[0] <= board.tried[1]:
        board.seen[row, slot] = key
        board.values[row, slot] = plies
        return plies
    return 0


class Prover:
    """A board and its proofs. Sides are 0 (black) and 1 (white); cells are `row * size + column`.

    `connect`: 3 to 6, the most that codes of windows hold. `budget`: fours that a question may try; one that needs more
    stays unproven.
    """

    def __init__(self, size: int = 15, connect: int = 5, budget: int = 200_000) -> None:
        self._board = new_tables(size, connect, budget)

    def show(self, moves: Iterable[int]) -> None:
        """Set up the board after `moves` from the empty one, black first."""
        for cell in np.flatnonzero(self._board.owner != FREE):
            take(self._board, int(cell))
        for ply, move in enumerate(moves):
            put(self._board, move, ply % 2)

    def free_cells(self) -> list[int]:
        """Return the cells without a stone, ascending."""
        return np.flatnonzero(self._board.owner == FREE).tolist()

    def five_cells(self, side: int) -> set[int]:
        """Return the cells where a stone of `side` makes five."""
        marks = np.zeros(self._board.owner.shape[0], np.bool_)
        mark_completing(self._board, side, 1, marks)
        return set(np.flatnonzero(marks).tolist())

    def fours(self, side: int) -> list[int]:
        """Return the moves of the shortest win by fours for `side` to move; an empty list without one.

        The last move is a five or threatens two.
        """
        self._board.tried[0] = 0
        line = np.full(_LINE, -1, np.int64)
        _short_fours(self._board, side, line)
        return [int(move) for move in line if move >= 0]

    def win(self, side: int, level: int) -> int:
        """Return the plies of a win of `side`, to move, with at most `level` quiet moves on a line; 0 unproven."""
        self._board.tried[0] = 0
        return _prove(self._board, side, 1, level, LEADING_FOURS)

    def move_wins(self, move: int, side: int, level: int) -> int:
        """Return the plies of a win of `side` that begins with `move`; 0 if none is proven.

        A quiet `move` is one of the `level` quiet moves.
        """
        board, other = self._board, 1 - side
        if move in self.five_cells(side):
            return 1
        if self.five_cells(other) - {move}:
            return 0
        board.tried[0] = 0
        put(board, move, side)
        level -= not self.five_cells(side)
        rest = _prove(board, side, 0, level, LEADING_FOURS) if level >= 0 else 0
        take(board, move)
        return rest + 1 if rest else 0

    def move_loses(self, move: int, side: int, level: int) -> int:
        """Return the plies until the other side's win after `move` of `side`; 0 if none is proven."""
        board, other = self._board, 1 - side
        if move in self.five_cells(side):
            return 0
        if self.five_cells(other) - {move}:
            return 2
        board.tried[0] = 0
        put(board, move, side)
        fives = self.five_cells(side)
        if len(fives) > 1:
            rest = 0
        elif fives:
            answer = min(fives)
            put(board, answer, other)
            rest = _prove(board, other, 0, level, LEADING_FOURS)
            take(board, answer)
            rest += 1 if rest else 0
        else:
            rest = _prove(board, other, 1, level, LEADING_FOURS)
        take(board, move)
        return rest + 1 if rest else 0
