"""The list of saved games."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from gomoku_cli.printable import printable


class SavedGamesScreen(ModalScreen[str | None]):
    """A list of games; the result is the file of the chosen one, None without a choice."""

    DEFAULT_CSS = """
    SavedGamesScreen {
        align: center middle;

        Vertical { width: 84; max-width: 100%; height: auto; max-height: 100%; background: $surface;
            border: solid $primary; padding: 0 1; }
        OptionList { height: auto; max-height: 20; border: none; padding: 0; background: $surface; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,o", "give_up", "Back", show=False),
    ]

    def __init__(self, games: Sequence[tuple[str, str]]) -> None:
        """`games`: pairs of a file and a line about its game."""
        super().__init__()
        self._games = games

    def compose(self) -> ComposeResult:
        """Build the heading and the list."""
        with Vertical():
            yield Static("Saved games: enter goes on, or reviews a game that is over; esc goes back")
            yield OptionList(*(Option(Content(printable(line))) for _, line in self._games))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the chosen file."""
        self.dismiss(self._games[event.option_index][0])

    def action_give_up(self) -> None:
        """Return without a choice."""
        self.dismiss(None)
