"""The terminal of the board: any bytes may come from it, it may go away, and it gets back the state that it had."""

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.process import SIGNALS, open_remarks

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver

_MOMENT_S = 0.01
"""Time between two characters of text that nobody types; a key that is held down repeats more slowly."""
_END_S = 2.0
"""Time for the app to end after a signal; then the process ends without it."""
_RESET = (
    b"\x1b[?2004l\x1b[?7h\x1b[?2048l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Ends the alternate screen, mouse reporting, bracketed paste and the keyboard protocol; shows the cursor."""


PAGE_VARIABLE = "GOMOKU_PAGE"
"""Set in the processes behind a page in a browser, to the number of the server's process."""


def is_served() -> bool:
    """Return True in a process behind a page in a browser."""
    return PAGE_VARIABLE in os.environ


def shows_unicode(encoding: str | None) -> bool:
    """Return True if a terminal of this encoding takes the characters of the board."""
    try:
        "●┼█".encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def terminal_driver() -> "type[Driver] | None":
    """Return the driver for an app; None for Textual's own."""
    if is_served():
        from gomoku_cli.tui.drivers.page import PageDriver

        return PageDriver
    if sys.platform == "win32":
        return None
    from textual.drivers import linux_driver

    from gomoku_cli.tui.drivers.answers import QUESTIONS, Answers, Graphics, may_ask
    from gomoku_cli.tui.drivers.bursts import BurstDecoder
    from gomoku_cli.tui.drivers.limited import LimitedDriver

    class Terminal(LimitedDriver, linux_driver.LinuxDriver):
        """Textual's driver, which would end the app after a byte that is not UTF-8, and hang without a terminal.

        It draws the pictures of an app where the terminal answers that it has them.
        """

        def __init__(self, app: "App[Any]", **options: Any) -> None:
            super().__init__(app, **options)
            # Textual writes to stderr, which may be a file.
            self._file = open_remarks(1)
            # Its own decoder raises at a byte that is not UTF-8, and all bytes read together with it would be lost.
            decoder = partial(
                BurstDecoder,
                read_more=_read_more,
                is_in_field=partial(is_in_field, app),
                without_answers=Answers(lambda told: app.call_later(self._board.hear, told)).taken_from,
            )
            linux_driver.getincrementaldecoder = lambda encoding: decoder  # type: ignore[attr-defined, assignment]

        def run_input_thread(self) -> None:
            """Read keys until the end; begin anew after bytes that Textual cannot read."""
            while True:
                with suppress(Exception):
                    super().run_input_thread()
                    return
                if self.exit_event.is_set() or is_gone(self.fileno):
                    return

        def start_application_mode(self) -> None:
            """Ask for the protocol of pictures, once the terminal no longer shows what it answers."""
            super().start_application_mode()  # type: ignore[no-untyped-call]
            if self._writer_thread is not None and self._board.graphics is not Graphics.NONE and may_ask(os.environ):
                self.write(QUESTIONS)

        def write(self, data: str) -> None:
            """Write text, with pictures in place of the characters that stand for them."""
            super().write(data if self._board.pictures is None else self._board.pictures.encode(data))

        def stop_application_mode(self) -> None:
            """Make the terminal forget the pictures."""
            if self._board.pictures is not None:
                self._board.pictures.clear()
                self.write(self._board.pictures.forgotten())
            super().stop_application_mode()

    return Terminal


def is_in_field(app: "App[Any]") -> bool:
    """Return True while a letter goes to a text field."""
    field = app.focused if app.screen_stack else None
    return field is not None and field.check_consume_key("a", "a")


def _read_more() -> bytes:
    """Return what the terminal sends within a moment, if anything: faster than anyone types."""
    descriptor = sys.__stdin__.fileno() if sys.__stdin__ else 0
    ready, _, _ = select.select([descriptor], [], [], _MOMENT_S)
    return os.read(descriptor, 4096) if ready else b""


def is_gone(descriptor: int) -> bool:
    """Return True if the terminal behind `descriptor` has been closed."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(happened & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, happened in poll.poll(0))


@contextmanager
def restored_terminal(end: Callable[[], object]) -> Iterator[None]:
    """Call `end`, which must be safe to call from a signal handler, at each signal that ends a command.

    If the app does not end then, because it is stuck or nobody reads its screen, the process restores the terminal
    itself and ends with exit code 130.
    """
    ended = threading.Event()
    attributes = _attributes()

    def end_at_once() -> None:
        if not ended.wait(_END_S):
            threading.Thread(target=_restore, args=(attributes,), daemon=True).start()
            ended.wait(0.5)  # a terminal that nobody reads blocks that thread
            os._exit(ExitCode.INTERRUPTED)

    def handle(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=end_at_once, daemon=True).start()
        end()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def _attributes() -> list[Any] | None:
    """Return the settings of the terminal, None where there is none."""
    if sys.platform != "win32":
        import termios

        with suppress(termios.error, OSError):
            return termios.tcgetattr(0)
    return None


def _restore(attributes: list[Any] | None) -> None:
    if sys.platform != "win32" and attributes is not None:
        import termios

        with suppress(termios.error, OSError):
            termios.tcsetattr(0, termios.TCSANOW, attributes)
            termios.tcflush(1, termios.TCOFLUSH)
            os.write(1, _RESET)
