"""The side panel: the players, the model's value, the moves, and the model's settings."""

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from core.notation import cell_name
from core.position import Position
from core.rules import BLACK, WHITE, Cell, Colour, colour_name
from gomoku_cli.printable import printable
from gomoku_cli.tui.board import Glyphs
from gomoku_cli.tui.game import MoveReport

_PAIR_COLUMNS = 13
"""Columns of the widest pair of moves, `113 o15 n15`, and a space."""

NOTE_S = 30.0
"""Time that a note stays in the panel. It is printed again after the end of the app."""


class PlayersView(Static):
    """The players' colours and the side to move."""

    def show(self, position: Position, human: Colour, glyphs: Glyphs) -> None:
        """Draw a line for each colour with a mark at the side to move, and a line that names this side."""
        over = position.is_game_over()
        lines = []
        for colour in (BLACK, WHITE):
            moves = not over and colour == position.side_to_move
            ink = "#000000" if colour == BLACK else "bold #ffffff"
            lines.append(
                Content.assemble(
                    ("> " if moves else "  ", "bold"),
                    (f" {glyphs.stone(colour)} ", f"{ink} on #aa7b3e"),
                    (f" {colour_name(colour)}  ", "bold" if moves else ""),
                    ("you" if colour == human else "the model", "bold" if moves else ""),
                )
            )
        lines.append(
            Content("  The game is over" if over else f"  {colour_name(position.side_to_move).capitalize()} to move")
        )
        self.update(Content("\n").join(lines))


class ReportView(Static):
    """The value of the model's last move, from both sides, and the cost of the move."""

    def show(self, report: MoveReport | None) -> None:
        """Draw `report`, or that there is none yet."""
        if report is None:
            value = [("no move yet\n\n", "dim")]
            cost = ""
        else:
            if report.value is None:
                value = [("not given\n\n", "dim")]
            else:
                rounded = round(report.value, 2) + 0.0  # no negative zero
                value = [
                    (f"{rounded:+.2f}", "bold"),
                    (" for the model\n", ""),
                    (f"{0.0 - rounded:+.2f}", "bold"),
                    (" for you\n", ""),
                ]
            effort = f"{report.simulations:,} simulations, " if report.simulations else ""
            cost = f"{effort}{report.seconds:.1f} s"
        self.update(Content.assemble(("Model's value, -1 to +1\n", "dim"), *value, cost))


class PonderingView(Static):
    """A line that shows while the model ponders."""

    def show(self, ponders: bool) -> None:
        """Draw the line, or clear it."""
        self.update("The model ponders" if ponders else "")


class MovesView(VerticalScroll, can_focus=False):
    """The moves so far in numbered pairs, as many pairs a line as fit."""

    def __init__(self) -> None:
        super().__init__()
        self._moves: tuple[Cell, ...] = ()
        self._board_size = 0

    def compose(self) -> ComposeResult:
        """Build one text, which the view scrolls."""
        yield Static(markup=False)

    def show(self, moves: Sequence[Cell], board_size: int) -> None:
        """Draw the moves and scroll to the last one."""
        self._moves, self._board_size = tuple(moves), board_size
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Fit the lines to the new width."""
        self._draw()

    def _draw(self) -> None:
        names = [cell_name(move, self._board_size) for move in self._moves]
        parts: list[tuple[str, str]] = []
        pairs_a_line = max(1, (self.scrollable_content_region.width + 1) // _PAIR_COLUMNS)
        for ply, name in enumerate(names):
            number, second = divmod(ply, 2)
            if not second:
                end = "" if not number else "\n" if number % pairs_a_line == 0 else " "
                parts.append((f"{end}{number + 1:>3} ", "dim"))
            parts.append((f"{name:<4}", "bold reverse" if ply == len(names) - 1 else ""))
        self.query_one(Static).update(Content.assemble(*parts) if parts else Content.styled("none yet", "dim"))
        self.call_after_refresh(self.scroll_end, animate=False)


class SidePanel(Vertical):
    """The column to the right of the board."""

    DEFAULT_CSS = """
    SidePanel {
        padding: 0 1;

        PlayersView { height: 3; margin-bottom: 1; }
        ReportView { height: 4; }
        PonderingView { height: 1; text-style: italic; }
        .heading { text-style: dim; height: 1; }
        MovesView { height: 1fr; min-height: 2; scrollbar-size-vertical: 1; }
        #about { height: auto; margin-top: 1; }
        #about Horizontal { height: auto; max-height: 3; }
        #about Static { width: 1fr; }
        #about .heading { width: 8; }
    }
    """

    def __init__(self, *, glyphs: Glyphs, policy_text: str, model_text: str, id: str) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._policy_text = policy_text
        self._model_text = model_text

    def compose(self) -> ComposeResult:
        """Build the views from top to bottom."""
        yield PlayersView(markup=False)
        yield ReportView(markup=False)
        yield PonderingView(markup=False)
        yield Static("Moves", classes="heading")
        yield MovesView()
        with Vertical(id="about"):
            for heading, text in (("Model", self._model_text), ("Policy", self._policy_text)):
                yield _fact(heading, text)

    def show(self, position: Position, human: Colour, report: MoveReport | None) -> None:
        """Draw the current state of the game."""
        self.query_one(PlayersView).show(position, human, self._glyphs)
        self.query_one(ReportView).show(report)
        self.query_one(MovesView).show(position.moves, position.rules.size)

    def show_pondering(self, ponders: bool) -> None:
        """Show or hide the line on pondering."""
        self.query_one(PonderingView).show(ponders)

    def add_note(self, text: str) -> None:
        """Add a note to the lines about the model, for some seconds."""
        note = _fact("Note", text)
        self.query_one("#about").mount(note)
        self.set_timer(NOTE_S, note.remove)


def _fact(heading: str, text: str) -> Horizontal:
    return Horizontal(Static(heading, classes="heading"), Static(printable(text), markup=False))
