"""The line for a typed move."""

from textual.widgets import Input


class MoveEntry(Input):
    """A line for a coordinate, which is hidden until it is opened."""

    DEFAULT_CSS = """
    MoveEntry, MoveEntry.-textual-compact { height: 1; padding: 0 1; display: none; }
    """

    def __init__(self, id: str) -> None:
        super().__init__(
            id=id,
            compact=True,
            placeholder="a move, such as h8",
            restrict=r"[a-zA-Z]?[0-9]{0,2}",
            select_on_focus=False,
        )

    def open(self, text: str) -> None:
        """Show the line with a first letter, or empty."""
        self.value = text
        self.cursor_position = len(text)
        self.display = True
        self.screen.set_focus(self)  # at once: the next key may wait already
