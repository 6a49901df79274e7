"""A game as it stands: the stones, whose turn it is, and how it ended."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from core.lines import makes_line, winning_cells
from core.notation import cell_name
from core.rules import BLACK, EMPTY, NO_CELL, Cell, Colour, Rules


class IllegalMoveError(ValueError):
    """A move that the rules forbid: off the board, on a stone, or after the end of the game."""


class Termination(StrEnum):
    """What ended a game."""

    LINE = "line"
    FULL_BOARD = "full board"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended; `winner` is None for a draw."""

    termination: Termination
    winner: Colour | None


class Position:
    """A board on which moves are pushed and popped, from the empty board on; black moves first."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.stones: NDArray[np.int8] = np.zeros(rules.cells, dtype=np.int8)
        """[A] `BLACK`, `WHITE` or `EMPTY` a cell. Change it by `push` and `pop` only."""
        self.moves: list[Cell] = []
        """The moves that led here, oldest first."""
        self._outcome: Outcome | None = None

    @classmethod
    def from_moves(cls, rules: Rules, moves: Iterable[Cell]) -> Self:
        """The position after `moves` from the empty board. Raises `IllegalMoveError`."""
        position = cls(rules)
        for move in moves:
            position.push(move)
        return position

    def copy(self) -> "Position":
        """A position of its own with the same moves."""
        twin = Position(self.rules)
        twin.stones = self.stones.copy()
        twin.moves = self.moves.copy()
        twin._outcome = self._outcome
        return twin

    @property
    def ply(self) -> int:
        """Moves made so far, which is also the number of stones on the board."""
        return len(self.moves)

    @property
    def side_to_move(self) -> Colour:
        """The colour whose turn it is; after the end, the colour whose turn it would be."""
        return BLACK if len(self.moves) % 2 == 0 else -BLACK

    @property
    def last_moves(self) -> tuple[Cell, Cell]:
        """The last move and the one before it, `NO_CELL` where there is none."""
        last = self.moves[-1] if self.moves else NO_CELL
        before = self.moves[-2] if len(self.moves) > 1 else NO_CELL
        return last, before

    def is_legal(self, cell: Cell) -> bool:
        """Whether `cell` may be played now."""
        return self._outcome is None and 0 <= cell < self.rules.cells and self.stones[cell] == EMPTY

    def legal_moves(self) -> NDArray[np.intp]:
        """The empty cells in ascending order; none after the end of the game."""
        return np.flatnonzero(self.stones == EMPTY) if self._outcome is None else np.empty(0, dtype=np.intp)

    def push(self, cell: Cell) -> None:
        """Plays `cell` for the side to move. Raises `IllegalMoveError` and changes nothing if it may not be played."""
        if not self.is_legal(cell):
            raise IllegalMoveError(self._why_illegal(cell))
        cell = int(cell)  # any numpy integer would do, and have the kernel compiled again for its type
        self.stones[cell] = self.side_to_move
        self.moves.append(cell)
        # Five is tested before the full board: the last cell may win.
        if makes_line(self.stones, cell, self.rules.size, self.rules.connect):
            self._outcome = Outcome(Termination.LINE, -self.side_to_move)
        elif len(self.moves) == self.rules.cells:
            self._outcome = Outcome(Termination.FULL_BOARD, None)

    def pop(self) -> Cell:
        """Takes the last move back and returns it. Raises `IndexError` on an empty board."""
        cell = self.moves.pop()
        self.stones[cell] = EMPTY
        self._outcome = None
        return cell

    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it goes on."""
        return self._outcome

    def is_game_over(self) -> bool:
        """Whether the game has ended."""
        return self._outcome is not None

    def winning_line(self) -> list[Cell]:
        """The cells of the line (or lines) that won, ascending; empty while nobody has won."""
        if self._outcome is None or self._outcome.winner is None:
            return []
        return winning_cells(self.stones, self.moves[-1], self.rules.size, self.rules.connect)

    def _why_illegal(self, cell: Cell) -> str:
        if self._outcome is not None:
            return "the game is over"
        if not 0 <= cell < self.rules.cells:
            return f"cell {cell} is off the board of {self.rules.size}x{self.rules.size}"
        return f"{cell_name(cell, self.rules.size)} already holds a stone"
