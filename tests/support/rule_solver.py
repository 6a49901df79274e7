"""A solver of wins by fours under every rule in plain Python: the referee of the suites of other rules.

It shares no code with the players. It reads whole lines of the board as text, `X` for a side's own stones, `O` for the
other one's, and asks `tests.support.referee` for Black's fouls in renju. A win by fours is proven by every legal reply
that leaves the attacker without a five; in caro such a reply may also enclose the five.
"""

from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from operator import itemgetter

from tests.support import referee

BLACK, WHITE, EMPTY = 1, -1, 0
_SWAPPED = str.maketrans("XO", "OX")


class TooHard(Exception):
    """The budget was spent before the question was decided."""


@cache
def _lines(size: int) -> tuple[tuple[tuple[int, ...], Callable[[str], tuple[str, ...]]], ...]:
    """Return every line of the board that has room for five, and what takes its cells from a board's text."""
    found = {line for cell in range(size * size) for line in referee.lines_through(cell, size) if len(line) >= 5}
    return tuple((line, itemgetter(*line)) for line in sorted(found))


@lru_cache(1 << 18)
def _fives(text: str, kind: str) -> tuple[int, ...]:
    """Return the empty places of a line where a stone wins. `kind`: `exact`, `any`, `caro` or `caro-exact`."""
    found = []
    for at in [at for at, cell in enumerate(text) if cell == "."]:
        before, after = text[:at].rstrip("X"), text[at + 1 :].lstrip("X")
        row = len(text) - len(before) - len(after)
        enclosed = "caro" in kind and before.endswith("O") and after.startswith("O")
        if (row == 5 and not enclosed) or (row > 5 and kind in ("any", "caro")):
            found.append(at)
    return tuple(found)


@lru_cache(1 << 18)
def _fours(text: str, kind: str) -> tuple[int, ...]:
    """Return the empty places of a line where a stone threatens to win."""
    empty = [at for at, cell in enumerate(text) if cell == "."] if text.count("X") > 2 else []
    return tuple(at for at in empty if _fives(text[:at] + "X" + text[at + 1 :], kind))


class RuleSolver:
    """A board under a variant of the rules; cells are `row * size + column`, colours 1 (black) and -1 (white)."""

    def __init__(self, moves: Iterable[int], variant: str, size: int = 15, budget: int = 10_000) -> None:
        """`moves`: from the empty board, black first. `budget`: fours to try before `TooHard` is raised."""
        self.size, self.variant, self.budget = size, variant, budget
        self.stones = [EMPTY] * (size * size)
        self._text = ["."] * (size * size)
        """The board with Black's stones as `X`."""
        for ply, move in enumerate(moves):
            self.put(move, BLACK if ply % 2 == 0 else WHITE)
        self.ignores_fouls = False
        """True to let Black play forbidden moves in renju."""
        self._failed: dict[tuple[object, ...], int] = {}

    def put(self, cell: int, colour: int) -> None:
        """Put a stone on a cell, or with `EMPTY` take it back."""
        self.stones[cell], self._text[cell] = colour, ".XO"[colour]

    def fives(self, colour: int) -> set[int]:
        """Return the cells where a side wins at once."""
        return self._places(colour, _fives, self._kind(colour))

    def fives_of_freestyle(self, colour: int) -> set[int]:
        """Return the cells where a side would win at once if five or more always won."""
        return self._places(colour, _fives, "any")

    def fours(self, colour: int) -> set[int]:
        """Return the cells where a side may play and threatens to win."""
        return {cell for cell in self._places(colour, _fours, self._kind(colour)) if self.is_legal(cell, colour)}

    def is_legal(self, cell: int, colour: int) -> bool:
        """Return True if a side may play a cell."""
        if self.variant != "renju" or self.ignores_fouls:
            return self.stones[cell] == EMPTY
        return referee.is_legal(self.stones, cell, colour, self.size, self.variant)

    def blocks(self, colour: int) -> set[int]:
        """Return the legal moves of a side after which the other one cannot win at once."""
        cells = fives = self.fives(-colour)
        if "caro" in self.variant:
            board = self._board(-colour)
            for five in fives:
                for line in referee.lines_through(five, self.size):
                    text, at = "".join(board[cell] for cell in line), line.index(five)
                    before, after = text[:at].rstrip("X"), text[at + 1 :].lstrip("X")
                    # The cells at both ends of the row, if it has any there.
                    cells = cells.union(line[: len(before)][-1:], line[len(line) - len(after) :][:1])
        return {cell for cell in cells if self.is_legal(cell, colour) and not self._after(cell, colour, -colour)}

    def win_by_fours(self, colour: int, most: int = 8) -> list[int] | None:
        """Return the moves of a win of a side to move by at most so many fours; None proves that there is none.

        Moves and answers alternate; the last one wins or leaves no reply. Raises `TooHard`.
        """
        if fives := self.fives(colour):
            return [min(fives)]
        key = (*self.stones, colour, self.ignores_fouls)
        if most == 0 or self._failed.get(key, 0) >= most:
            return None
        for move in sorted(self.fours(colour)):
            if line := self.line_after(move, colour, most):
                return line
        self._failed[key] = most
        return None

    def line_after(self, move: int, colour: int, most: int = 8) -> list[int] | None:
        """Return the moves of a win by fours that begins with the four `move`; None if it wins nothing."""
        self.budget -= 1
        if self.budget < 0:
            raise TooHard
        self.put(move, colour)
        line: list[int] | None = None
        if not self.fives(-colour):
            line = [move]
            for reply in sorted(self.blocks(-colour)):
                self.put(reply, -colour)
                rest = self.win_by_fours(colour, most - 1)
                self.put(reply, EMPTY)
                if rest is None:
                    line = None
                    break
                line = max(line, [move, reply, *rest], key=len)
        self.put(move, EMPTY)
        return line

    def _after(self, cell: int, colour: int, winner: int) -> set[int]:
        """Return the cells where `winner` wins at once after a stone of `colour` on a cell."""
        self.put(cell, colour)
        found = self.fives(winner)
        self.put(cell, EMPTY)
        return found

    def _kind(self, colour: int) -> str:
        if self.variant == "renju":
            return "exact" if colour == BLACK else "any"
        return {"standard": "exact", "freestyle": "any"}.get(self.variant, self.variant)

    def _board(self, colour: int) -> str:
        board = "".join(self._text)
        return board if colour == BLACK else board.translate(_SWAPPED)

    def _places(self, colour: int, places: Callable[[str, str], tuple[int, ...]], kind: str) -> set[int]:
        board = self._board(colour)
        found: set[int] = set()
        for line, cells in _lines(self.size):
            text = "".join(cells(board))
            if text.count("X") > 2:
                found.update(line[at] for at in places(text, kind))
        return found
