"""The frame of the dialogs: their style, Escape, and buttons that stand for keys."""

from pathlib import Path
from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Button

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
