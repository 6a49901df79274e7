"""Games in SGF, game 4 (Gomoku), file format 4."""

import re
from collections.abc import Iterator
from contextlib import suppress
from string import ascii_lowercase
from typing import NamedTuple

from core.input_limits import MAX_TREE_NODES, quoted, shortened
from core.notation import NotationError
from core.position import IllegalMoveError, Position
from core.records.lines import PlacedError
from core.records.record import GameRecord, RecordError, over_here, recorded_rules
from core.records.sgf_nodes import Node as Written
from core.records.sgf_nodes import Property, nodes, unescaped
from core.records.tree import ANALYSIS, TIME, VALUE, GameTree, Node, point
from core.rules import BLACK, NO_CELL, WHITE, Cell, Colour, Rules, colour_name
from core.set_up import moves_to


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
        if isinstance(node, GameTree) and (stones := node.main_line()[: node.set_up]):
            parts += _set_up_text(node, [each.move for each in stones])
            node = stones[-1]
            parts += [f"{name}{values}" for name, values in node.properties.items() if name not in _MOVES]
        if len(node.children) == 1:
            waiting += [node.children[0], "\n"]
        else:
            for child in reversed(node.children):
                waiting += [")", child, "\n("]
    return "".join([*parts, ")\n"])


def _set_up_text(tree: GameTree, moves: list[Cell]) -> Iterator[str]:
    for name, cells in (("AB", moves[::2]), ("AW", moves[1::2])):
        if cells:
            yield name + "".join(f"[{point(cell, tree.rules.size)}]" for cell in cells)
    yield "PL[W]" if len(moves) % 2 else "PL[B]"


_SIZE = re.compile(r"\s*([0-9]{1,3})(?:\s*:\s*\1)?\s*")
_LAST_PASS_SIZE = 19
"""Up to this size `tt` is a pass (file format 3)."""
_MOVES = ("B", "W")
_SET_UP = ("AB", "AW", "AE")
_POINTS = re.compile(r"\[\s*([^\]:\s]*)\s*(?::\s*([^\]\s]*))?\s*\]")
"""Values of points; two of them are the corners of a rectangle."""
_LABELS = re.compile(r"\[\s*(\w+)\s*:((?:\\.|[^\]\\])*+)\]", re.DOTALL)
"""A point and its text, with escapes."""
_VALUES = re.compile(r"\[[^\]]*+\]")
"""Values without escapes."""
_MOVE = re.compile(r"(?<![A-Z])[BW]\s*\[")
"""A move of a text whose values are left out."""
_OF_MOVE = ("C", TIME, VALUE, ANALYSIS)
"""Properties that belong to the last move of a node, also where that is the root."""


def parse_sgf(text: str, source: str = "SGF") -> list[GameRecord]:
    """Return the games of an SGF text, each by its main line. Raises `RecordError` with line and column.

    Stones that are set up in the root become moves (`core.set_up`); elsewhere they are refused, as are passes. The
    connect length is that of `to_sgf`, five without it. The board decides the result where the record does not: where
    it has none, or one in words that are not known. A result that says that it is none (`Void`, `?`) stays unknown.
    """
    try:
        return [reader.tree.record(reader.position) for reader in _readers(text, whole=False)]
    except PlacedError as error:
        raise RecordError(error.in_text(text, source)) from error


def parse_trees(text: str, source: str = "SGF", *, max_nodes: int = MAX_TREE_NODES) -> Iterator[GameTree]:
    """Yield the games of an SGF text with their variations and all that others wrote. Raises `RecordError`.

    The main line is read as by `parse_sgf`. What cannot be played in a variation, such as a pass, stays as nodes
    without a move. `max_nodes`: of the text, above which it is refused.
    """
    try:
        for reader in _readers(text, whole=True, max_nodes=max_nodes):
            yield reader.tree
    except PlacedError as error:
        raise RecordError(error.in_text(text, source)) from error


def parse_header(text: str, source: str = "SGF") -> tuple[GameRecord, int]:
    """Return the first game of a text without its moves, and the number of moves of its main line.

    Nothing is played, so it is much quicker than `parse_sgf`, and the board decides no result. Raises `RecordError`.
    """
    try:
        root = next(nodes(text))
        written = _as_written(text, root)
        record = GameTree(_rules(root, written), written).record(Position())
    except PlacedError as error:
        raise RecordError(error.in_text(text, source)) from error
    # Behind the first closing parenthesis outside of values are variations and other games.
    plain = text[root.start :].replace("\\\\", "").replace("\\]", "")
    main = _VALUES.sub("[", plain).partition(")")[0]
    return record, len(_MOVE.findall(main))


def main_line(text: str) -> Iterator[tuple[Written, int, int]]:
    """Yield the nodes of the main lines of a text that `parse_sgf` reads; each with its moves and the ply after it."""
    game, ply = -1, 0
    for node in nodes(text):
        if node.is_main:
            ply = ply if node.game == game else 0
            moves = len(node.named("B", "W")) + (len(_stones(text, node)) if node.game != game else 0)
            game = node.game
            ply += moves
            yield node, moves, ply


def labels(node: Node, size: int) -> dict[Cell, str]:
    """Return the texts that stand on cells of the board at a node (`LB`), those of other values left out."""
    found = {}
    for place, written in _LABELS.findall(node.properties.get("LB", "")):
        with suppress(NotationError):
            found[_cell(place, size)] = unescaped(written)
    return found


def _readers(text: str, *, whole: bool, max_nodes: int = MAX_TREE_NODES) -> Iterator["_Reader"]:
    """Yield the reader of each game after its last node. Raises `PlacedError`."""
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
            raise PlacedError(node.start, f"the limit of games with variations is {max_nodes:,} nodes")
    if reader is not None:
        yield reader


class _Open(NamedTuple):
    """A node inside of some open parentheses, so far."""

    level: int
    node: Node
    ply: int
    is_played: bool
    """False behind a move that cannot be played."""


class _Reader:
    """A game, read node by node: its whole tree, or the nodes with moves of its main line alone."""

    def __init__(self, text: str, root: Written) -> None:
        """Start at the root. Raises `PlacedError` for another game, and for rules that are not supported."""
        self._text = text
        written = _as_written(text, root)
        self.tree = GameTree(_rules(root, written), {})
        self.position = Position(self.tree.rules)
        """The position after the last node; without variations that of the main line's end."""
        moves = [*self._set_up(root), *self._played(root, is_root=True)]
        of_move = {name: written.pop(name) for name in _OF_MOVE if moves and name in written}
        left_out = (*_SET_UP, "PL") if self.tree.set_up else ()
        self.tree.properties |= {name: values for name, values in written.items() if name not in (*_MOVES, *left_out)}
        self._open = [_Open(root.level, self._grown(self.tree, moves, of_move), self.position.ply, True)]

    def add(self, written: Written, *, whole: bool) -> None:
        """Add a node behind the root. Raises `PlacedError` for one of the main line that cannot be played."""
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
        except PlacedError:
            if written.is_main:
                raise
            self._go_back(known.ply)
            is_played = False
        node = self._grown(known.node, moves, _as_written(self._text, written))
        before.append(_Open(written.level, node, self.position.ply, is_played))

    def _go_back(self, ply: int) -> None:
        while self.position.ply > ply:
            self.position.pop()

    def _grown(self, node: Node, moves: list[tuple[str, Cell]], properties: dict[str, str]) -> Node:
        """Return the node behind `node` with a move and the properties; a node for each of several moves."""
        if not moves:
            return node if node is self.tree and not properties else Node(node, NO_CELL, properties)
        if len(moves) == 1 and moves[0][0] in properties:
            return Node(node, moves[0][1], properties)
        for name, cell in moves:
            node = Node(node, cell, {name: f"[{point(cell, self.tree.rules.size)}]"})
        node.properties |= {name: values for name, values in properties.items() if name not in _MOVES}
        return node

    def _set_up(self, root: Written) -> list[tuple[str, Cell]]:
        """Play moves to the stones that the root sets up, and return their names and cells. Raises `PlacedError`."""
        rules, stones = self.tree.rules, _stones(self._text, root)
        try:
            cells = {_cell(written, rules.size): colour for written, colour in stones.items()}
            black, white = ([cell for cell in cells if cells[cell] == colour] for colour in (BLACK, WHITE))
            moves = moves_to(rules, black, white)
        except ValueError as error:
            raise PlacedError(root.start, error) from error
        for cell in moves:
            self.position.push(cell, recorded=True)
        self.tree.set_up = len(moves)
        for each in root.named("PL") if moves else ():
            side = self._text[each.value_start : each.value_end].strip()[:1].upper()
            if side and side != "BW"[len(moves) % 2]:
                mover = colour_name(self.position.side_to_move)
                raise PlacedError(each.start, f"PL[{side}], but with these stones it is {mover}'s turn")
        return [("BW"[ply % 2], cell) for ply, cell in enumerate(moves)]

    def _played(self, node: Written, *, is_root: bool = False) -> list[tuple[str, Cell]]:
        """Play the moves of a node and return their names and cells. Raises `PlacedError`."""
        played = []
        for each in node.properties:
            if each.name in _MOVES:
                played.append((each.name, self._push(each, node)))
            elif each.name in (("AE",) if is_root else _SET_UP) and _values(self._text, each)[1:-1].strip():
                raise PlacedError(node.start, "stones are removed, or set up behind the beginning of the game")
        return played

    def _push(self, move: Property, node: Written) -> Cell:
        position, size = self.position, self.position.rules.size
        colour = BLACK if move.name == "B" else WHITE
        written = self._text[move.value_start : move.value_end].strip()
        if not written or (written == "tt" and size <= _LAST_PASS_SIZE):
            raise PlacedError(node.start, f"{colour_name(colour)} passes, and games here have no pass")
        if not move.has_one_value:
            raise PlacedError(node.start, "a move is one point, and this one has several")
        try:
            if not position.is_game_over() and colour != position.side_to_move:
                raise PlacedError(node.start, f"it is {colour_name(position.side_to_move)}'s turn")
            position.push(_cell(written, size), recorded=True)
        except (NotationError, IllegalMoveError) as error:
            rules = over_here(self.tree.text("RU"), position) if position.is_game_over() else ""
            raise PlacedError(node.start, f"{error}{rules}") from error
        return position.moves[-1]


def _stones(text: str, root: Written) -> dict[str, Colour]:
    """Return the points at which the root sets up stones, in the order of the text."""
    found: dict[str, Colour] = {}
    for each in root.named("AB", "AW"):
        colour = BLACK if each.name == "AB" else WHITE
        for first, last in _POINTS.findall(_values(text, each)):
            found |= dict.fromkeys(_rectangle(first, last) if last else [first] if first else [], colour)
    return found


def _rectangle(first: str, last: str) -> list[str]:
    letters = ascii_lowercase
    if len(first) != 2 or len(last) != 2 or not set(first + last) <= set(letters):
        return [first, last]
    columns, rows = ((letters.index(first[at]), letters.index(last[at])) for at in (0, 1))
    return [
        letters[column] + letters[row]
        for column in range(min(columns), max(columns) + 1)
        for row in range(min(rows), max(rows) + 1)
    ]


def _as_written(text: str, node: Written) -> dict[str, str]:
    """Return the values of each property as they are written; those of a name that occurs twice stand together."""
    found: dict[str, str] = {}
    for each in node.properties:
        found[each.name] = found.get(each.name, "") + _values(text, each)
    return found


def _values(text: str, each: Property) -> str:
    return text[each.value_start - 1 : each.end]


def _rules(root: Written, written: dict[str, str]) -> Rules:
    header = Node(None, NO_CELL, written)
    game = header.text("GM").strip() or "1"
    size = header.text("SZ") or str(Rules().size)
    square = _SIZE.fullmatch(size)
    if game != "4":
        raise PlacedError(root.start, f"game {shortened(game)} is not Gomoku, which is GM[4]")
    if square is None:
        raise PlacedError(root.start, f"SZ[{shortened(size)}] is no size of a square board")
    try:
        return recorded_rules(int(square[1]), header.text("RU"))
    except ValueError as error:
        raise PlacedError(root.start, error) from error


def _cell(point: str, size: int) -> Cell:
    letters = ascii_lowercase[:size]
    if len(point) != 2 or not set(point) <= set(letters):
        raise NotationError(f"{quoted(point)} is no point of a {size}x{size} board")
    column, row = map(letters.index, point)
    return (size - 1 - row) * size + column
