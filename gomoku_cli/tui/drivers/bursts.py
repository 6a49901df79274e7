"""Text that comes faster than anyone types, from a terminal that does not mark pasted text.

Such a burst must not run as commands. It becomes a marked paste; single keys stay keys, as do control keys where a
field takes the text.
"""

import codecs
import re
import time
from collections.abc import Callable

from core.notation import cell_words, is_cell_name

_START, _END = "\x1b[200~", "\x1b[201~"
"""The marks of pasted text (bracketed paste)."""
_LEAST = 4
"""Characters of a burst at least: a slow line brings two or three keys at once, too."""
_REPEATED = frozenset("hjkl,.")
"""Keys that people hold down or press in quick turns: together they are no text."""
_SEPARATORS = str.maketrans(",;/", "   ")
LONGEST = 4_000
"""Characters of a text in which moves are looked for: more than a game has."""
_FOLLOWS_S = 0.1
"""Time after a burst in which more text belongs to it."""
_INTERRUPT = re.compile("(\x03)")
_CONTROL_KEYS = re.compile(r"([\x00-\x1f\x7f](?<![\r\n]))")


def moves_in(text: str) -> list[str]:
    """Return the coordinates of a text of nothing else, such as `/h8` or `h8 i9`, with or without blanks."""
    words = [word.lower() for _, word in cell_words(text[:LONGEST].translate(_SEPARATORS))]
    return words if all(map(is_cell_name, words)) else []


def is_sgf(text: str) -> bool:
    """Return True for a text that begins as a game in SGF does."""
    return re.match(r"\s*\(\s*;", text) is not None


class BurstDecoder(codecs.IncrementalDecoder):
    """Decodes what the terminal sends, in UTF-8, and marks each burst as a paste."""

    def __init__(
        self,
        errors: str = "replace",
        *,
        read_more: Callable[[], bytes] = bytes,
        is_in_field: Callable[[], bool] = bool,
        without_answers: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """`read_more` returns what comes within a moment after a letter: a terminal may send a burst in pieces.

        `is_in_field` tells whether letters go to a text field, where control keys in a burst stay keys.
        `without_answers` takes out what the terminal answers to questions.
        """
        super().__init__(errors)
        self._read_more = read_more
        self._is_in_field = is_in_field
        self._without_answers = without_answers
        self._utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._is_pasting = False
        """True between the terminal's own marks."""
        self._burst_at = -_FOLLOWS_S

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
        """Return the text of the bytes of one read, and of those that follow at once."""
        text = self._utf8.decode(self._without_answers(data), final)
        while text and text[0].isprintable() and "\x1b" not in text and not self._is_pasting:
            more = self._read_more()
            if not more:
                break
            text += self._utf8.decode(self._without_answers(more), final)
        if "\x1b" in text or self._is_pasting:
            if _START in text or _END in text:
                self._is_pasting = text.rfind(_START) > text.rfind(_END)
            return text
        now = time.monotonic()
        if not text or not (_is_burst(text) or now - self._burst_at < _FOLLOWS_S):
            return text
        self._burst_at = now
        pieces = (_CONTROL_KEYS if self._is_in_field() else _INTERRUPT).split(text)
        return "".join(piece if number % 2 else _pasted(piece) for number, piece in enumerate(pieces))


def _pasted(text: str) -> str:
    shown = "".join(letter for letter in text if letter.isprintable() or letter in "\r\n\t")
    return f"{_START}{shown}{_END}" if shown else ""


def _is_burst(text: str) -> bool:
    letters = [letter for letter in text if letter.isprintable() and letter != " "]
    if moves_in(text):
        return True
    return len(letters) >= _LEAST and len(set(letters)) > 1 and not _REPEATED.issuperset(letters)
