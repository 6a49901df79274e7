"""A game that people play: it may also end by resignation, on time or by an agreed draw, which no board shows."""

from collections.abc import Sequence

from core.position import Position, Termination
from core.records.record import Ending
from core.records.results import parse_result
from core.records.tree import GameTree, Node
from core.records.walk import Walk
from core.rules import Colour, colour_name
from gomoku_cli.study.clocks import Clock, TimeControl

DRAW_STONES, DRAW_MOVES, DRAW_SUM = 30, 5, 0.06
"""From this number of stones on an engine accepts a draw if the sum of its values before its last moves is lower.

It offers one if that holds for their absolute values, as the program of paper A does.
"""

_UNRATED = "UNRATED"
"""A private property of the root."""


def accepts_draw(values: Sequence[float], stones: int) -> bool:
    """Return True if an engine accepts a draw; `values`: those before its moves, -1 to 1, for itself, oldest first."""
    return stones >= DRAW_STONES and len(values) >= DRAW_MOVES and sum(values[-DRAW_MOVES:]) < DRAW_SUM


def offers_draw(values: Sequence[float], stones: int) -> bool:
    """Return True if an engine offers a draw; see `accepts_draw`."""
    return accepts_draw([abs(value) for value in values], stones)


class PlayedGame(Walk):
    """A walk through a game with its end, whoever decides that."""

    def __init__(self, tree: GameTree, *, is_own: bool) -> None:
        """`is_own`: False for the record of another program, whose players may go on whatever its result says."""
        self._ended: tuple[Node, Colour | None, Ending] | None = None
        super().__init__(tree)
        self.control = TimeControl.of(tree) if is_own else None
        """The time of the players, if they play by the clock."""
        self.clocks = self.control.clocks(self.nodes) if self.control is not None else {}
        """The clock of each colour before this turn."""
        found = parse_result(tree.text("RE")) if is_own else None
        if found is not None and found[1] is not Ending.UNKNOWN and self.outcome() is None:
            self._ended = (self.node, *found)

    def press_clock(self, used_s: float) -> bool:
        """Charge the last move to the clock of its player; return False if no time was left."""
        if self.control is None:
            return True
        colour = -self.side_to_move
        clock = self.clocks[colour] = self.control.pressed(self.clocks[colour], used_s)
        self.control.note(self.node, self.clocks)
        self.changes += 1
        return clock != Clock(0.0, 0)

    @property
    def unrated(self) -> str:
        """The reason why the game does not count for a rating; nothing where it counts."""
        return self.tree.text(_UNRATED)

    def unrate(self, why: str) -> None:
        """Let the game not count any more, for a reason that its record keeps."""
        if not self.unrated:
            self.tree.set_text(_UNRATED, why)
            self.changes += 1

    def end(self, winner: Colour | None, ending: Ending) -> None:
        """End the game here, without its board; `winner`: None for a draw that the players agreed on.

        The line becomes the main one. Behind moves that were taken back a node without a move ends it.
        """
        self._ended = (self.node, winner, ending)
        while self.node.promote():
            pass
        if self.node.children:
            Node(self.node)
            self.node.children.insert(0, self.node.children.pop())
        self.changes += 1

    @property
    def verdict(self) -> tuple[Colour | None, Ending] | None:
        """The winner and the ending of a game that has ended here without its board; else None."""
        return self._ended[1:] if self._ended is not None and self._ended[0] is self.node else None

    @property
    def ended_here(self) -> tuple[Colour | None, Ending]:
        """The winner and the ending of the shown position; None and `UNKNOWN` where the game goes on."""
        outcome = self.outcome()
        return self.verdict or ((outcome.winner, Ending.BOARD) if outcome else (None, Ending.UNKNOWN))

    @property
    def result(self) -> tuple[Colour | None, Ending]:
        """That of the main line for its record; the board may decide where it is unknown."""
        if self._ended is not None and self._ended[0] is [self.tree, *self.tree.main_line()][-1]:
            return self._ended[1:]
        return None, Ending.UNKNOWN

    def is_game_over(self) -> bool:
        """Return True if the game has ended here, by its board or without it."""
        return self.verdict is not None or super().is_game_over()

    @property
    def winner(self) -> Colour | None:
        """The colour that has won; None for a draw and during the game."""
        return self.ended_here[0]

    @property
    def is_decided(self) -> bool:
        """True if the main line has ended, wherever the walk is."""
        return self._is_decided(self.tree)

    def _is_decided(self, node: Node) -> bool:
        """Return True if the game has ended after a node and its main line."""
        line = [*node.path(), *node.main_line()]
        if self._ended is not None and self._ended[0] is (line or [self.tree])[-1]:
            return True
        return Position.from_moves(self.rules, [each.move for each in line]).is_game_over()

    def ending_text(self, winner_text: str) -> str:
        """Return the result of the finished game in words; `winner_text` says who has won."""
        winner, outcome = self.winner, self.outcome()
        if self.verdict is not None:
            if winner is None:
                return "A draw by agreement."
            loser = colour_name(-winner).capitalize()
            how = "has no time left" if self.verdict[1] is Ending.TIME else "has resigned"
            return f"{loser} {how}: {winner_text}."
        if winner is None or outcome is None:
            if outcome is not None and outcome.termination is Termination.NO_MOVE:
                return "Every empty cell is forbidden to Black: a draw."
            return "The board is full: a draw."
        if outcome.termination is Termination.FOUL:
            return f"Black's last move is forbidden: {winner_text}."
        return f"{colour_name(winner).capitalize()} has {self.in_a_row()} in a row: {winner_text}."
