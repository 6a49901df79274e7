"""The frame of the dialogs: their style, Escape, and buttons that stand for keys; and the question."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from gomoku_cli.printable import printable

BREAKPOINTS = [(0, "-narrow"), (78, "-wide")]
"""Below the second one buttons stand one below the other."""
_T = TypeVar("_T")


class Dialog(ModalScreen[_T]):
    """A screen over the board. Escape goes back."""

    CSS_PATH = Path(__file__).with_name("dialogs.tcss")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "back", "Back", show=False)]

    def action_back(self) -> None:
        """Leave the dialog without a result."""
        self.dismiss(None)


def key_buttons(*labels: tuple[str, str]) -> Horizontal:
    """Return a row of buttons with their labels and actions; they take no focus, so that keys are for the fields."""
    buttons = [Button(label, id=action, action=f"screen.{action}", compact=True) for label, action in labels]
    for button in buttons:
        button.can_focus = False
    return Horizontal(*buttons, id="buttons")


class Question(Dialog[str]):
    """A question; its result is the key of the chosen answer, the last one's by Escape."""

    AUTO_FOCUS = ".-enter"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "Previous", show=False),
        Binding("right", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, text: str, answers: Sequence[tuple[str, str]], *, is_low: bool = False, enter: str = "") -> None:
        """`answers`: pairs of a key and a label. `is_low`: below the board, which is to be seen.

        `enter`: the key of the answer by Enter, that of the first one by default.
        """
        super().__init__(classes="-low" if is_low else None)
        self._text = text
        self._answers = answers
        self._enter = enter or answers[0][0]

    def compose(self) -> ComposeResult:
        """Build the text and a row of buttons."""
        with Vertical():
            yield Static("\n".join(map(printable, self._text.split("\n"))), markup=False)
            with Horizontal(id="buttons"):
                for key, label in self._answers:
                    action = f"screen.dismiss({key!r})"
                    classes = "-enter" if key == self._enter else None
                    yield Button(f"{key} {label}", id=f"answer-{key}", action=action, compact=True, classes=classes)

    def on_key(self, event: events.Key) -> None:
        """Return the answer of the key."""
        if event.character in {key for key, _ in self._answers}:
            event.stop()
            self.dismiss(event.character or "")

    def action_back(self) -> None:
        """Return the last answer."""
        self.dismiss(self._answers[-1][0])
