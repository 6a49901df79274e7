"""Limits of the input: how much waits for the app, and from when on it takes keys."""

import time
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.message import Message

from core.input_limits import MAX_TERMINAL_EDGE, MAX_UNHANDLED_EVENTS

_MARK_EVERY = 32
"""Messages between two looks at the app's progress."""
_PAUSE_S = 1.0
"""Time without a key that ends what was typed too early: half of a coordinate would play another move."""


class LimitedDriver(Driver):
    """Drops keys before there is a screen, keys and movements of the mouse in a flood, and sizes that are absurd."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._board: Any = app  # a gomoku_cli.tui.layout.TerminalApp
        self._sent = self._handled = 0
        self._dropped_at = -_PAUSE_S

    def send_message(self, message: Message) -> None:
        """Send a message to the app, unless it comes too early, a flood of them waits or it claims an absurd size."""
        if isinstance(message, events.Resize) and max(message.size) > MAX_TERMINAL_EDGE:
            return
        is_input = isinstance(message, events.Key | events.MouseEvent)
        is_urgent = isinstance(message, events.Key) and message.key == "ctrl+c"
        if isinstance(message, events.Key | events.Paste) and not is_urgent and self._is_early():
            self._app.call_later(self._board.say_dropped)
            return
        if is_input and not is_urgent and self._sent - self._handled > MAX_UNHANDLED_EVENTS:
            return
        super().send_message(message)
        self._sent += 1
        if self._sent % _MARK_EVERY == 0:
            self._app.call_later(partial(setattr, self, "_handled", self._sent))

    def _is_early(self) -> bool:
        """Return True for a key before the first picture of the screen, and for those that follow without a pause."""
        now = time.monotonic()
        if self._board.is_shown and now - self._dropped_at >= _PAUSE_S:
            return False
        self._dropped_at = now
        return True
