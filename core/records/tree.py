"""The tree of a game: its main line and its variations, each move with all that was written about it.

A node holds its properties as SGF writes them, so whatever another program wrote stays as it was. A `GameRecord` is the
main line of a tree with the few properties that this program understands.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from core.arguments import check_kind
from core.notation import cell_of, column_letter
from core.opening_rules import FREE, Opening
from core.position import Position
from core.records.record import Ending, GameRecord, rules_text
from core.records.results import parse_result
from core.records.sgf_nodes import escaped, unescaped
from core.rules import BLACK, NO_CELL, Cell, Rules

TIME = "ET"
"""A private property, which SGF allows: the milliseconds of a move. SGF itself has only times left."""
ANALYSIS = "GOMOKU"
"""A private property: the analysis of a position."""
VALUE = "V"

_FIRST_VALUE = re.compile(r"\[((?:[^\]\\]++|\\.)*+)\]", re.DOTALL)
_MILLISECONDS = re.compile(r"[0-9]{1,10}")
_VALUE = re.compile(r"\s*[+-]?(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?)\s*")
"""A value from -1 to 1. Programs for other games write points of another scale."""
_HEADER = ("FF", "GM", "CA", "AP", "SZ", "RE", "RU", "PB", "PW", "DT", "SO", "ON", "GC")
"""Properties of the root that a record has, in the order in which they are written."""


class Node:
    """A position of a tree: the move that led to it, and what was written about it.

    >>> tree = gomoku.GameTree(gomoku.Rules())
    >>> first = tree.add("h8")
    >>> _ = first.add("i9"), first.add("g7")
    >>> [len(node.path()) for node in first.variations]
    [2, 2]
    """

    __slots__ = ("children", "move", "parent", "properties")

    def __init__(self, parent: "Node | None", move: Cell = NO_CELL, properties: dict[str, str] | None = None) -> None:
        """Append a node to its parent's children; `add` plays a move."""
        self.parent = parent
        """None for the root."""
        self.move = move
        """`NO_CELL` for the root, and for nodes of other programs without a move that can be played."""
        self.children: list[Node] = []
        """The nodes that follow, the main one first. Among them may be nodes without a move: see `variations`."""
        self.properties = {} if properties is None else properties
        """The values of each property by its name, as SGF writes them: `{"B": "[hh]", "LB": "[aa:1][bb:2]"}`."""
        if parent is not None:
            parent.children.append(self)

    @property
    def root(self) -> "GameTree":
        """The tree itself."""
        node = self
        while node.parent is not None:
            node = node.parent
        assert isinstance(node, GameTree)
        return node

    @property
    def variations(self) -> list["Node"]:
        """The nodes of the next moves, the main one first."""
        found, waiting = [], self.children[::-1]
        while waiting:
            node = waiting.pop()
            if node.move == NO_CELL:
                waiting += node.children[::-1]
            else:
                found.append(node)
        return found

    @property
    def previous(self) -> "Node | None":
        """The node of the move before, or the root; None at the root."""
        node = self.parent
        while node is not None and node.move == NO_CELL and node.parent is not None:
            node = node.parent
        return node

    def path(self) -> list["Node"]:
        """Return the nodes of the moves that lead here, this one included."""
        found, node = [], self
        while node.move != NO_CELL:
            found.append(node)
            before = node.previous
            assert before is not None
            node = before
        return found[::-1]

    def main_line(self) -> list["Node"]:
        """Return the nodes of the main moves that follow: those of the first children."""
        found, node = [], self
        while node.children:
            node = node.children[0]
            if node.move != NO_CELL:
                found.append(node)
        return found

    def position(self) -> Position:
        """Return the position here."""
        return Position.from_moves(self.root.rules, [node.move for node in self.path()])

    def text(self, name: str) -> str:
        """Return the first value of a property as text; nothing without the property."""
        written = self.properties.get(name)
        if written is None:
            return ""
        first = _FIRST_VALUE.match(written)
        return "" if first is None else unescaped(first[1])

    def set_text(self, name: str, text: str) -> None:
        """Give a property one value; no text removes it. Raises `TypeError` for anything but a text."""
        if not isinstance(text, str):
            raise TypeError(f"{name} is a text, not {type(text).__name__}")
        if text:
            self.properties[name] = f"[{escaped(text)}]"
        else:
            self.properties.pop(name, None)

    @property
    def comment(self) -> str:
        """The comment on the move, SGF's `C`."""
        return self.text("C")

    @comment.setter
    def comment(self, text: str) -> None:
        self.set_text("C", text)

    @property
    def name(self) -> str:
        """The name of the position or of the variation that begins here, SGF's `N`."""
        return self.text("N")

    @name.setter
    def name(self, text: str) -> None:
        self.set_text("N", text)

    def add(self, move: Cell | str) -> "Node":
        """Return the node of a next move, which becomes a variation unless it is there already.

        Raises `core.position.IllegalMoveError`, and `core.notation.NotationError` for a name of no cell.
        """
        position = self.position()
        cell = cell_of(move, position.rules.size)
        known = self.next(cell)
        if known is None:
            position.push(cell)
        return known or self.append(cell, position.ply)

    def next(self, move: Cell | str) -> "Node | None":
        """Return the node of a next move, which is a cell or its name; None without one."""
        cell = cell_of(move, self.root.rules.size) if isinstance(move, str) else move
        return next((node for node in self.variations if node.move == cell), None)

    def append(self, move: Cell, ply: int) -> "Node":
        """Return a new node for a move that is known to be legal, the game's `ply`th; the first one is the main one."""
        is_first = not self.variations
        node = Node(self, move, {"B" if ply % 2 else "W": f"[{point(move, self.root.rules.size)}]"})
        if is_first:
            self.children.insert(0, self.children.pop())
        return node

    def is_main(self) -> bool:
        """Return True for the root and on the main line."""
        return self.branch() is None

    def branch(self) -> "Node | None":
        """Return the node at which the variation of this move branches off, the nearest; None on the main line."""
        node: Node = self
        while node.parent is not None and node.parent.children[0] is node:
            node = node.parent
        return None if node.parent is None else node

    def promote(self) -> bool:
        """Make the variation of this move the main one where it branches off; return False on the main line."""
        node = self.branch()
        if node is None or node.parent is None:
            return False
        node.parent.children.remove(node)
        node.parent.children.insert(0, node)
        return True

    def delete(self) -> None:
        """Remove this move and all that follow. Raises `ValueError` for the root, and for a move that was removed."""
        if self.parent is None or self not in self.parent.children:
            raise ValueError("the root of a tree cannot be removed, and a move only once")
        self.parent.children.remove(self)

    def __copy__(self) -> "Node":
        # It would have the same children, whose parent it is not.
        raise TypeError("a move is a part of its tree: copy the whole tree")

    def nodes(self) -> Iterator["Node"]:
        """Yield this node and all that follow, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children[::-1]


class GameTree(Node):
    """A game as a tree, of which it is the root.

    >>> tree = gomoku.GameTree.of(gomoku.Record(gomoku.Rules(), [112, 127]))
    >>> tree.variations[0].comment = "the centre"
    >>> tree.record().comments
    ('the centre', '')
    """

    __slots__ = ("rules", "set_up")

    def __init__(self, rules: Rules, properties: dict[str, str] | None = None) -> None:
        """Start at the empty board; `properties`: of a root that was read."""
        super().__init__(None, NO_CELL, properties)
        self.rules = rules
        self.set_up = 0
        """The first moves, without variations, that stand for stones which were set up."""
        if properties is None:
            self.set_header(GameRecord(rules, (), ending=Ending.UNKNOWN))

    @classmethod
    def of(cls, record: GameRecord) -> "GameTree":
        """Return the tree of a record, which is its main line."""
        check_kind("record", record, GameRecord, "a Record, such as record_game(position)")
        tree = cls(record.rules, {})
        tree.set_header(record)
        tree.set_up = record.set_up
        node: Node = tree
        _note(tree, record, 0)
        for ply, cell in enumerate(record.moves, start=1):
            node = Node(node, cell, {"B" if ply % 2 else "W": f"[{point(cell, record.rules.size)}]"})
            if record.times_ms:
                node.properties[TIME] = f"[{record.times_ms[ply - 1]}]"
            if ply <= len(record.comments):
                node.set_text("C", record.comments[ply - 1])
            _note(node, record, ply)
        return tree

    def set_header(self, record: GameRecord) -> None:
        """Give the game the players, the result and all else that a record holds beside its moves."""
        self.rules = record.rules
        without_winner = "?" if record.ending is Ending.UNKNOWN else "0"
        result = without_winner if record.winner is None else ("B+" if record.winner == BLACK else "W+") + record.ending
        header = {"FF": "4", "GM": "4", "CA": "UTF-8", "AP": "gomoku", "SZ": str(record.rules.size), "RE": result}
        header |= {"RU": rules_text(record.rules), "PB": record.black, "PW": record.white, "DT": record.date}
        header |= {"SO": record.source, "ON": str(record.opening) if record.opening.stones else "", "GC": record.note}
        others = {name: written for name, written in self.properties.items() if name not in _HEADER}
        self.properties.clear()
        for name in _HEADER:
            self.set_text(name, header[name])
        self.properties |= others

    def record(self, end: Position | None = None) -> GameRecord:
        """Return the main line and its notes. The board decides the result where the header does not.

        `end`: the position after the main line, if it is known.
        """
        nodes = self.main_line()
        moves = tuple(node.move for node in nodes)
        found = parse_result(self.text("RE"))
        if found is None:
            outcome = (end or Position.from_moves(self.rules, moves)).outcome()
            found = (None, Ending.UNKNOWN) if outcome is None else (outcome.winner, Ending.BOARD)
        comments = tuple(node.comment for node in nodes)
        times_ms = [node.text(TIME) for node in nodes]
        values = tuple(_number(node.text(VALUE)) for node in (self, *nodes))
        analyses = tuple(node.text(ANALYSIS) for node in (self, *nodes))
        return GameRecord(
            self.rules,
            moves,
            found[0],
            black=self.text("PB"),
            white=self.text("PW"),
            comments=comments if any(comments) else (),
            note=self.text("GC"),
            date=self.text("DT"),
            times_ms=tuple(map(int, times_ms)) if all(map(_MILLISECONDS.fullmatch, times_ms)) else (),
            ending=found[1],
            values=values if any(value is not None for value in values) else (),
            analyses=analyses if any(analyses) else (),
            source=self.text("SO"),
            set_up=self.set_up,
            opening=_opening(self.text("ON"), plies=len(moves)),
        )

    def positions(self) -> Iterator[tuple[Node, Position]]:
        """Yield the root and the nodes with a move, each with its position: one object, which goes from node to node.

        A parent comes before its children, and a variation before the next one.
        """
        position = Position(self.rules)
        waiting: list[tuple[Node, int]] = [(self, 0)]
        while waiting:
            node, ply = waiting.pop()
            if node.move != NO_CELL or node is self:
                while position.ply > max(ply - 1, 0):
                    position.pop()
                if node is not self:
                    position.push(node.move, recorded=True)
                yield node, position
            waiting += [(child, ply + (child.move != NO_CELL)) for child in reversed(node.children)]

    def __copy__(self) -> "GameTree":
        """Return an independent tree with the same nodes."""
        return deepcopy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # As a list, since pickle would take a level of the stack for each move.
        nodes = list(self.nodes())
        places = {id(node): place for place, node in enumerate(nodes)}
        rest = [(places[id(node.parent)], node.move, node.properties) for node in nodes[1:]]
        return _grown, (self.rules, self.properties, self.set_up, rest)


def _grown(
    rules: Rules, properties: dict[str, str], set_up: int, rest: list[tuple[int, Cell, dict[str, str]]]
) -> GameTree:
    tree = GameTree(rules, properties)
    tree.set_up = set_up
    nodes: list[Node] = [tree]
    for parent, move, written in rest:
        nodes.append(Node(nodes[parent], move, written))
    return tree


def point(cell: Cell, size: int) -> str:
    """Return SGF's name of a cell: letters of the column from the left and the row from the top."""
    row, column = divmod(cell, size)
    return column_letter(column) + column_letter(size - 1 - row)


def value_text(value: float) -> str:
    """Return a value for Black as the property `V` holds it."""
    return f"{value:.4f}"


def _note(node: Node, record: GameRecord, ply: int) -> None:
    """Write the value and the analysis of the position after `ply` moves."""
    value = record.values[ply] if record.values else None
    if value is not None:
        node.properties[VALUE] = f"[{value_text(value)}]"
    node.set_text(ANALYSIS, record.analyses[ply] if record.analyses else "")


def _number(text: str) -> float | None:
    return float(text) if _VALUE.fullmatch(text) else None


def _opening(name: str, plies: int) -> Opening:
    """Return the opening that `set_header` wrote; any other name of one says nothing about colours.

    Nor does that of a rule whose choice is missing after more moves than it has stones.
    """
    try:
        found = Opening.parse(name)
    except ValueError:
        return FREE
    return found if found.is_chosen or plies <= found.stones else FREE
