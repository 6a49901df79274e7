"""Opening files: the first moves of games, one opening a line."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.input_limits import MAX_RECORDS, quoted
from core.notation import NotationError, cell_name, cell_words, parse_cell
from core.position import IllegalMoveError, Position
from core.records.charsets import decoded
from core.records.lines import PlacedError, filled_lines, with_line_feeds
from core.records.record import RecordError, read_file
from core.rules import Cell, Rules


def format_opening(cells: Sequence[Cell], size: int) -> str:
    """Return the opening as a line of a file in names, `h8 i9 g7`, without a newline."""
    return " ".join(cell_name(cell, size) for cell in cells)


def format_offsets(cells: Sequence[Cell], size: int) -> str:
    """Return the opening as offsets from the centre, to the right and down: `0,0, 1,-1`."""
    centre = size // 2
    points = ((cell % size - centre, size - 1 - cell // size - centre) for cell in cells)
    return ", ".join(f"{right},{down}" for right, down in points)


def parse_openings(text: str, rules: Rules, source: str = "openings") -> list[tuple[Cell, ...]]:
    """Return openings, one a line, black first; `#` starts a comment. Raises `RecordError` with line and column.

    A line holds names, `h8 i9 g7` or `h8i9g7`, or the offsets of Piskvork and Gomocup, `0,0, 1,-1, -1,1`: columns to
    the right of the centre and rows below it. The centre is column and row size // 2, counted from 0 at the top left.
    Commas or blanks separate the numbers.
    """
    text = with_line_feeds(text)
    openings: list[tuple[Cell, ...]] = []
    position = Position(rules)
    for offset, line in filled_lines(text):
        moves = line.partition("#")[0]
        if not moves:
            continue
        try:
            if len(openings) == MAX_RECORDS:
                raise PlacedError(0, f"the limit of a file is {MAX_RECORDS:,} openings")
            openings.append(_opening(moves, position))
        except PlacedError as error:
            raise RecordError(error.in_text(text, source, offset)) from error
    return openings


_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_OFFSET = re.compile(r"[^\s,]+|,(?=\s*,)")
"""Text between commas and blanks; a second comma in a row is no number."""


def _opening(text: str, position: Position) -> tuple[Cell, ...]:
    """Return the opening of a line that is not empty. `position` is the empty board, before and after."""
    read = _from_offsets if text[0] in "+-0123456789" else _from_names
    for offset, cell in read(text, position.rules.size):
        try:
            position.push(cell)
        except IllegalMoveError as error:
            raise PlacedError(offset, error) from error
        if position.is_game_over():
            raise PlacedError(offset, "the opening ends the game")
    cells = tuple(position.moves)
    while position.ply:
        position.pop()
    return cells


def _from_names(text: str, size: int) -> Iterator[tuple[int, Cell]]:
    """Yield the cells of a line of names, each after its offset."""
    for offset, word in cell_words(text):
        try:
            yield offset, parse_cell(word, size)
        except NotationError as error:
            raise PlacedError(offset, error) from error


def _from_offsets(text: str, size: int) -> Iterator[tuple[int, Cell]]:
    """Yield the cells of a line of offsets, each after the offset of its first number."""
    centre = size // 2
    words = _OFFSET.finditer(text)
    for right in words:
        across = _number(right)
        down = next(words, None)
        if down is None:
            raise PlacedError(right.start(), "the last offset to the right comes without one down")
        column, row = centre + across, size - 1 - centre - _number(down)
        if not (0 <= column < size and 0 <= row < size):
            where = f"{right[0]},{down[0]} from the centre is off the board of {size}x{size}"
            raise PlacedError(right.start(), where)
        yield right.start(), row * size + column


def _number(word: re.Match[str]) -> int:
    if not _NUMBER.fullmatch(word[0]):
        raise PlacedError(word.start(), f"{quoted(word[0])} is no number, and this line is one of offsets")
    return int(word[0])


def read_openings(path: Path, rules: Rules) -> list[tuple[Cell, ...]]:
    """Return the openings of a file. Raises `RecordError` for an unreadable file and one without openings."""
    content = decoded(read_file(path), str(path))
    if content.remark:
        raise RecordError(f"{path} is no text in UTF-8")
    openings = parse_openings(content.text, rules, str(path))
    if not openings:
        raise RecordError(f"{path} holds no opening")
    return openings
