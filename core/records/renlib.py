"""Libraries and games of RenLib, the renju players' program: `.lib`, a tree of moves, and `.pos`, the moves of a game.

A library has a header of 20 bytes, and then each node before those below it: a byte for the point, a byte of flags, and
what the flags say follows. The point is 16 times the row plus the column, the row from 0 at the top, the column from 1
at the left; 0 is no point. A file of moves holds their number, and a byte a move: 15 times the row plus the column,
both from 0.
"""

from collections.abc import Callable
from typing import NamedTuple

from core.input_limits import MAX_TREE_NODES
from core.position import IllegalMoveError, Position
from core.records.charsets import likely_charset
from core.records.record import RecordError
from core.records.sgf import to_sgf
from core.records.sgf_nodes import escaped
from core.records.tree import GameTree, Node, point
from core.rules import NO_CELL, Cell, Rules, Variant

_RULES = Rules(15, 5, Variant.RENJU)
_HEADER, _HEADER_BYTES = b"\xffRenLib\xff", 20
_VERSION = (3, 4)
"""The newest version of the format."""
_CENTRE = 0x78
"""The first byte of the oldest libraries, which have no header."""
_MORE, _LAST, _OLD_COMMENT, _COMMENT, _NO_MOVE, _EXTENDED = 0x80, 0x40, 0x20, 0x08, 0x02, 0x01
"""Flags: another variation of the same position follows after those below; nothing is below; and parts of the node."""
_TEXT = 0x01
"""A flag in the second of the two bytes of an extension: a text on the board."""
_OLD_LETTERS = str.maketrans("}{|][\\", "åäöÅÄÖ")
"""Letters of the oldest comments, which have seven bits a character."""


class _Branch(NamedTuple):
    """A position of the tree."""

    node: Node | None
    """None behind a move that cannot be played."""
    ply: int


class _Written(NamedTuple):
    """A node as the file holds it."""

    cell: Cell
    """`NO_CELL` for no point."""
    flags: int
    comment: bytes
    text: bytes


class _Bytes:
    """The bytes of a library, from its first node on."""

    def __init__(self, data: bytes, source: str) -> None:
        self._data, self._source, self.place = data, source, 0
        if data.startswith(_HEADER) and len(data) >= _HEADER_BYTES:
            version = (data[len(_HEADER)], data[len(_HEADER) + 1])
            if version > _VERSION:
                raise RecordError(f"{source}: RenLib's format {version[0]}.{version[1]} is newer than 3.4")
            self.place = _HEADER_BYTES
        elif data[:1] != bytes([_CENTRE]):
            raise RecordError(f"{source} is no library of RenLib: its first bytes are others")

    def __bool__(self) -> bool:
        return self.place < len(self._data)

    def _pair(self) -> bytes:
        pair = self._data[self.place : self.place + 2]
        if len(pair) < 2:
            raise RecordError(f"{self._source}, byte {self.place}: the library is cut short")
        self.place += 2
        return pair

    def node(self) -> _Written:
        """Return the next node. Raises `RecordError`."""
        start = self.place
        place, flags = self._pair()
        extension = self._pair()[1] if flags & _EXTENDED else 0
        comment = b""
        if flags & _OLD_COMMENT:
            comment = self._until(lambda byte: byte > 0x7F)
            comment = bytes(byte & 0x7F for byte in comment).decode("ascii").translate(_OLD_LETTERS).encode()
        if flags & _COMMENT:
            comment = self._until(lambda byte: byte == 0).rstrip(b"\0")
        text = self._until(lambda byte: byte == 0).rstrip(b"\0") if extension & _TEXT else b""
        row, column = divmod(place, 16)
        if place and not (1 <= column <= 15 and row < 15):
            raise RecordError(f"{self._source}, byte {start}: {place} is no point of a 15x15 board")
        return _Written(_cell(row, column - 1) if place else NO_CELL, flags, comment, text)

    def _until(self, ends: Callable[[int], bool]) -> bytes:
        """Return the next pairs of bytes up to the one with a byte that ends a text."""
        start = self.place
        while True:
            first, second = self._pair()
            if ends(first):
                return self._data[start : self.place - 1]
            if ends(second):
                return self._data[start : self.place]


def parse_library(data: bytes, source: str) -> tuple[GameTree, str]:
    """Return the tree of a library, and a remark where some of it cannot be played; by the rules of renju.

    A comment stands with its move, a text on the board as SGF's label `LB` of the position before. Raises
    `RecordError`.
    """
    tree = GameTree(_RULES)
    read, position = _Bytes(data, source), Position(_RULES)
    here: _Branch | None = _Branch(tree, 0)
    waiting: list[_Branch] = []
    comments: list[tuple[Node, bytes]] = []
    labels: list[tuple[Node, Cell, bytes]] = []
    count = left_out = 0
    while read and here is not None:
        written = read.node()
        count += 1
        if count > MAX_TREE_NODES:
            raise RecordError(f"{source}: the limit of games with variations is {MAX_TREE_NODES:,} nodes")
        after = here
        if written.cell != NO_CELL or here.node is not tree:
            if written.flags & _MORE:
                waiting.append(here)
            after = _played(here, written, position)
            left_out += after.node is None and here.node is not None and not written.flags & _NO_MOVE
        if written.text and here.node is not None and written.cell != NO_CELL:
            labels.append((here.node, written.cell, written.text))
        if written.comment and after.node is not None:
            comments.append((after.node, written.comment))
        here = after
        if written.flags & _LAST:
            here = waiting.pop() if waiting else None
    codec = _codec(b"\n".join([text for _, text in comments] + [text for *_, text in labels]))
    for node, comment in comments:
        node.comment = comment.decode(codec, "replace").replace("\b", "\n").strip()
    for node, cell, text in labels:
        label = f"[{point(cell, _RULES.size)}:{escaped(text.decode(codec, 'replace'))}]"
        node.properties["LB"] = node.properties.get("LB", "") + label
    if left_out:
        moves = "1 move that cannot be played is" if left_out == 1 else f"{left_out:,} moves that cannot be played are"
        return tree, f"{source}: {moves} left out, with what follows"
    return tree, ""


def _played(before: _Branch, written: _Written, position: Position) -> _Branch:
    """Return the position after a move of a node; one that is no move, or cannot be made, leads nowhere.

    `position` is the last one that was reached, and follows.
    """
    if before.node is None or written.cell == NO_CELL or written.flags & _NO_MOVE:
        return _Branch(None, before.ply)
    while position.ply > before.ply:
        position.pop()
    try:
        position.push(written.cell, recorded=True)
    except IllegalMoveError:
        return _Branch(None, before.ply)
    known = before.node.next(written.cell)
    return _Branch(known or before.node.append(written.cell, position.ply), position.ply)


def _cell(row: int, column: int) -> Cell:
    return (_RULES.size - 1 - row) * _RULES.size + column


def _codec(text: bytes) -> str:
    try:
        text.decode()
    except UnicodeDecodeError:
        return likely_charset(text)[0]
    return "utf-8"


def parse_moves(data: bytes, source: str) -> GameTree:
    """Return the game of a file of moves, by the rules of renju. Raises `RecordError`."""
    count = data[0] if data else 0
    if len(data) < count + 1 or count == 0:
        raise RecordError(f"{source} is no game of RenLib: it should begin with the number of its moves")
    tree = GameTree(_RULES)
    position = Position(_RULES)
    node: Node = tree
    for number, byte in enumerate(data[1 : count + 1], start=1):
        try:
            if byte >= _RULES.cells:
                raise IllegalMoveError(f"{byte} is no point of a 15x15 board")
            position.push(_cell(*divmod(byte, _RULES.size)), recorded=True)
        except IllegalMoveError as error:
            raise RecordError(f"{source}, move {number}: {error}") from error
        node = node.append(position.moves[-1], number)
    return tree


def renlib_text(data: bytes, source: str, *, is_library: bool) -> tuple[str, str]:
    """Return a file of RenLib as a text of SGF, and a remark where some of it is left out. Raises `RecordError`."""
    tree, remark = parse_library(data, source) if is_library else (parse_moves(data, source), "")
    if not tree.children:
        raise RecordError(f"{source} holds no move")
    return to_sgf(tree), remark
