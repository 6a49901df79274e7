"""The help screen: the keys and the marks on the board."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static


class HelpScreen(ModalScreen[None]):
    """The keys, shown over the board."""

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
        ("n", "new game; press twice during a game"),
        ("c", "change colours and start a new game; likewise"),
        ("q", "quit; likewise"),
        ("ctrl+c", "quit at once"),
        ("?", "this help; ? q enter esc close it"),
    )
    _MARKS = (
        ("[ ]", "the cursor"),
        ("( )", "the last move"),
    )

    def compose(self) -> ComposeResult:
        """Build one table."""
        rows = (*self._KEYS, ("", ""), *self._MARKS)
        parts = [part for keys, text in rows for part in ((f"{keys:<21}", "bold"), (f"{text}\n", ""))]
        yield Static(Content.assemble(*parts).rstrip())

    def on_click(self) -> None:
        """Close the help on a click anywhere."""
        self.dismiss(None)

    def action_dismiss_help(self) -> None:
        """Return to the board."""
        self.dismiss(None)
