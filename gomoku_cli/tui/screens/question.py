"""A question with a few answers, each with its own key."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Static

from gomoku_cli.printable import printable
from gomoku_cli.tui.screens.dialog import Dialog


class Question(Dialog[str]):
    """A question; its result is the key of the chosen answer, the first answer's by Enter, the last one's by Escape."""

    AUTO_FOCUS = "Button"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (78, "-wide")]  # noqa: RUF012 - Textual declares no class variable
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "Previous", show=False),
        Binding("right", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, text: str, answers: Sequence[tuple[str, str]], *, is_low: bool = False) -> None:
        """`answers`: pairs of a key and a label. `is_low`: below the board, which is to be seen."""
        super().__init__(classes="-low" if is_low else None)
        self._text = text
        self._answers = answers

    def compose(self) -> ComposeResult:
        """Build the text and a row of buttons."""
        with Vertical():
            yield Static("\n".join(map(printable, self._text.split("\n"))), markup=False)
            with Horizontal(id="buttons"):
                for key, label in self._answers:
                    action = f"screen.dismiss({key!r})"
                    yield Button(f"{key} {label}", id=f"answer-{key}", action=action, compact=True)

    def on_key(self, event: events.Key) -> None:
        """Return the answer of the key."""
        if event.character in {key for key, _ in self._answers}:
            event.stop()
            self.dismiss(event.character or "")

    def action_back(self) -> None:
        """Return the last answer."""
        self.dismiss(self._answers[-1][0])
