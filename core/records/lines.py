"""Lines of a text file: the ones that are not blank, each with its place."""

import re
from collections.abc import Iterator

_LINE = re.compile(r"\S.*")


def with_line_feeds(text: str) -> str:
    """Return the text with line feeds as its only line ends; other separators of Unicode are blanks."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def filled_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, without blanks around them; each after its offset in the text.

    The text has line feeds as its only line ends.
    """
    for line in _LINE.finditer(text):
        yield line.start(), line[0].rstrip()


def line_number(text: str, offset: int) -> int:
    """Return the number of the line at `offset`, from 1."""
    return text.count("\n", 0, offset) + 1


class PlacedError(ValueError):
    """A fault at an offset of a text."""

    def __init__(self, offset: int, why: object) -> None:
        super().__init__(str(why))
        self.offset = offset

    def in_text(self, text: str, source: str, offset: int = 0) -> str:
        """Return the message with line and column. `offset`: of the part to which the error's own belongs."""
        place = offset + self.offset
        column = place - text.rfind("\n", 0, place)
        return f"{source}, line {line_number(text, place)}, column {column}: {self}"
