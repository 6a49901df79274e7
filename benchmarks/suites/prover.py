"""A compiled prover of forced wins with quiet moves: the referee of the suite `hard`.

It shares no code with the players. Its board is that of `tests/support/slow_solver.py`, in plain Python: a window is
any `connect` cells in a line, and one with `n` stones of one side and none of the other is a whole pattern in
freestyle. Three claims are proven, each by every reply of the other side that could matter:

- `fours`: a win in which every move makes a four.
- `win` at level L: a win with at most L quiet moves (no fours) on any line. After each of them the winner threatens to
  win by fours. Up to `LEADING_FOURS` fours may come before a quiet move.
- `loss` at level L: each move of the side to move is followed by such a win of the other side.

Every proof has a length, the plies of its longest line, fives included. A result of 0 proves nothing.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
FREE = -1
LEADING_FOURS = 2
"""Fours that a proof may play before each quiet move."""
_TABLE_BITS = 18
_MAX_FOURS = 24
"""Limit of the fours in a row, and half the room for a line."""
_LINE = 2 * _MAX_FOURS + 2
_OTHER = 8
"""Weight of a white stone in the code of a window: a black one counts 1, so a code tells both counts (5 in a row)."""

_njit = numba.njit(nogil=True)


class _Tables(NamedTuple):
    """The board as arrays; `W` windows, `A` cells."""

    windows: NDArray[np.int16]
    """[W, connect] the cells of each window."""
    through: NDArray[np.int16]
    """[A, 20] the windows through each cell; -1 fills the row."""
    codes: NDArray[np.int8]
    """[W] stones of a window: black ones plus `_OTHER` times the white ones."""
    owner: NDArray[np.int8]
    """[A] 0, 1 or `FREE`."""
    keys: NDArray[np.uint64]
    """[2, A + 1] random codes of the stones; the last of each row is that of the side to move."""
    key: NDArray[np.uint64]
    """[1] the key of the position."""
    seen: NDArray[np.uint64]
    """[3, 2^18] keys of positions: fours that do not win, and proven or failed questions with quiet moves."""
    values: NDArray[np.int16]
    """[3, 2^18] the number of fours that do not win; lengths of proofs, 0 for a failure."""
    tried: NDArray[np.int64]
    """[2] fours tried, and their limit."""
    connect: int


@_njit
def _put(board: _Tables, cell: int, side: int) -> None:
    board.owner[cell] = side
    board.key[0] ^= board.keys[side, cell]
    step = 1 if side == 0 else _OTHER
    for window in board.through[cell]:
        if window < 0:
            break
        board.codes[window] += step


@_njit
def _take(board: _Tables, cell: int) -> None:
    side = board.owner[cell]
    board.owner[cell] = FREE
    board.key[0] ^= board.keys[side, cell]
    step = 1 if side == 0 else _OTHER
    for window in board.through[cell]:
        if window < 0:
            break
        board.codes[window] -= step


@_njit
def _completing(board: _Tables, side: int, lacking: int, marks: NDArray[np.bool_]) -> int:
    """Mark the free cells of windows of `side` alone that lack `lacking` stones; return their number."""
    target = (board.connect - lacking) * (1 if side == 0 else _OTHER)
    marks[:] = False
    count = 0
    for window in range(board.codes.shape[0]):
        if board.codes[window] == target:
            for cell in board.windows[window]:
                if board.owner[cell] == FREE and not marks[cell]:
                    marks[cell] = True
                    count += 1
    return count


@_njit
def _fives_through(board: _Tables, cell: int, side: int, fives: NDArray[np.int16]) -> int:
    """Write the first two cells that make five in windows through `cell`; return their number, at most 2."""
    target = (board.connect - 1) * (1 if side == 0 else _OTHER)
    count = 0
    for window in board.through[cell]:
        if window < 0:
            break
        if board.codes[window] == target:
            for other in board.windows[window]:
                if board.owner[other] == FREE and (count == 0 or fives[0] != other):
                    fives[count] = other
                    count += 1
                    if count == 2:
                        return 2
    return count


@_njit
def _first(marks: NDArray[np.bool_]) -> int:
    for cell in range(marks.shape[0]):
        if marks[cell]:
            return cell
    return -1


@_njit
def _fours(board: _Tables, side: int, left: int, line: NDArray[np.int16], at: int) -> int:
    """Return the plies of a win by at most `left` fours for `side` to move; 0 if there is none, or after the limit.

    `line[at:]` gets its moves: up to the five at hand, or to the four that threatens two fives.
    """
    cells = board.owner.shape[0]
    marks = np.zeros(cells, np.bool_)
    if _completing(board, side, 1, marks):
        line[at] = _first(marks)
        return 1
    if left == 0:
        return 0
    key = board.key[0] ^ board.keys[side, cells]
    slot = np.int64(key & np.uint64(board.seen.shape[1] - 1))
    if board.seen[0, slot] == key and board.values[0, slot] >= left:
        return 0
    must = np.zeros(cells, np.bool_)
    threats = _completing(board, 1 - side, 1, must)
    if threats > 1:
        return 0
    _completing(board, side, 2, marks)
    fives = np.empty(2, np.int16)
    for cell in range(cells):
        if not marks[cell] or (threats and not must[cell]):
            continue
        board.tried[0] += 1
        if board.tried[0] > board.tried[1]:
            return 0
        _put(board, cell, side)
        found = 3 if _fives_through(board, cell, side, fives) == 2 else 0
        if not found:
            answer = np.int64(fives[0])
            _put(board, answer, 1 - side)
            rest = _fours(board, side, left - 1, line, at + 2)
            _take(board, answer)
            if rest:
                line[at + 1] = answer
                found = rest + 2
        _take(board, cell)
        if found:
            line[at] = cell
            return found
    if board.tried[0] <= board.tried[1]:
        board.seen[0, slot] = key
        board.values[0, slot] = left
    return 0


@_njit
def _short_fours(board: _Tables, side: int, line: NDArray[np.int16]) -> int:
    """Return the plies of the shortest win by fours of `side` to move, and its moves in `line`; 0 without one."""
    line[:] = -1
    most, start = np.int64(_MAX_FOURS), np.int64(0)
    plies = _fours(board, side, most, line, start)
    shorter = np.empty_like(line)
    while plies > 3:
        shorter[:] = -1
        fewer = _fours(board, side, (plies - 1) // 2 - 1, shorter, start)
        if fewer == 0:
            break
        plies = fewer
        line[:] = shorter
    return plies


@_njit
def _mark_replies(board: _Tables, side: int, line: NDArray[np.int16], marks: NDArray[np.bool_]) -> None:
    """Mark the replies that could matter against the win by fours `line` of `side`, with the other side to move.

    A reply that takes no cell of the win, makes no four, and makes no four together with the forced answers leaves the
    win as it is.
    """
    other = 1 - side
    some = np.zeros_like(marks)
    _completing(board, other, 2, marks)
    for ply in range(line.shape[0]):
        if line[ply] < 0:
            break
        _put(board, np.int64(line[ply]), side if ply % 2 == 0 else other)
    _completing(board, side, 1, some)
    marks |= some
    for ply in range(line.shape[0]):
        if line[ply] < 0:
            break
        _take(board, np.int64(line[ply]))
        marks[line[ply]] = True
    for ply in range(1, line.shape[0], 2):
        if line[ply] < 0:
            break
        _put(board, np.int64(line[ply]), other)
    for lacking in (1, 2):
        _completing(board, other, lacking, some)
        marks |= some
    for ply in range(1, line.shape[0], 2):
        if line[ply] < 0:
            break
        _take(board, np.int64(line[ply]))


@_njit
def _promise(board: _Tables, side: int, promise: NDArray[np.int32]) -> None:
    """Write for each free cell how much a quiet stone of `side` there could threaten; 0 where it cannot."""
    unit = 1 if side == 0 else _OTHER
    promise[:] = 0
    for window in range(board.codes.shape[0]):
        code = board.codes[window]
        if code == unit or code == 2 * unit:
            for cell in board.windows[window]:
                if board.owner[cell] == FREE:
                    promise[cell] += 1 if code == unit else 8


@_njit
def _prove(board: _Tables, side: int, attacks: int, level: int, leading: int) -> int:
    """Return the plies of a forced win of `side` with at most `level` quiet moves; 0 if none is proven.

    `attacks`: 1 if `side` is to move; 0 if the other side is, and `side` must threaten to win by fours.
    """
    # A constant among the arguments would compile another version.
    yes, no, again, most, start = np.int64(1), np.int64(0), np.int64(LEADING_FOURS), np.int64(_MAX_FOURS), np.int64(0)
    other = 1 - side
    cells = board.owner.shape[0]
    line = np.full(_LINE, -1, np.int16)
    marks = np.zeros(cells, np.bool_)
    threats = 0
    if attacks:
        plies = _short_fours(board, side, line)
        if plies or level == 0:
            return plies
        threats = _completing(board, other, 1, marks)
        if threats > 1:
            return 0
    else:
        if _completing(board, other, 1, marks):
            return 0
        threats = _completing(board, side, 1, marks)
        if threats > 1:
            return 2
        if threats == 1:
            reply = _first(marks)
            _put(board, reply, other)
            rest = _prove(board, side, yes, level, again)
            _take(board, reply)
            return rest + 1 if rest else 0
    if board.tried[0] > board.tried[1]:
        return 0
    row = 1 if attacks else 2
    key = board.key[0] ^ board.keys[side, cells + 1 + 2 * (4 * level + leading) + attacks]
    slot = np.int64(key & np.uint64(board.seen.shape[1] - 1))
    if board.seen[row, slot] == key:
        return np.int64(board.values[row, slot])
    plies = 0
    if attacks:
        fours = np.zeros(cells, np.bool_)
        _completing(board, side, 2, fours)
        promise = np.zeros(cells, np.int32)
        _promise(board, side, promise)
        while True:
            cell = np.argmax(promise)
            if promise[cell] == 0:
                break
            promise[cell] = 0
            if fours[cell] or (threats and not marks[cell]):
                continue
            _put(board, cell, side)
            rest = _prove(board, side, no, level - 1, again)
            _take(board, cell)
            if rest:
                plies = rest + 1
                break
        if plies == 0 and leading:
            fives = np.empty(2, np.int16)
            for cell in range(cells):
                if not fours[cell] or (threats and not marks[cell]):
                    continue
                _put(board, cell, side)
                _fives_through(board, cell, side, fives)
                answer = np.int64(fives[0])
                _put(board, answer, other)
                rest = _prove(board, side, yes, level, leading - 1)
                _take(board, answer)
                _take(board, cell)
                if rest:
                    plies = rest + 2
                    break
    else:
        plies = _short_fours(board, side, line)
        if plies and _fours(board, other, most, np.full(_LINE, -1, np.int16), start) == 0:
            _mark_replies(board, side, line, marks)
            plies += 1
            fives = np.empty(2, np.int16)
            for reply in range(cells):
                if not marks[reply]:
                    continue
                _put(board, reply, other)
                threats = _fives_through(board, reply, other, fives)
                rest = 0
                if threats == 1:
                    answer = np.int64(fives[0])
                    _put(board, answer, side)
                    rest = _prove(board, side, no, level, leading)
                    _take(board, answer)
                    rest += 2 if rest else 0
                elif threats == 0:
                    rest = _prove(board, side, yes, level, again)
                    rest += 1 if rest else 0
                _take(board, reply)
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

    `budget`: fours that a question may try; one that needs more stays unproven.
    """

    def __init__(self, size: int = 15, connect: int = 5, budget: int = 200_000) -> None:
        if not 3 <= connect <= 6:
            raise ValueError(f"the codes of windows hold 3 to 6 in a row, not {connect}")
        self.size = size
        windows = []
        for row in range(size):
            for column in range(size):
                for up, right in DIRECTIONS:
                    line = [(row + i * up, column + i * right) for i in range(connect)]
                    if all(0 <= r < size and 0 <= c < size for r, c in line):
                        windows.append([r * size + c for r, c in line])
        through = np.full((size * size, 4 * connect), -1, np.int16)
        for number, window in enumerate(windows):
            for cell in window:
                through[cell, np.argmin(through[cell])] = number
        draw = np.random.default_rng(5)
        self._board = _Tables(
            windows=np.array(windows, np.int16),
            through=through,
            codes=np.zeros(len(windows), np.int8),
            owner=np.full(size * size, FREE, np.int8),
            keys=draw.integers(1, 2**63, (2, size * size + 64), np.uint64),
            key=np.zeros(1, np.uint64),
            seen=np.zeros((3, 1 << _TABLE_BITS), np.uint64),
            values=np.zeros((3, 1 << _TABLE_BITS), np.int16),
            tried=np.array([0, budget], np.int64),
            connect=connect,
        )

    def show(self, moves: Iterable[int]) -> None:
        """Set up the board after `moves` from the empty one, black first."""
        for cell in np.flatnonzero(self._board.owner != FREE):
            _take(self._board, cell)
        for ply, move in enumerate(moves):
            _put(self._board, move, ply % 2)

    def free_cells(self) -> list[int]:
        """Return the cells without a stone, ascending."""
        return [int(cell) for cell in np.flatnonzero(self._board.owner == FREE)]

    def five_cells(self, side: int) -> set[int]:
        """Return the cells where a stone of `side` makes five."""
        return self._completing(side, 1)

    def _completing(self, side: int, lacking: int) -> set[int]:
        marks = np.zeros(self._board.owner.shape[0], np.bool_)
        _completing(self._board, side, lacking, marks)
        return {int(cell) for cell in np.flatnonzero(marks)}

    def fours(self, side: int) -> list[int]:
        """Return the moves of the shortest win by fours for `side` to move; an empty list without one.

        The last move is a five or threatens two.
        """
        self._board.tried[0] = 0
        line = np.full(_LINE, -1, np.int16)
        _short_fours(self._board, side, line)
        return [int(cell) for cell in line[line >= 0]]

    def win(self, side: int, level: int) -> int:
        """Return the plies of a win of `side`, to move, with at most `level` quiet moves on a line; 0 unproven."""
        self._board.tried[0] = 0
        return int(_prove(self._board, side, 1, level, LEADING_FOURS))

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
        _put(board, move, side)
        fives = self.five_cells(side)
        if fives or level:
            rest = int(_prove(board, side, 0, level if fives else level - 1, LEADING_FOURS))
        else:
            rest = 0
        _take(board, move)
        return rest + 1 if rest else 0

    def move_loses(self, move: int, side: int, level: int) -> int:
        """Return the plies until the other side's win after `move` of `side`; 0 if none is proven."""
        board, other = self._board, 1 - side
        if move in self.five_cells(side):
            return 0
        if self.five_cells(other) - {move}:
            return 2
        board.tried[0] = 0
        _put(board, move, side)
        fives = self.five_cells(side)
        if len(fives) > 1:
            rest = 0
        elif fives:
            answer = min(fives)
            _put(board, answer, other)
            rest = self._loses(side, level)
            _take(board, answer)
            rest += 1 if rest else 0
        else:
            rest = int(_prove(board, other, 1, level, LEADING_FOURS))
        _take(board, move)
        return rest + 1 if rest else 0

    def _loses(self, side: int, level: int) -> int:
        """Return the plies until the other side's win with `side` to move; 0 if none is proven."""
        return int(_prove(self._board, 1 - side, 0, level, LEADING_FOURS))
