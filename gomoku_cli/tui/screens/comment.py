"""The dialog for the name of a position and a comment on it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Button, Input, Static, TextArea

from gomoku_cli.tui.screens.dialog import Dialog, key_buttons


class CommentScreen(Dialog[tuple[str, str] | None]):
    """A field for a name and one for a comment; the result is both, None to leave them as they are."""

    AUTO_FOCUS = "TextArea"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "Save", show=False)]

    def __init__(self, name: str, comment: str) -> None:
        super().__init__()
        self._before, self._warned = (name, comment), False
        self._name_field = Input(name, compact=True)
        self._comment = TextArea(comment, compact=True, tab_behavior="focus", highlight_cursor_line=False)
        self._comment.move_cursor(self._comment.document.end)

    def compose(self) -> ComposeResult:
        """Build the two fields with the cursor in the comment, and the buttons."""
        with Vertical():
            yield Horizontal(Static("Name"), self._name_field, classes="row")
            yield Horizontal(Static("Comment"), self._comment, classes="row")
            yield key_buttons(("ctrl+s save", "save"), ("esc back", "back"))

    def on_input_submitted(self) -> None:
        """Save on Enter in the name."""
        self.action_save()

    def action_back(self) -> None:
        """Leave both texts as they were; a second time if one has changed."""
        if self._warned or (self._name_field.value, self._comment.text) == self._before:
            super().action_back()
        self._warned = True
        back = self.query_one("#back", Button)
        back.label = "esc again drops what was typed"
        back.refresh(layout=True)

    @property
    def texts(self) -> tuple[str, str]:
        """Both texts as they were typed so far."""
        return self._name_field.value.strip(), self._comment.text.strip()

    def action_save(self) -> None:
        """Return both texts."""
        self.dismiss(self.texts)
