"""What stands beside the board: the players, the model's opinion, the moves, the help."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from core.notation import cell_name
from core.position import Position
from core.rules import BLACK, WHITE, Cell, Colour, colour_name
from gomoku_cli.tui.board import Glyphs

_PAIR_COLUMNS = 13
"""Columns of the widest pair of moves, `113 o15 n15`, and a space."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model said with a move."""

    value: float | None
    """Expected result for the model, -1 to 1; None where it has no opinion."""
    simulations: int
    seconds: float


class PlayersView(Static):
    """Who has which colour, and whose turn it is."""

    def show(self, position: Position, human: Colour, glyphs: Glyphs) -> None:
        """Draws a line for each colour, with a mark at the side to move, and one that says it in words."""
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


class OpinionView(Static):
    """The model's value, from both sides, and what its last move cost."""

    def show(self, opinion: Opinion | None) -> None:
        """Draws `opinion`, or that there is none yet."""
        if opinion is None:
            value = [("no move yet\n\n", "dim")]
            cost = ""
        else:
            if opinion.value is None:
                value = [("has no opinion\n\n", "dim")]
            else:
                rounded = round(opinion.value, 2) + 0.0  # no negative zero
                value = [
                    (f"{rounded:+.2f}", "bold"),
                    (" for the model\n", ""),
                    (f"{0.0 - rounded:+.2f}", "bold"),
                    (" for you\n", ""),
                ]
            effort = f"{opinion.simulations:,} simulations, " if opinion.simulations else ""
            cost = f"{effort}{opinion.seconds:.1f} s"
        self.update(Content.assemble(("Model's value, -1 to +1\n", "dim"), *value, cost))


class PonderingView(Static):
    """Whether the model thinks while it is not its turn."""

    def show(self, ponders: bool) -> None:
        """Draws that it does, or nothing."""
        self.update("The model ponders" if ponders else "")


class MovesView(VerticalScroll, can_focus=False):
    """The moves so far, a number for each pair, as many pairs a line as fit."""

    def __init__(self) -> None:
        super().__init__()
        self._moves: tuple[Cell, ...] = ()
        self._board_size = 0

    def compose(self) -> ComposeResult:
        """One text that is scrolled."""
        yield Static(markup=False)

    def show(self, moves: Sequence[Cell], board_size: int) -> None:
        """Draws the moves and scrolls to the last of them."""
        self._moves, self._board_size = tuple(moves), board_size
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        """Fits the lines to the new width."""
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
    """Everything beside the board, top to bottom."""

    DEFAULT_CSS = """
    SidePanel {
        padding: 0 1;

        PlayersView { height: 3; margin-bottom: 1; }
        OpinionView { height: 4; }
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
        """Players, opinion, moves, and what plays."""
        yield PlayersView(markup=False)
        yield OpinionView(markup=False)
        yield PonderingView(markup=False)
        yield Static("Moves", classes="heading")
        yield MovesView()
        with Vertical(id="about"):
            for heading, text in (("Model", self._model_text), ("Policy", self._policy_text)):
                yield _fact(heading, text)

    def show(self, position: Position, human: Colour, opinion: Opinion | None) -> None:
        """Draws the game as it stands now."""
        self.query_one(PlayersView).show(position, human, self._glyphs)
        self.query_one(OpinionView).show(opinion)
        self.query_one(MovesView).show(position.moves, position.rules.size)

    def show_pondering(self, ponders: bool) -> None:
        """Draws whether the model ponders."""
        self.query_one(PonderingView).show(ponders)

    def add_note(self, text: str) -> None:
        """Draws a line more about what plays."""
        self.query_one("#about").mount(_fact("Note", text))


def _fact(heading: str, text: str) -> Horizontal:
    return Horizontal(Static(heading, classes="heading"), Static(text, markup=False))


class HelpScreen(ModalScreen[None]):
    """The keys, over the board."""

    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;

        Static { width: auto; height: auto; max-width: 100%; padding: 1 2; border: solid $primary; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,enter,space,q", "dismiss_help", "Close", show=False),
    ]

    _KEYS = (
        ("arrows, h j k l", "move the cursor"),
        ("enter, space, click", "play at the cursor, or where you click"),
        ("u", "take back your last move and the answer to it;"),
        ("", "while the model thinks, stop it and take back"),
        ("n", "new game; twice, where one is in progress"),
        ("c", "change colours and start a new game; likewise"),
        ("q, ctrl+c", "quit"),
        ("?", "this help; any of ? q enter esc closes it"),
    )
    _MARKS = (
        ("[ ]", "the cursor"),
        ("( )", "the last move"),
    )

    def compose(self) -> ComposeResult:
        """One table."""
        rows = (*self._KEYS, ("", ""), *self._MARKS)
        parts = [part for keys, what in rows for part in ((f"{keys:<21}", "bold"), (f"{what}\n", ""))]
        yield Static(Content.assemble(*parts).rstrip())

    def on_click(self) -> None:
        """A click anywhere closes the help too."""
        self.dismiss(None)

    def action_dismiss_help(self) -> None:
        """Goes back to the board."""
        self.dismiss(None)
