"""The dialog for the name of a position and a comment on it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static, TextArea


class CommentScreen(ModalScreen[tuple[str, str] | None]):
    """A field for a name and one for a comment; the result is both, None to leave them as they are."""

    DEFAULT_CSS = """
    CommentScreen {
        align: center middle;

        Vertical { width: 64; max-width: 100%; height: auto; background: $surface; border: solid $primary;
            padding: 0 1; }
        .field { height: auto; margin-bottom: 1; }
        .field > Static { width: 12; }
        .field:focus-within > Static { text-style: reverse; }
        Input { width: 1fr; }
        TextArea { width: 1fr; height: 6; padding: 0; }
        #buttons { height: 1; }
        Button { margin-right: 2; }
    }
    """

    AUTO_FOCUS = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", show=False),
        Binding("ctrl+s", "save", "Save", show=False),
    ]

    def __init__(self, name: str, comment: str) -> None:
        super().__init__()
        self._name_field = Input(name, compact=True)
        self._comment = TextArea(comment, compact=True, tab_behavior="focus", highlight_cursor_line=False)

    def compose(self) -> ComposeResult:
        """Build the two fields with the cursor in the comment, and the buttons."""
        with Vertical():
            for label, field in (("Name", self._name_field), ("Comment", self._comment)):
                with Horizontal(classes="field"):
                    yield Static(label)
                    yield field
            with Horizontal(id="buttons"):
                for label, action in (("ctrl+s save", "save"), ("esc back", "back")):
                    button = Button(label, id=action, compact=True)
                    button.can_focus = False  # so that Tab goes to the other field
                    yield button

    def on_input_submitted(self) -> None:
        """Save on Enter in the name."""
        self.action_save()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Save, or go back."""
        if event.button.id == "save":
            self.action_save()
        else:
            self.dismiss(None)

    def action_save(self) -> None:
        """Return both texts."""
        self.dismiss((self._name_field.value.strip(), self._comment.text.strip()))
