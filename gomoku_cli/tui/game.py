"""One game between a human and a model: turns, undo, and the result in words."""

from dataclasses import dataclass

from core.position import Position
from core.rules import Cell, Colour, Rules, colour_name


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The model's report on one of its moves."""

    value: float | None
    """Expected result for the model, -1 to 1; None if the model reports no value."""
    simulations: int
    seconds: float


class GameSession:
    """The position of one game, the human's colour, and a report for each of the model's moves on the board."""

    def __init__(self, rules: Rules, human: Colour) -> None:
        self.position = Position(rules)
        self.human = human
        self._reports: list[MoveReport] = []

    @property
    def is_humans_turn(self) -> bool:
        """True if the game goes on and the human is to move."""
        return self.position.side_to_move == self.human and not self.position.is_game_over()

    @property
    def has_human_move(self) -> bool:
        """True if a move of the human is on the board."""
        return bool(self._human_plies())

    @property
    def last_report(self) -> MoveReport | None:
        """The report on the model's last move; None before its first."""
        return self._reports[-1] if self._reports else None

    def play_human_move(self, cell: Cell) -> None:
        """Play the human's move. Raises `IllegalMoveError`."""
        self.position.push(cell)

    def play_model_move(self, cell: Cell, report: MoveReport) -> None:
        """Play the model's move and keep its report. Raises `IllegalMoveError`."""
        self.position.push(cell)
        self._reports.append(report)

    def undo(self) -> None:
        """Take back the human's last move and the moves after it. There must be one: see `has_human_move`."""
        last = self._human_plies()[-1]
        while self.position.ply > last:
            if self._colour_of(self.position.ply - 1) != self.human:
                self._reports.pop()
            self.position.pop()

    def restart(self) -> None:
        """Clear the board."""
        self.position = Position(self.position.rules)
        self._reports.clear()

    def result_text(self) -> str:
        """Return the result of the finished game in words."""
        outcome = self.position.outcome()
        assert outcome is not None
        if outcome.winner is None:
            return "The board is full: a draw."
        who = "you have won" if outcome.winner == self.human else "the model has won"
        return f"{colour_name(outcome.winner).capitalize()} has {self.position.rules.connect} in a row: {who}."

    def _human_plies(self) -> list[int]:
        """The plies, counted from 0, at which the human moved."""
        return [ply for ply in range(self.position.ply) if self._colour_of(ply) == self.human]

    def _colour_of(self, ply: int) -> Colour:
        same = (self.position.ply - ply) % 2 == 0
        return self.position.side_to_move if same else -self.position.side_to_move
