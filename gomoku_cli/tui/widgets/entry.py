"""The line for a typed move."""

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

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False)
        self.text = ""
        """The text so far."""

    def open(self, text: str = "") -> None:
        """Show the line with a first letter, or empty."""
        self.display = True
        self.write(text)

    def takes(self, event: events.Key | events.Paste) -> bool | str:
        """Return True for a key of a typed coordinate, from `/` or a capital letter on, and for text in the line.

        For Enter, which is also the end of a line of pasted text, return the text.
        """
        if isinstance(event, events.Paste):
            return self._pasted(event.text) if self.display else False
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
                return self.text
        else:
            self.display = event.key.startswith("ctrl+")  # an arrow goes back to the board
            return False
        return True

    def _pasted(self, text: str) -> bool | str:
        lines = text.splitlines(keepends=True)
        if lines:
            self.write(self.text + lines[0].strip(" /\r\n"))
            if lines[0].endswith(("\r", "\n")):
                self.display = False
                return self.text
        return True

    def write(self, text: str) -> None:
        """Show this text, cut to the longest one."""
        self.text = text[:_LONGEST]
        shown = Content(self.text) if self.text else Content.styled("a move, such as h8", "dim")
        self.update(Content.assemble("/ ", shown, ("_" if self.text else "", "blink")))
