"""The status line under the board: the state of the game, and messages that hold for a while."""

import time
from typing import Literal

from textual.content import Content
from textual.widgets import Static

from gomoku_cli.printable import printable

StatusKind = Literal["", "busy", "warning", "error", "over"]
"""The style of a status: plain, an engine is busy, a losing move, an error, the game is over."""

MESSAGE_S, ERROR_S = 4.0, 8.0
"""Time for which a new state leaves a message, and an error, where it is."""


class StatusLine(Static):
    """The state of the game, or a message, of at most three rows.

    A message holds until the human goes on with the game. After some seconds a new state may take its place, too, such
    as the seconds of an engine that thinks.
    """

    _state: tuple[str, StatusKind] = ("", "")
    _holds_until = 0.0

    def show_message(self, text: str, kind: StatusKind = "") -> None:
        """Show a message in the style of `kind`, at once."""
        self._holds_until = time.monotonic() + (ERROR_S if kind == "error" else MESSAGE_S)
        self._draw(text, kind)

    def show_state(self, text: str, kind: StatusKind = "", *, at_once: bool = False) -> None:
        """Show the state of the game, if it is new; after a message's time, or `at_once`."""
        if at_once:
            self._holds_until = 0.0
        elif (text, kind) == self._state or time.monotonic() < self._holds_until:
            return
        self._state = (text, kind)
        self._draw(text, kind)

    def _draw(self, text: str, kind: StatusKind) -> None:
        self.set_classes(f"-{kind}" if kind else "")
        self.update(Content(printable(text)))
