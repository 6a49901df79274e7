"""Opening files: the first moves of games, one opening a line."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.notation import NotationError, cell_name, parse_cell
from core.position import IllegalMoveError, Position
from core.records.record import RecordError
from core.rules import Cell, Rules


def format_opening(cells: Sequence[Cell], size: int) -> str:
    """Return the opening as a line of a file in names, `h8 i9 g7`, without a newline."""
    return " ".join(cell_name(cell, size) for cell in cells)


def format_offsets(cells: Sequence[Cell], size: int) -> str:
    """Return the opening as offsets from the centre, to the right and down: `0,0, 1,-1`."""
    centre = size // 2
    points = ((cell % size - centre, size - 1 - cell // size - centre) for cell in cells)
    return ", ".join(f"{right},{down}" for right, down in points)


def parse_openings(lines: Iterable[str], rules: Rules, source: str = "openings") -> list[tuple[Cell, ...]]:
    """Return openings, one a line, black first; `#` starts a comment. Raises `RecordError` with line and column.

    A line holds names, `h8 i9 g7`, or the offsets of Piskvork and Gomocup, `0,0, 1,-1, -1,1`: columns to the right of
    the centre and rows below it. The centre is column and row size // 2, counted from 0 at the top left. Commas or
    blanks separate the numbers.
    """
    openings = []
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].rstrip()
        if not text:
            continue
        try:
            openings.append(_opening(text, rules))
        except _OpeningError as error:
            raise RecordError(f"{source}, line {number}, column {error.column}: {error}") from error
    return openings


class _OpeningError(ValueError):
    def __init__(self, word: re.Match[str], why: object) -> None:
        super().__init__(str(why))
        self.column = word.start() + 1


_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_OFFSET = re.compile(r"[^\s,]+|,(?=\s*,)")
"""Text between commas and blanks; a second comma in a row is no number."""


def _opening(text: str, rules: Rules) -> tuple[Cell, ...]:
    """Return the opening of a line that is not empty."""
    position = Position(rules)
    read = _from_offsets if text.lstrip()[0] in "+-0123456789" else _from_names
    for word, cell in read(text, rules.size):
        try:
            position.push(cell)
        except IllegalMoveError as error:
            raise _OpeningError(word, error) from error
        if position.is_game_over():
            raise _OpeningError(word, "the opening ends the game")
    return tuple(position.moves)


def _from_names(text: str, size: int) -> Iterator[tuple[re.Match[str], Cell]]:
    """Yield the cells of a line of names, each with its place in the line."""
    for word in re.finditer(r"\S+", text):
        try:
            yield word, parse_cell(word[0], size)
        except NotationError as error:
            raise _OpeningError(word, error) from error


def _from_offsets(text: str, size: int) -> Iterator[tuple[re.Match[str], Cell]]:
    """Yield the cells of a line of offsets, each with the place of its first number."""
    words = list(_OFFSET.finditer(text))
    for word in words:
        if not _NUMBER.fullmatch(word[0]):
            raise _OpeningError(word, f"{word[0]!r} is no number, and this line is one of offsets")
    if len(words) % 2:
        raise _OpeningError(words[-1], "the last offset to the right comes without one down")
    centre = size // 2
    for right, down in zip(words[::2], words[1::2], strict=True):
        column, row = centre + int(right[0]), size - 1 - centre - int(down[0])
        if not (0 <= column < size and 0 <= row < size):
            raise _OpeningError(right, f"{right[0]},{down[0]} from the centre is off the board of {size}x{size}")
        yield right, row * size + column


def read_openings(path: Path, rules: Rules) -> list[tuple[Cell, ...]]:
    """Return the openings of a file. Raises `RecordError` for an unreadable file and one without openings."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is no text in UTF-8") from error
    openings = parse_openings(text.splitlines(), rules, str(path))
    if not openings:
        raise RecordError(f"{path} holds no opening")
    return openings
