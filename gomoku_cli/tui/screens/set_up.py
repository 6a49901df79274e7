"""The screen on which stones are placed and removed freely, to play from there."""

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from core.notation import NotationError, spelled_cells
from core.records.record import RecordError
from core.records.tree import GameTree
from core.rules import BLACK, EMPTY, WHITE, Cell, Colour, Rules, colour_name
from core.set_up import moves_to
from gomoku_cli.printable import sentence
from gomoku_cli.tui.drivers.bursts import is_sgf
from gomoku_cli.tui.engine.messages import MAX_NODES
from gomoku_cli.tui.screens.dialog import Dialog
from gomoku_cli.tui.widgets.board import BoardWidget, BoardWindow, best_scale
from gomoku_cli.tui.widgets.glyphs import Glyphs
from gomoku_cli.tui.widgets.painting import CellLook

_HELP = "enter place, remove  x other colour  c clear  ctrl+s play from here  esc back"


class SetUpScreen(Dialog[list[Cell] | GameTree | None]):
    """A board that takes any stones; the result are moves that lead to them, None to leave all as it is.

    A pasted list of moves takes the place of the stones. A game that is pasted as SGF is the result.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "change_colour", "Other colour", show=False),
        Binding("c", "clear", "Clear", show=False),
        Binding("ctrl+s", "play", "Play from here", show=False),
    ]

    def __init__(self, rules: Rules, moves: Iterable[Cell], glyphs: Glyphs) -> None:
        """`moves` lead to the first stones."""
        super().__init__()
        self._rules = rules
        self._stones = _stones_of(moves)
        self._before, self._warned = dict(self._stones), False
        self._board = BoardWidget(rules, self._change, glyphs)
        self._board.ghost = BLACK
        self._said = Static(id="said", markup=False)

    def compose(self) -> ComposeResult:
        """Build the board and two lines below it."""
        with BoardWindow():
            yield self._board
        yield self._said
        yield Static(_HELP, id="keys", markup=False)

    def on_mount(self) -> None:
        """Show the stones."""
        self._board.focus()
        self._show()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the cells to the terminal."""
        self._board.set_scale(best_scale(self._rules, event.size.width - 1, event.size.height - 3))

    def _change(self, cell: Cell) -> None:
        """Place a stone, or remove the one that stands there."""
        if self._stones.pop(cell, EMPTY) == EMPTY:
            self._stones[cell] = self._board.ghost
        self._show()

    def on_paste(self, event: events.Paste) -> None:
        """Show the stones of a list of moves, or return a game in SGF."""
        event.stop()
        try:
            if is_sgf(event.text):
                self.dismiss(pasted_tree(event.text))
                return
            cells = spelled_cells(event.text, self._rules.size)
        except (NotationError, RecordError) as error:
            self._said.update(sentence(error))
        else:
            self._stones = _stones_of(cells)
            self._show()

    def action_change_colour(self) -> None:
        """Take stones of the other colour."""
        self._board.ghost = -self._board.ghost
        self._show()

    def action_clear(self) -> None:
        """Remove all stones."""
        self._stones = {}
        self._show()

    def action_play(self) -> None:
        """Return the moves, or show why no game leads to these stones."""
        try:
            self.dismiss(moves_to(self._rules, self._of(BLACK), self._of(WHITE)))
        except ValueError as error:
            self._said.update(sentence(error))

    def action_back(self) -> None:
        """Leave the game as it was; a second time if the stones have changed."""
        if self._warned or self._stones == self._before:
            super().action_back()
        self._warned = True
        self._said.update("Esc again drops these stones.")

    def _of(self, colour: Colour) -> list[Cell]:
        return [cell for cell, stone in self._stones.items() if stone == colour]

    def _show(self) -> None:
        self._warned = False
        self._board.show({cell: CellLook(stone=stone) for cell, stone in self._stones.items()})
        black, white = len(self._of(BLACK)), len(self._of(WHITE))
        turn = {0: ": Black to move", 1: ": White to move"}.get(black - white, "")
        self._said.update(f"Placing {colour_name(self._board.ghost)} stones. {black} black, {white} white{turn}.")


def pasted_tree(text: str) -> GameTree:
    """Return the first game of a pasted text in SGF. Raises `RecordError`."""
    from core.records.sgf import parse_trees

    return next(parse_trees(text, "The pasted text", max_nodes=MAX_NODES))


def _stones_of(moves: Iterable[Cell]) -> dict[Cell, Colour]:
    return {cell: WHITE if ply % 2 else BLACK for ply, cell in enumerate(moves)}
