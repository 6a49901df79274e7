"""The nodes of an SGF text: each with its properties as they are written, and their places in the text.

One reader serves the games (`core.records.sgf`) and the saving of analyses (`core.records.sgf_analyses`). Nodes come
one after the other, so that a text of millions takes no memory.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from core.input_limits import MAX_PROPERTIES, MAX_RECORDS
from core.records.lines import PlacedError


def escaped(text: str) -> str:
    """Return a text as it stands in a value."""
    return text.replace("\\", "\\\\").replace("]", "\\]")


def unescaped(value: str) -> str:
    """Return a value without escapes: a backslash keeps the character after it, and joins lines at a line's end."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" not in value:
        return value
    return value.replace("\\\\", _BACKSLASH).replace("\\\n", "").replace("\\", "").replace(_BACKSLASH, "\\")


_BACKSLASH = "\ud800"
"""A backslash for the time of the conversion: half a surrogate pair, which no file can hold."""


class Property(NamedTuple):
    """A property as it is written. Offsets are those of the text."""

    name: str
    """In capitals: the small letters of long names, as in `PlayerBlack`, are left out (file format 3)."""
    start: int
    """The first letter of its name."""
    value_start: int
    """The first character of its first value, after `[`."""
    value_end: int
    """The end of this value, at `]`."""
    end: int
    """The end of the last value, after `]`."""

    @property
    def has_one_value(self) -> bool:
        """True if there is no other value."""
        return self.end == self.value_end + 1


@dataclass(slots=True)
class Node:
    """A node of a game."""

    game: int
    """The number of its game, from 0."""
    start: int
    """The place of its `;`."""
    is_main: bool
    """True on the main line: the first child of the first child, and so on."""
    level: int
    """The open parentheses around it, from 1."""
    is_first: bool
    """True for the first node behind a `(`: it follows the last node of a lower level, any other one that before it."""
    properties: list[Property]
    """In the order of the text."""
    end: int = 0
    """The end of its last property."""

    def named(self, *names: str) -> list[Property]:
        """Return the properties of these names."""
        return [each for each in self.properties if each.name in names]


_TOKEN = re.compile(
    r"""\s*+(?:
        ([A-Za-z][A-Za-z0-9_]*+)\s*+\[((?:[^\]\\]++|\\.)*+)\]  # a property and its first value
        |([();])
        |\[((?:[^\]\\]++|\\.)*+)\]  # another value
        |[A-Za-z][A-Za-z0-9_]*+  # a name without a value
    )""",
    re.DOTALL | re.VERBOSE,
)
"""Possessive (`*+`): it never goes back, so its time is linear and it keeps no positions to go back to."""
_GAME = re.compile(r"\(\s*+;")
_LOST = re.compile(r"\s*+[)\];]")
"""The rest of a game right behind its end."""
_LOST_PROPERTY = re.compile(r"[A-Z]\s*+\[")
"""A property anywhere else outside of games."""
_SMALL = re.compile(r"[^A-Z]+")


def nodes(text: str) -> Iterator[Node]:
    """Yield the nodes of all games in the order of the text. Text around them is left out. Raises `PlacedError`."""
    game = 0
    offset = _next_game(text, 0)
    if offset is None:
        raise PlacedError(0, "there is no game here: one starts with '(;'")
    while offset is not None:
        if game == MAX_RECORDS:
            raise PlacedError(offset, f"the limit of a file is {MAX_RECORDS:,} games")
        offset = yield from _nodes_of(text, offset, game)
        game += 1
        offset = _next_game(text, offset)


def _next_game(text: str, offset: int) -> int | None:
    """Return the start of the next game. Raises `PlacedError` for a part of a game outside of one."""
    found = _GAME.search(text, offset)
    end = found.start() if found is not None else len(text)
    if offset:
        lost = _LOST.match(text, offset, end) or _LOST_PROPERTY.search(text, offset, end)
        if lost is not None:
            raise PlacedError(lost.end() - 1, "this stands behind the end of the game: a game starts with '(;'")
    elif found is None and "(" in text:
        return text.index("(")  # what is missing there is worth a message
    return None if found is None else found.start()


def _nodes_of(text: str, offset: int, game: int) -> Generator[Node, None, int]:
    """Yield the nodes of the game that starts at `offset`; return its end."""
    node: Node | None = None
    depth, is_main, is_empty, is_first, takes_values = 0, True, True, True, False
    while True:
        token = _TOKEN.match(text, offset)
        if token is None:
            if text[offset:].strip():
                raise PlacedError(offset, "this is neither a node, nor a property, nor a closed value")
            raise PlacedError(len(text), "the text ends inside a game")
        start, kind, mark = token.end() - len(token[0].lstrip()), token.lastindex, token[3]
        offset = token.end()
        if kind == 3:
            if node is not None:
                yield node
            node, takes_values = None, False
            if mark == ";":
                node = Node(game, start, is_main, depth, is_first, [], offset)
                is_empty = is_first = False
            elif mark == "(":
                depth, is_first = depth + 1, True
            elif is_empty:
                raise PlacedError(start, "the game has no node")
            else:
                depth, is_main, is_first = depth - 1, False, False
                if depth == 0:
                    return offset
        elif node is None:
            raise PlacedError(start, "a property stands in a node, which starts with ';'")
        elif kind == 2:
            if len(node.properties) == MAX_PROPERTIES:
                raise PlacedError(start, f"the limit of a node is {MAX_PROPERTIES:,} properties")
            name = _SMALL.sub("", token[1]) or token[1].upper()
            node.properties.append(Property(name, start, *token.span(2), offset))
            node.end, takes_values = offset, True
        elif kind is None:
            takes_values = False
        elif not takes_values:
            raise PlacedError(start, "a value without the name of its property")
        else:
            node.properties[-1] = node.properties[-1]._replace(end=offset)
            node.end = offset
