"""Positions: the stones of a game, the side to move, and the outcome."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from core.notation import cell_name, cell_of, cell_words, column_letter
from core.rules import BLACK, EMPTY, NO_CELL, WHITE, Cell, Colour, Foul, Rules


class IllegalMoveError(ValueError):
    """A move that the rules forbid: off the board, on a stone, a foul of renju, or after the end of the game.

    >>> gomoku.Position.from_moves(gomoku.Rules(), ["h8", "h8"])
    Traceback (most recent call last):
    core.position.IllegalMoveError: h8 already holds a stone

    Text that names no cell raises `core.notation.NotationError` instead; both are `ValueError`s.
    """


class Termination(StrEnum):
    """The end of a game."""

    LINE = "line"
    FULL_BOARD = "full board"
    NO_MOVE = "no legal move"
    """Every empty cell is forbidden to Black, which draws."""
    FOUL = "forbidden move"
    """A record holds a forbidden move of Black, which loses."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a finished game; `winner` is None for a draw.

    >>> gomoku.Position.from_moves(gomoku.Rules(3, 3), "a1 a2 b1 b2 c1").outcome().winner == gomoku.BLACK
    True
    """

    termination: Termination
    winner: Colour | None


_SYMBOLS = {BLACK: "X", WHITE: "O", EMPTY: "."}


class Position:
    """A game as it stands: push and pop moves from the empty board on; black moves first.

    `rules`, `moves` (cells, the oldest first) and `stones` (a byte a cell) are for reading.

    >>> position = gomoku.Position()
    >>> position.push("h8")
    >>> position.ply, position.side_to_move == gomoku.WHITE, position.is_game_over()
    (1, True, False)

    `print(position)` shows the board: X is black, O is white, the last move stands in brackets.
    """

    def __init__(self, rules: Rules = Rules()) -> None:  # noqa: B008 - frozen
        if not isinstance(rules, Rules):
            raise TypeError(f"rules are those of Rules, such as Rules(15), not {rules!r}")
        self.rules = rules
        self.stones = array("b", bytes(rules.cells))
        """[A] `BLACK`, `WHITE` or `EMPTY` per cell, in bytes, so that numpy and kernels read it without a copy
        (`core.compiled.stones_of`). Change it by `push` and `pop` only."""
        self.moves: list[Cell] = []
        """The moves that led here, oldest first."""
        self._outcome: Outcome | None = None

    @classmethod
    def from_moves(cls, rules: Rules, moves: Iterable[Cell | str]) -> Self:
        """Return the position after recorded `moves` from the empty board; `push` raises the errors.

        A text holds names of cells: `h8 i9`.
        """
        position = cls(rules)
        for move in (word for _, word in cell_words(moves)) if isinstance(moves, str) else moves:
            position.push(move, recorded=True)
        return position

    def copy(self) -> "Position":
        """Return an independent position with the same moves."""
        twin = Position(self.rules)
        twin.stones = self.stones[:]
        twin.moves = self.moves.copy()
        twin._outcome = self._outcome
        return twin

    __copy__ = copy
    """`copy.copy` alone would share the stones."""

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
        """The last move and the one before it; `NO_CELL` where there is none."""
        last = self.moves[-1] if self.moves else NO_CELL
        before = self.moves[-2] if len(self.moves) > 1 else NO_CELL
        return last, before

    def is_legal(self, cell: Cell | str) -> bool:
        """Return True if the side to move may play `cell`, or the cell of this name."""
        cell = cell_of(cell, self.rules.size)
        on_board = self._outcome is None and 0 <= cell < self.rules.cells
        return on_board and self.rules.is_legal(self.stones, cell, self.side_to_move)

    def foul(self, cell: Cell | str) -> Foul | None:
        """Return the reason why an empty cell, or that of a name, is forbidden to the side to move, or None."""
        cell = cell_of(cell, self.rules.size)
        if self._outcome is not None or not 0 <= cell < self.rules.cells or self.stones[cell] != EMPTY:
            return None
        return self.rules.foul(self.stones, cell, self.side_to_move)

    def foul_text(self, foul: Foul) -> str:
        """Return a foul in words: `3-3 at h8: h8-h10 and g7-i9`."""
        spans = (f"{self.name_of(line[0])}-{self.name_of(line[-1])}" for line in foul.lines)
        return f"{foul.kind} at {self.name_of(foul.cell)}: {' and '.join(spans)}"

    def fouls(self) -> list[Cell]:
        """Return the empty cells that are forbidden to the side to move, ascending."""
        cells = range(self.rules.cells if self.rules.has_fouls else 0)
        return [cell for cell in cells if self.foul(cell) is not None]

    def legal_moves(self) -> list[Cell]:
        """Return the cells that the side to move may play, ascending; none after the end of the game."""
        return self.rules.legal_moves(self.stones, self.side_to_move) if self._outcome is None else []

    def push(self, move: Cell | str, *, recorded: bool = False) -> None:
        """Play a cell, or its name such as `h8`, for the side to move.

        `recorded`: the move was made already, so one that is forbidden to Black stands, and loses.

        Raises `IllegalMoveError` for a move that the rules forbid, and `core.notation.NotationError` for a name of no
        cell; the position is then unchanged.
        """
        cell = cell_of(move, self.rules.size)
        is_foul = recorded and self.foul(cell) is not None
        if not (is_foul or self.is_legal(cell)):
            raise IllegalMoveError(self._why_illegal(cell))
        self.stones[cell] = self.side_to_move
        self.moves.append(cell)
        # The line is tested before the full board: the last cell may win.
        if is_foul:
            self._outcome = Outcome(Termination.FOUL, self.side_to_move)
        elif self.rules.wins(self.stones, cell):
            self._outcome = Outcome(Termination.LINE, -self.side_to_move)
        elif len(self.moves) == self.rules.cells:
            self._outcome = Outcome(Termination.FULL_BOARD, None)
        elif self.rules.has_fouls and not self.rules.has_moves(self.stones, self.side_to_move):
            self._outcome = Outcome(Termination.NO_MOVE, None)

    def pop(self) -> Cell:
        """Take the last move back and return it. Raises `IndexError` on an empty board."""
        try:
            cell = self.moves.pop()
        except IndexError:
            raise IndexError("the board is empty: there is no move to take back") from None
        self.stones[cell] = EMPTY
        self._outcome = None
        return cell

    def outcome(self) -> Outcome | None:
        """Return the outcome of the game, or None while it goes on."""
        return self._outcome

    def is_game_over(self) -> bool:
        """Return True if the game has ended."""
        return self._outcome is not None

    def winning_line(self) -> list[Cell]:
        """Return the cells of the winning line (or lines), ascending; none without a winner."""
        if self._outcome is None or self._outcome.termination != Termination.LINE:
            return []
        return self.rules.winning_line(self.stones, self.moves[-1])

    def in_a_row(self) -> int:
        """Return the number of stones of the longest winning line, which may be more than a win needs."""
        return max(map(len, self.rules.winning_lines(self.stones, self.moves[-1])))

    def name_of(self, cell: Cell | str) -> str:
        """Return the name of a cell, such as `h8`. Raises `ValueError` for a number of none, such as `NO_CELL`."""
        cell = cell_of(cell, self.rules.size)
        if not 0 <= cell < self.rules.cells:
            raise ValueError(f"{cell} is no cell of a board of {self.rules.size}x{self.rules.size}")
        return cell_name(cell, self.rules.size)

    def __str__(self) -> str:
        size = self.rules.size
        last_row, last_column = divmod(self.moves[-1], size) if self.moves else (NO_CELL, NO_CELL)
        lines = []
        for row in reversed(range(size)):
            symbols = (_SYMBOLS[stone] for stone in self.stones[row * size : (row + 1) * size])
            line = list(f" {' '.join(symbols)} ")
            if row == last_row:
                line[2 * last_column], line[2 * last_column + 2] = "[]"
            lines.append(f"{row + 1:2}{''.join(line)}".rstrip())
        return "\n".join([*lines, f"   {' '.join(map(column_letter, range(size)))}"])

    def __repr__(self) -> str:
        return f"Position.from_moves({self.rules!r}, {[self.name_of(move) for move in self.moves]})"

    def _why_illegal(self, cell: Cell) -> str:
        if self._outcome is not None:
            return "the game is over"
        if not 0 <= cell < self.rules.cells:
            return f"cell {cell} is off the board of {self.rules.size}x{self.rules.size}"
        if (foul := self.foul(cell)) is not None:
            return f"renju forbids Black {self.foul_text(foul)}"
        return f"{self.name_of(cell)} already holds a stone"
