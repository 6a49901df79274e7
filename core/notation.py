"""Names of cells: `h8` is column h from the left and row 8 from the bottom."""

import re
from collections.abc import Iterable, Iterator
from operator import index

from core.input_limits import quoted
from core.rules import Cell

_CELL = re.compile(r"([a-yA-Y])([1-9][0-9]?)")


class NotationError(ValueError):
    """Text is not the name of a cell of the board."""


def column_letter(column: int) -> str:
    """Return the letter of a column, `a` for 0. No letter is skipped."""
    return chr(ord("a") + column)


def cell_name(cell: Cell, size: int) -> str:
    """Return the name of a cell: `h8` for the centre of a 15x15 board."""
    row, column = divmod(cell, size)
    return f"{column_letter(column)}{row + 1}"


def is_cell_name(text: str) -> bool:
    """Return True for the name of a cell of a board of some size."""
    return _CELL.fullmatch(text) is not None


def parse_cell(text: str, size: int) -> Cell:
    """Return the cell with the name `text` on a board of `size`. Raises `NotationError`."""
    match = _CELL.fullmatch(text.strip())
    last = f"{column_letter(size - 1)}{size}"
    if match is None:
        raise NotationError(f"{quoted(text)} is no cell: write a column letter and a row number, a1 to {last}")
    column, row = ord(match[1].lower()) - ord("a"), int(match[2]) - 1
    if column >= size or row >= size:
        raise NotationError(f"{quoted(text)} is off the board: its cells are a1 to {last}")
    return row * size + column


def cell_of(move: Cell | str, size: int) -> Cell:
    """Return the cell of a move, which is a cell or its name. Raises `NotationError`, and `TypeError` for any other."""
    try:
        return parse_cell(move, size) if isinstance(move, str) else index(move)  # not numpy's integer
    except TypeError:
        raise TypeError(f"a move is a cell or its name, not {move!r}") from None


_RUN = re.compile(r"(?:[a-yA-Y][1-9][0-9]?){2,}")
"""Names without blanks between them."""


_LINK = "https://gomocalc.com/#/"
"""A public board that takes moves from its address, as its sources say (github.com/dhbloo/gomoku-calculator)."""
_LINK_START = re.compile(r"https?://\S*#/")


def link_text(cells: Iterable[Cell], size: int) -> str:
    """Return a link to a public board with these moves; size and rule of the board are settings there."""
    return _LINK + "".join(cell_name(cell, size) for cell in cells)


def _without_link(text: str) -> str:
    """Return a text whose link is left with its moves, at the same offsets."""
    return _LINK_START.sub(lambda link: " " * len(link[0]), text)


def cell_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words of a text of cells, each after its offset: `h8 i9 g7`, or `h8i9g7` without blanks.

    A link of `link_text` is its moves.
    """
    for word in re.finditer(r"\S+", _without_link(text)):
        if _RUN.fullmatch(word[0]):
            yield from ((word.start() + name.start(), name[0]) for name in _CELL.finditer(word[0]))
        else:
            yield word.start(), word[0]


_POINT = re.compile(r"(-?[0-9]{1,9}) *, *(-?[0-9]{1,9})")


def point_name(cell: Cell, size: int, origin: int = 0) -> str:
    """Return a cell as column from the left and row from the top: `7,7` for the centre of a 15x15 board.

    `origin` is the first column and row: 0 in the Gomocup protocol, 1 in Piskvork's records.
    """
    row, column = divmod(cell, size)
    return f"{column + origin},{size - 1 - row + origin}"


def parse_point(text: str, size: int, origin: int = 0) -> Cell:
    """Return the cell for which `point_name` returns `text`. Raises `NotationError`."""
    match = _POINT.fullmatch(text.strip())
    if match is None:
        raise NotationError(f"{quoted(text)} is no point: write a column and a row with a comma between them")
    column, row = (int(number) - origin for number in match.groups())
    if not (0 <= column < size and 0 <= row < size):
        raise NotationError(f"{quoted(text)} is off the board: columns and rows are {origin} to {size - 1 + origin}")
    return (size - 1 - row) * size + column


_AROUND = str.maketrans("()[];/", " " * 6)
_POINT_WORD = re.compile(r"([0-9]{1,3}),([0-9]{1,3})(?:,[0-9]{1,9})?,?")
"""A point, with the milliseconds of its move in a line of Piskvork's records."""
_MOVE_NUMBER = re.compile(r"(?<![a-zA-Z0-9,])[0-9]{1,3}(?:\.+|[)…])")
"""The number before a move, with dots where White's follows: `1...h8`."""


def spelled_cells(text: str, size: int) -> list[Cell]:
    """Return the cells of a list of moves in any usual spelling: names or points, with or without blanks and numbers.

    `h8 i9`, `h8i9`, `1. h8 i9`, `1...h8`, `H8, I9`, `8,8 9,9`, a point a line or a link. Points are columns and rows
    from the top left, from 0 where one of them is 0, else from 1. Raises `NotationError`.
    """
    words = [word for word in _MOVE_NUMBER.sub(" ", _without_link(text)).translate(_AROUND).split() if word != ","]
    points = [point for word in words if (point := _POINT_WORD.fullmatch(word))]
    if points and len(points) == len(words):
        origin = 0 if any(int(number) == 0 for point in points for number in point.groups()) else 1
        return [parse_point(f"{point[1]},{point[2]}", size, origin) for point in points]
    return [parse_cell(word, size) for _, word in cell_words(" ".join(words).replace(",", " "))]
