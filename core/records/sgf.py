"""Games in SGF, game 4 (Gomoku), file format 4."""

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import NamedTuple

from core.input_limits import MAX_TREE_NODES, quoted, shortened
from core.notation import NotationError
from core.position import IllegalMoveError, Position
from core.records.record import GameRecord, RecordError, over_here, recorded_rules
from core.records.sgf_nodes import Node as Written
from core.records.sgf_nodes import Property, SgfError, nodes
from core.records.tree import ANALYSIS, TIME, VALUE, GameTree, Node
from core.rules import BLACK, NO_CELL, WHITE, Cell, Rules, colour_name


def to_sgf(game: GameRecord | GameTree) -> str:
    """Return the game as one SGF tree, with a newline at its end."""
    parts = ["("]
    waiting: list[Node | str] = [GameTree.of(game) if isinstance(game, GameRecord) else game]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            parts.append(node)
            continue
        parts += [";", *map("".join, node.properties.items())]
        if len(node.children) == 1:
            waiting += [node.children[0], "\n"]
        else:
            for child in reversed(node.children):
                waiting += [")", child, "\n("]
    return "".join([*parts, ")\n"])


_SIZE = re.compile(r"\s*([0-9]{1,3})(?:\s*:\s*\1)?\s*")
_LAST_PASS_SIZE = 19
"""Up to this size `tt` is a pass (file format 3)."""
_MOVES = ("B", "W")
_SET_UP = ("AB", "AW", "AE")
_VALUES = re.compile(r"\[[^\]]*+\]")
"""Values without escapes."""
_MOVE = re.compile(r"(?<![A-Z])[BW]\s*\[")
"""A move of a text whose values are left out."""
_OF_MOVE = ("C", TIME, VALUE, ANALYSIS)
"""Properties that belong to the last move of a node, also where that is the root."""


def parse_sgf(text: str, source: str = "SGF") -> list[GameRecord]:
    """Return the games of an SGF text, each by its main line. Raises `RecordError` with line and column.

    A game is freestyle from the empty board: set-up stones and passes are refused. The connect length is that of
    `to_sgf`, five without it. The board decides the result where the record does not: where it has none, or one in
    words that are not known. A result that says that it is none (`Void`, `?`) stays unknown.
    """
    try:
        return [reader.tree.record(reader.position) for reader in _readers(text, whole=False)]
    except SgfError as error:
        raise RecordError(error.in_text(text, source)) from error


def parse_trees(text: str, source: str = "SGF", *, max_nodes: int = MAX_TREE_NODES) -> Iterator[GameTree]:
    """Yield the games of an SGF text with their variations and all that others wrote. Raises `RecordError`.

    The main line is read as by `parse_sgf`. What cannot be played in a variation, such as a pass, stays as nodes
    without a move. `max_nodes`: of the text, above which it is refused.
    """
    try:
        for reader in _readers(text, whole=True, max_nodes=max_nodes):
            yield reader.tree
    except SgfError as error:
        raise RecordError(error.in_text(text, source)) from error


def parse_header(text: str, source: str = "SGF") -> tuple[GameRecord, int]:
    """Return the first game of a text without its moves, and the number of moves of its main line.

    Nothing is played, so it is much quicker than `parse_sgf`, and the board decides no result. Raises `RecordError`.
    """
    try:
        root = next(nodes(text))
        written = _as_written(text, root)
        record = GameTree(_rules(root, written), written).record(Position())
    except SgfError as error:
        raise RecordError(error.in_text(text, source)) from error
    # Behind the first closing parenthesis outside of values are variations and other games.
    plain = text[root.start :].replace("\\\\", "").replace("\\]", "")
    main = _VALUES.sub("[", plain).partition(")")[0]
    return record, len(_MOVE.findall(main))


def main_line(text: str) -> Iterator[tuple[Written, int, int]]:
    """Yield the nodes of the main lines of a text that `parse_sgf` reads; each with its moves and the ply after it."""
    game = ply = 0
    for node in nodes(text):
        if node.is_main:
            ply = ply if node.game == game else 0
            game, moves = node.game, len(node.named("B", "W"))
            ply += moves
            yield node, moves, ply


def _readers(text: str, *, whole: bool, max_nodes: int = MAX_TREE_NODES) -> Iterator["_Reader"]:
    """Yield the reader of each game after its last node. Raises `SgfError`."""
    reader: _Reader | None = None
    game = count = 0
    for node in nodes(text):
        if reader is None or node.game != game:
            if reader is not None:
                yield reader
            reader, game = _Reader(text, node), node.game
        elif whole or node.is_main:
            reader.add(node, whole=whole)
        count += whole
        if count > max_nodes:
            raise SgfError(node.start, f"the limit of games with variations is {max_nodes:,} nodes")
    if reader is not None:
        yield reader


class _Open(NamedTuple):
    """The last node so far inside of some open parentheses."""

    level: int
    node: Node
    ply: int
    is_played: bool
    """False behind a move that cannot be played."""


class _Reader:
    """A game, read node by node: its whole tree, or the nodes with moves of its main line alone."""

    def __init__(self, text: str, root: Written) -> None:
        """Start at the root. Raises `SgfError` for another game, and for rules that are not supported."""
        self._text = text
        written = _as_written(text, root)
        self.tree = GameTree(_rules(root, written), {})
        self.position = Position(self.tree.rules)
        """The position after the last node; without variations that of the main line's end."""
        moves = self._played(root)
        of_move = {name: written.pop(name) for name in _OF_MOVE if moves and name in written}
        self.tree.properties |= {name: values for name, values in written.items() if name not in _MOVES}
        self._open = [_Open(root.level, self._grown(self.tree, moves, of_move), self.position.ply, True)]

    def add(self, written: Written, *, whole: bool) -> None:
        """Add a node behind the root. Raises `SgfError` for one of the main line that cannot be played."""
        if not whole:
            if moves := self._played(written):
                last = self._grown(self._open[0].node, moves, _as_written(self._text, written))
                self._open = [_Open(0, last, 0, True)]
            return
        before = self._open
        while before[-1].level > written.level or (written.is_first and before[-1].level == written.level):
            before.pop()
        known = before[-1]
        self._go_back(known.ply)
        is_played, moves = known.is_played, []
        try:
            moves = self._played(written) if is_played else []
        except SgfError:
            if written.is_main:
                raise
            self._go_back(known.ply)
            is_played = False
        node = self._grown(known.node, moves, _as_written(self._text, written))
        if not written.is_first:
            before.pop()
        before.append(_Open(written.level, node, self.position.ply, is_played))

    def _go_back(self, ply: int) -> None:
        while self.position.ply > ply:
            self.position.pop()

    def _grown(self, node: Node, moves: list[tuple[Property, Cell]], properties: dict[str, str]) -> Node:
        """Return the node behind `node` with a move and the properties; a node for each of several moves."""
        if not moves:
            return node if node is self.tree and not properties else Node(node, NO_CELL, properties)
        if len(moves) == 1 and moves[0][0].name in properties:
            return Node(node, moves[0][1], properties)
        for move, cell in moves:
            node = Node(node, cell, {move.name: _values(self._text, move)})
        node.properties |= {name: values for name, values in properties.items() if name not in _MOVES}
        return node

    def _played(self, node: Written) -> list[tuple[Property, Cell]]:
        """Play the moves of a node and return them with their cells. Raises `SgfError`."""
        played = []
        for each in node.properties:
            if each.name in _MOVES:
                played.append((each, self._push(each, node)))
            elif each.name in _SET_UP and _values(self._text, each)[1:-1].strip():
                raise SgfError(node.start, "the game does not start from the empty board, but with stones set up")
        return played

    def _push(self, move: Property, node: Written) -> Cell:
        position, size = self.position, self.position.rules.size
        colour = BLACK if move.name == "B" else WHITE
        written = self._text[move.value_start : move.value_end].strip()
        if not written or (written == "tt" and size <= _LAST_PASS_SIZE):
            raise SgfError(node.start, f"{colour_name(colour)} passes, and games here have no pass")
        if not move.has_one_value:
            raise SgfError(node.start, "a move is one point, and this one has several")
        try:
            if not position.is_game_over() and colour != position.side_to_move:
                raise SgfError(node.start, f"it is {colour_name(position.side_to_move)}'s turn")
            position.push(_cell(written, size), recorded=True)
        except (NotationError, IllegalMoveError) as error:
            rules = over_here(self.tree.text("RU"), position) if position.is_game_over() else ""
            raise SgfError(node.start, f"{error}{rules}") from error
        return position.moves[-1]


def _as_written(text: str, node: Written) -> dict[str, str]:
    """Return the values of each property as they are written; those of a name that occurs twice stand together."""
    found: dict[str, str] = {}
    for each in node.properties:
        values = text[each.value_start - 1 : each.end]
        found[each.name] = found[each.name] + values if each.name in found else values
    return found


def _values(text: str, each: Property) -> str:
    return text[each.value_start - 1 : each.end]


def _rules(root: Written, written: dict[str, str]) -> Rules:
    header = Node(None, NO_CELL, written)
    game = header.text("GM").strip() or "1"
    size = header.text("SZ") or str(Rules().size)
    square = _SIZE.fullmatch(size)
    if game != "4":
        raise SgfError(root.start, f"game {shortened(game)} is not Gomoku, which is GM[4]")
    if square is None:
        raise SgfError(root.start, f"SZ[{shortened(size)}] is no size of a square board")
    try:
        return recorded_rules(int(square[1]), header.text("RU"))
    except ValueError as error:
        raise SgfError(root.start, error) from error


def _cell(point: str, size: int) -> Cell:
    letters = ascii_lowercase[:size]
    if len(point) != 2 or not set(point) <= set(letters):
        raise NotationError(f"{quoted(point)} is no point of a {size}x{size} board")
    column, row = map(letters.index, point)
    return (size - 1 - row) * size + column
