"""A limit of the input that waits for the app."""

from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.message import Message

from core.input_limits import MAX_TERMINAL_EDGE, MAX_UNHANDLED_EVENTS

_MARK_EVERY = 32
"""Messages between two looks at the app's progress."""


class LimitedDriver(Driver):
    """Drops keys and movements of the mouse while a flood of them waits, and sizes that are absurd."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._sent = self._handled = 0

    def send_message(self, message: Message) -> None:
        """Send a message to the app, unless a flood of them waits or it claims an absurd size."""
        if isinstance(message, events.Resize) and max(message.size) > MAX_TERMINAL_EDGE:
            return
        is_input = isinstance(message, events.Key | events.MouseEvent)
        is_urgent = isinstance(message, events.Key) and message.key == "ctrl+c"
        if is_input and not is_urgent and self._sent - self._handled > MAX_UNHANDLED_EVENTS:
            return
        super().send_message(message)
        self._sent += 1
        if self._sent % _MARK_EVERY == 0:
            self._app.call_later(partial(setattr, self, "_handled", self._sent))
