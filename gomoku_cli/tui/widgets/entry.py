"""The line for a typed move."""

from collections.abc import Callable

from textual import events
from textual.content import Content
from textual.widgets import Static

_LONGEST = 2000
"""Characters: all moves of a game on the largest board."""


class MoveEntry(Static):
    """A line for a coordinate, which is hidden until it is opened.

    It has no focus: the app gives it the keys at once. A widget with a queue of its own would take the keys after Enter
    for the same move, where keys come faster than it works.
    """

    DEFAULT_CSS = """
    MoveEntry { height: 1; padding: 0 1; display: none; }
    """

    def __init__(self, play: Callable[[str], None], *, id: str) -> None:
        """`play` takes the text when Enter is pressed."""
        super().__init__(id=id, markup=False)
        self._play = play
        self.text = ""
        """The text so far."""

    def open(self, text: str = "") -> None:
        """Show the line with a first letter, or empty."""
        self.display = True
        self.write(text)

    def takes(self, event: events.Key | events.Paste) -> bool:
        """Return True for a key of a typed coordinate, from `/` or a capital letter to Enter, and for text in the line.

        The end of a line of pasted text is Enter.
        """
        if isinstance(event, events.Paste):
            if self.display:
                self._paste(event.text)
                return True
            return False
        letter = (event.character or "") if event.is_printable else ""
        if letter == "/" or (not self.display and len(letter) == 1 and "A" <= letter <= "Y"):
            self.open(letter.lower().strip("/"))
        elif not self.display:
            return False
        elif letter or event.key == "backspace":
            self.write(self.text + letter if letter else self.text[:-1])
        elif event.key in ("enter", "escape"):
            self.display = False
            if event.key == "enter":
                self._play(self.text)
        else:
            self.display = event.key.startswith("ctrl+")  # an arrow goes back to the board
            return False
        return True

    def _paste(self, text: str) -> None:
        lines = text.splitlines(keepends=True)
        if lines:
            self.write(self.text + lines[0].strip(" /\r\n"))
            if lines[0].endswith(("\r", "\n")):
                self.display = False
                self._play(self.text)

    def write(self, text: str) -> None:
        """Show this text, cut to the longest one."""
        self.text = text[:_LONGEST]
        shown = Content(self.text) if self.text else Content.styled("a move, such as h8", "dim")
        self.update(Content.assemble("/ ", shown, ("_" if self.text else "", "blink")))
