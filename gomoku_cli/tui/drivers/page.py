"""The driver of a board behind a page: frames on stdin and stdout, as Textual's web driver has them."""

import os
import threading
from contextlib import suppress
from functools import partial
from typing import Any

from textual import events
from textual.app import App
from textual.drivers.web_driver import WebDriver
from textual.geometry import Size

from core.input_limits import MAX_PAGE_EDGE
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.tui.drivers.limited import LimitedDriver

_END_S = 1.0
"""Time for the app to end after its page."""


class PageDriver(LimitedDriver, WebDriver):
    """Textual's driver, which would go on without a page, follow any size, and hand files out."""

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._write = partial(self._write_all)

    def _write_all(self, data: bytes) -> int:
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.fileno, rest) :]
        except OSError:  # the page has gone
            self._end()
        return len(data)

    def run_input_thread(self) -> None:
        """Read frames until the page ends; then end the app."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            self._end()

    def _end(self) -> None:
        """End the app, or the process if the app is stuck. Any thread may call this."""
        timer = threading.Timer(_END_S, os._exit, (ExitCode.INTERRUPTED,))
        timer.daemon = True
        timer.start()
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._app.exit, None, ExitCode.INTERRUPTED)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Handle a message of the server; a size within the limits, through the same queue as keys."""
        if packet_type == "resize":
            width, height = payload.get("width"), payload.get("height")
            if isinstance(width, int) and isinstance(height, int):
                size = Size(*(min(max(edge, 1), MAX_PAGE_EDGE) for edge in (width, height)))
                self._size = size
                self.send_message(events.Resize(size, size))
        elif packet_type == "quit":
            self._end()
        elif packet_type in ("focus", "blur"):
            super().on_meta(packet_type, payload)

    def open_url(self, url: str, new_tab: bool = True) -> None:
        """Open nothing: the board has no links."""

    def deliver_binary(self, binary: Any, **options: Any) -> None:
        """Deliver nothing: pictures are saved by `gomoku picture`."""
