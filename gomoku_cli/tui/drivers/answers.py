"""The protocol for pictures that a terminal has, by its own answers.

Environment variables would name the terminal in which tmux or ssh was started, or none. The questions are asked while
the screen runs, and the answers are taken out of what the terminal sends. So nothing waits for them, no key is lost,
and a slow line shows characters first.
"""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import NamedTuple

Pixels = tuple[int, int]
"""Width and height."""


class Graphics(StrEnum):
    """The protocol for pictures of the board, or none for characters."""

    AUTO = "auto"
    NONE = "none"
    KITTY = "kitty"
    ITERM2 = "iterm2"
    SIXEL = "sixel"


SIZE_QUESTION = "\x1b[16t"
"""Asks for the size of a character in pixels."""
QUESTIONS = f"\x1b[>q{SIZE_QUESTION}\x1b[c"
"""Name and version, the size of a character, and the device attributes: nearly all terminals answer the last one."""
USUAL_CHARACTER: Pixels = (10, 20)
"""The size of a character where the terminal does not tell it. kitty and iTerm2 fit pictures to their cells."""
_ANSWERS = re.compile(rb"\x1bP>\|([^\x1b]*)\x1b\\|\x1b\[6;(\d+);(\d+)t|\x1b\[\?([\d;]*)c")
_BEGUN = re.compile(rb"\x1b(?:P>(?:\|[^\x1b]{,99}\x1b?)?|\[\?[\d;]*|\[6[;\d]*)$")
"""The first bytes of an answer at the end of a read; a key Escape alone is none."""
_SIXEL = "4"
"""The device attribute."""
_XTERM_JS = "62;4;9;22"
"""The device attributes of xterm.js with pictures (VS Code), which tells no name before version 6.

It rounds the size of its characters, so that pictures in pixels do not fit."""
_OLDEST_KITTY = (0, 28)
"""The first version with placeholders."""
_WITHOUT = ("konsole", "tmux")
"""Terminals whose sixel carries no board: in Konsole pictures reach into the next line, and vanish in part."""
_WITH_INLINE_IMAGES = ("iterm2", "wezterm", "mintty")


class Told(NamedTuple):
    """The answers of a terminal."""

    name: str = ""
    """With the version."""
    attributes: str = ""
    """The device attributes, numbers between semicolons."""
    character: Pixels | None = None
    """The size of a character."""
    is_complete: bool = False
    """True once the last question is answered."""

    @property
    def protocol(self) -> Graphics:
        """The best protocol that the terminal has."""
        name = self.name.casefold()
        if found := re.match(r"kitty\((\d+)\.(\d+)", name):
            return Graphics.KITTY if tuple(map(int, found.groups())) >= _OLDEST_KITTY else Graphics.NONE
        if name.startswith("ghostty"):
            return Graphics.KITTY
        if name.startswith(_WITH_INLINE_IMAGES) or self.attributes == _XTERM_JS:
            return Graphics.ITERM2
        has_sixel = _SIXEL in self.attributes.split(";")
        return Graphics.SIXEL if has_sixel and not name.startswith(_WITHOUT) else Graphics.NONE


def may_ask(environment: Mapping[str, str]) -> bool:
    """Return False for terminals that would show the questions instead of answering them."""
    return environment.get("TERM", "") not in ("", "dumb", "linux") and (
        environment.get("TERM_PROGRAM") != "Apple_Terminal"
    )


class Answers:
    """Takes the answers of a terminal out of what it sends."""

    def __init__(self, tell: Callable[[Told], object]) -> None:
        """`tell` is called with all that is known, once the last question is answered and after each later answer."""
        self._tell = tell
        self._told = Told()
        self._rest = b""

    def taken_from(self, data: bytes) -> bytes:
        """Return what was read without the answers; the beginning of one waits for the next bytes."""
        data, self._rest = self._rest + data, b""
        before = self._told
        kept = _ANSWERS.sub(self._heard, data)
        if begun := _BEGUN.search(kept):
            kept, self._rest = kept[: begun.start()], begun[0]
        if self._told != before and self._told.is_complete:
            self._tell(self._told)
        return kept

    def _heard(self, found: re.Match[bytes]) -> bytes:
        name, height, width, attributes = (
            None if each is None else str(each, "ascii", "replace") for each in found.groups()
        )
        if name is not None:
            self._told = self._told._replace(name=name)
        elif width is not None and height is not None:
            sizes = (int(width[:6]), int(height[:6]))
            self._told = self._told._replace(character=sizes if all(0 < each <= 200 for each in sizes) else None)
        elif attributes is not None:
            self._told = self._told._replace(attributes=attributes, is_complete=True)
        return b""


def window_character() -> Pixels | None:
    """Return the size of a character by the system's record of the terminal; None where it has none."""
    if sys.platform == "win32":
        return None
    import fcntl
    import struct
    import termios

    with suppress(OSError):
        rows, columns, width, height = struct.unpack("HHHH", fcntl.ioctl(1, termios.TIOCGWINSZ, bytes(8)))
        if columns and rows and width >= columns and height >= rows:
            return width // columns, height // rows
    return None
