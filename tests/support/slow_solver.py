"""A solver of forced wins in plain Python: the referee of the tactical suite. It shares no code with the players.

A window is any run of `connect` cells in a line. A window that holds `n` stones of one side and none of the other is
a whole pattern in freestyle: a five is a full window, a four lacks a single cell, and so on. Overlines, gaps and edges
need no case of their own.

Three kinds of claims are proven, each by trying every move of the other side that could matter:

- `fours_win`: every move of the winner makes a four, so every answer is forced.
- `wins` at level 1: a quiet move (no four) after which each answer loses to fours. At level 2 some answers may need
  one more such move, and so on.
- `loses`: whatever the side to move does, the other side wins in one of these ways.

That `wins` and `loses` are both false proves nothing but that there is no win of this kind.
"""

import random
from collections.abc import Iterable

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
FREE = -1
DEEPEST = 60
"""More fours than any line has."""


class TooHard(Exception):
    """The budget was spent before the question was decided."""


class Solver:
    """A board with its windows counted. Sides are 0 (black) and 1 (white); cells are `row * size + column`."""

    def __init__(self, size: int = 15, connect: int = 5, budget: int = 100_000) -> None:
        """`budget`: fours that may be tried, over all questions, before `TooHard` is raised."""
        self.size, self.connect, self.budget = size, connect, budget
        self.owner = [FREE] * (size * size)
        self.windows: list[tuple[int, ...]] = []
        self.direction: list[int] = []
        """For each window its index in `DIRECTIONS`."""
        for row in range(size):
            for column in range(size):
                for direction, (up, right) in enumerate(DIRECTIONS):
                    cells = [(row + i * up, column + i * right) for i in range(connect)]
                    if all(0 <= r < size and 0 <= c < size for r, c in cells):
                        self.windows.append(tuple(r * size + c for r, c in cells))
                        self.direction.append(direction)
        self.through: list[list[int]] = [[] for _ in self.owner]
        for window, line in enumerate(self.windows):
            for cell in line:
                self.through[cell].append(window)
        self.count = ([0] * len(self.windows), [0] * len(self.windows))
        self.threes: tuple[set[int], set[int]] = (set(), set())
        """For each side the windows that lack two stones and hold none of the other side."""
        self.fours: tuple[set[int], set[int]] = (set(), set())
        """The same for one stone."""
        self.fives = 0
        """Full windows of either side."""
        self.tried = 0
        draw = random.Random(5)
        self._codes = tuple([draw.getrandbits(64) for _ in self.owner] for _ in range(2))
        self._key = 0
        self._no_fours: dict[tuple[int, int], int] = {}
        """Number of fours that are known not to win, by position and side to move."""
        self._known: dict[tuple[str, int, int, int], bool] = {}

    @classmethod
    def from_moves(cls, moves: Iterable[int], size: int = 15, connect: int = 5, budget: int = 100_000) -> "Solver":
        """Return the board after `moves` from the empty one, black first."""
        board = cls(size, connect, budget)
        for ply, move in enumerate(moves):
            board.put(move, ply % 2)
        return board

    def put(self, cell: int, side: int) -> None:
        """Put a stone on a free cell."""
        self.owner[cell] = side
        self._key ^= self._codes[side][cell]
        mine, theirs, full = self.count[side], self.count[1 - side], self.connect
        for window in self.through[cell]:
            had = mine[window]
            mine[window] = had + 1
            other = theirs[window]
            if other == 0:
                if had == full - 3:
                    self.threes[side].add(window)
                elif had == full - 2:
                    self.threes[side].remove(window)
                    self.fours[side].add(window)
                elif had == full - 1:
                    self.fours[side].remove(window)
                    self.fives += 1
            elif had == 0:
                if other == full - 2:
                    self.threes[1 - side].remove(window)
                elif other == full - 1:
                    self.fours[1 - side].remove(window)

    def take(self, cell: int) -> None:
        """Take a stone back."""
        side = self.owner[cell]
        self.owner[cell] = FREE
        self._key ^= self._codes[side][cell]
        mine, theirs, full = self.count[side], self.count[1 - side], self.connect
        for window in self.through[cell]:
            had = mine[window]
            mine[window] = had - 1
            other = theirs[window]
            if other == 0:
                if had == full - 2:
                    self.threes[side].remove(window)
                elif had == full - 1:
                    self.fours[side].remove(window)
                    self.threes[side].add(window)
                elif had == full:
                    self.fives -= 1
                    self.fours[side].add(window)
            elif had == 1:
                if other == full - 2:
                    self.threes[1 - side].add(window)
                elif other == full - 1:
                    self.fours[1 - side].add(window)

    def free_cells(self) -> list[int]:
        """Return the cells without a stone, ascending."""
        return [cell for cell, owner in enumerate(self.owner) if owner == FREE]

    def five_cells(self, side: int) -> set[int]:
        """Return the cells where a stone of `side` makes five."""
        return self._free_in(self.fours[side])

    def four_moves(self, side: int) -> set[int]:
        """Return the cells where a stone of `side` makes a four, which threatens five; without those that make five."""
        return self._free_in(self.threes[side])

    def fours_win(self, side: int, max_fours: int = DEEPEST) -> list[int] | None:
        """Return the moves of a win by at most `max_fours` fours for `side` to move; None proves that there is none.

        Moves and answers alternate. The last move makes five or two fives to come; with a five at hand it is the only
        one.
        """
        other = 1 - side
        if self.fours[side]:
            return [min(self.five_cells(side))]
        known = (self._key, side)
        if max_fours == 0 or self._no_fours.get(known, 0) >= max_fours:
            return None
        moves, must = self.four_moves(side), self.five_cells(other)
        if must:
            moves = moves & must if len(must) == 1 else set()
        for move in sorted(moves):
            self.tried += 1
            if self.tried > self.budget:
                raise TooHard
            self.put(move, side)
            fives = self.five_cells(side)
            line = None
            if len(fives) > 1:
                line = [move]
            else:
                answer = min(fives)
                self.put(answer, other)
                rest = self.fours_win(side, max_fours - 1)
                self.take(answer)
                if rest is not None:
                    line = [move, answer, *rest]
            self.take(move)
            if line is not None:
                return line
        self._no_fours[known] = max_fours
        return None

    def shortest_fours(self, side: int) -> list[int] | None:
        """Return the moves of a win as `fours_win` does, with the minimum of fours."""
        line = self.fours_win(side)
        while line is not None and len(line) > 1:
            shorter = self.fours_win(side, len(line) // 2)
            if shorter is None:
                break
            line = shorter
        return line

    def wins(self, side: int, level: int) -> bool:
        """Return True if `side`, to move, wins by fours and at most `level` quiet moves on any line."""
        if self.fours_win(side) is not None:
            return True
        must = self.five_cells(1 - side)
        if level == 0 or len(must) > 1:
            return False
        known = ("wins", self._key, side, level)
        if known not in self._known:
            moves = must or self.free_cells()
            self._known[known] = any(self.move_wins(move, side, level) for move in sorted(moves))
        return self._known[known]

    def loses(self, side: int, level: int) -> bool:
        """Return True if `side`, to move, loses after any move, to fours and `level` quiet moves a line at most."""
        other = 1 - side
        must = self.five_cells(other)
        if self.fours[side] or len(must) > 1:
            return not self.fours[side]
        known = ("loses", self._key, side, level)
        if known not in self._known:
            moves: set[int] | None = must or self.disturbing_moves(other)
            self._known[known] = (
                moves is not None
                and self.fours_win(side) is None
                and all(self.move_loses(move, side, level) for move in sorted(moves))
            )
        return self._known[known]

    def move_wins(self, move: int, side: int, level: int) -> bool:
        """Return True if `side` wins by `move`: by fours after it and quiet moves, of which it may itself be one."""
        other = 1 - side
        if move in self.five_cells(side):
            return True
        if self.five_cells(other) - {move}:
            return False
        self.put(move, side)
        fives = self.five_cells(side)
        if len(fives) > 1:
            won = True
        elif fives:
            answer = min(fives)
            self.put(answer, other)
            won = self.wins(side, level)
            self.take(answer)
        else:
            won = level > 0 and self.loses(other, level - 1)
        self.take(move)
        return won

    def move_loses(self, move: int, side: int, level: int) -> bool:
        """Return True if the other side wins, by fours and at most `level` quiet moves, after `side` played `move`."""
        other = 1 - side
        if move in self.five_cells(side):
            return False
        if self.five_cells(other) - {move}:
            return True
        self.put(move, side)
        fives = self.five_cells(side)
        if len(fives) > 1:
            lost = False
        elif fives:
            answer = min(fives)
            self.put(answer, other)
            lost = self.loses(side, level)
            self.take(answer)
        else:
            lost = self.wins(other, level)
        self.take(move)
        return lost

    def disturbing_moves(self, side: int) -> set[int] | None:
        """Return the moves of the other side, to move, after which `side` might not win by fours any more.

        Returns None if `side` has no win by fours at all. The win found stands against a move that takes none of its
        cells and gives none of its forced answers a five to threaten. So the moves that matter are those cells, those
        that make a four together with the forced answers, and fours at once.
        """
        line = self.fours_win(side)
        if line is None:
            return None
        other = 1 - side
        cells = set(line) | self.four_moves(other)
        for ply, cell in enumerate(line):
            self.put(cell, side if ply % 2 == 0 else other)
        cells |= self.five_cells(side)
        for cell in line:
            self.take(cell)
        answers = line[1::2]
        for cell in answers:
            self.put(cell, other)
        cells |= self.four_moves(other) | self.five_cells(other)
        for cell in answers:
            self.take(cell)
        return cells

    def lines_of_fours(self, move: int, side: int) -> set[int]:
        """Return the directions in which a stone of `side` on the free cell `move` makes a four."""
        self.put(move, side)
        found = {self.direction[window] for window in self.fours[side] if move in self.windows[window]}
        self.take(move)
        return found

    def lines_of_open_threes(self, move: int, side: int) -> set[int]:
        """Return the directions in which a stone on `move` makes an open three, which one more makes an open four."""
        self.put(move, side)
        found = set()
        for direction in range(len(DIRECTIONS)):
            windows = [window for window in self.through[move] if self.direction[window] == direction]
            if any(self.count[side][w] >= self.connect - 1 for w in windows if self.count[1 - side][w] == 0):
                continue
            for cell in self._free_in(w for w in windows if w in self.threes[side]):
                self.put(cell, side)
                if len(self._free_in(w for w in windows if w in self.fours[side])) > 1:
                    found.add(direction)
                self.take(cell)
        self.take(move)
        return found

    def _free_in(self, windows: Iterable[int]) -> set[int]:
        owner = self.owner
        return {cell for window in windows for cell in self.windows[window] if owner[cell] == FREE}
