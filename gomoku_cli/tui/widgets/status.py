"""The status line under the board."""

from typing import Literal

from textual.content import Content
from textual.widgets import Static

from gomoku_cli.printable import printable

StatusKind = Literal["", "busy", "warning", "error", "over"]
"""The style of a status: plain, an engine is busy, a losing move, an error, the game is over."""


class StatusLine(Static):
    """One message of at most three rows."""

    DEFAULT_CSS = """
    StatusLine {
        height: auto; max-height: 3; padding: 0 1; text-style: bold;

        &.-error { background: ansi_red; color: ansi_bright_white; }
        &.-warning { background: ansi_yellow; color: ansi_black; }
        &.-over { background: ansi_green; color: ansi_black; }
        &.-busy { text-style: none; }
        &:nocolor.-error, &:nocolor.-over, &:nocolor.-warning { text-style: reverse bold; }
    }
    """

    def show(self, text: str, kind: StatusKind = "") -> None:
        """Draw `text` in the style of `kind`."""
        self.set_classes(f"-{kind}" if kind else "")
        self.update(Content(printable(text)))
