"""Games in SGF, game 4 (Gomoku), file format 4."""

import re
from collections.abc import Iterator
from string import ascii_lowercase

from core.limits import quoted, shortened
from core.notation import NotationError, column_letter
from core.opening_rules import FREE, Opening
from core.position import IllegalMoveError, Position
from core.records.record import Ending, GameRecord, RecordError, over_here, recorded_rules, rules_text
from core.records.results import parse_result
from core.records.sgf_nodes import Node, Property, SgfError, nodes
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name

TIME = "ET"
"""A private property, which SGF allows: the milliseconds of a move. SGF itself has only times left."""
ANALYSIS = "GOMOKU"
"""A private property: the analysis of a position."""


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


def _point(cell: Cell, size: int) -> str:
    """Return SGF's name of a cell: letters of the column from the left and the row from the top."""
    row, column = divmod(cell, size)
    return column_letter(column) + column_letter(size - 1 - row)


def to_sgf(game: GameRecord) -> str:
    """Return the game as one SGF tree, with a newline at its end."""
    without_winner = "?" if game.ending is Ending.UNKNOWN else "0"
    result = without_winner if game.winner is None else ("B+" if game.winner == BLACK else "W+") + game.ending
    root = {"FF": "4", "GM": "4", "CA": "UTF-8", "AP": "gomoku", "SZ": str(game.rules.size), "RE": result}
    root |= {"RU": rules_text(game.rules), "PB": game.black, "PW": game.white, "DT": game.date, "SO": game.source}
    root |= {"ON": str(game.opening) if game.opening.stones else "", "GC": game.note}
    lines = ["".join(f"{key}[{escaped(value)}]" for key, value in root.items() if value) + _view(game, 0)]
    for ply, cell in enumerate(game.moves):
        comment = f"C[{escaped(game.comments[ply])}]" if ply < len(game.comments) and game.comments[ply] else ""
        time = f"{TIME}[{game.times_ms[ply]}]" if game.times_ms else ""
        move = f"{'B' if ply % 2 == 0 else 'W'}[{_point(cell, game.rules.size)}]"
        lines.append(f"{move}{time}{comment}{_view(game, ply + 1)}")
    return "(;" + "\n;".join(lines) + ")\n"


def _view(game: GameRecord, ply: int) -> str:
    """Return the value and the analysis of the position after `ply` moves."""
    value = game.values[ply] if game.values else None
    analysis = game.analyses[ply] if game.analyses else ""
    return (f"V[{value_text(value)}]" if value is not None else "") + (
        f"{ANALYSIS}[{escaped(analysis)}]" if analysis else ""
    )


def value_text(value: float) -> str:
    """Return a value for Black as the property `V` holds it."""
    return f"{value:.4f}"


_SIZE = re.compile(r"\s*([0-9]{1,3})(?:\s*:\s*\1)?\s*")
_MILLISECONDS = re.compile(r"[0-9]{1,10}")
_VALUE = re.compile(r"\s*[+-]?(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?)\s*")
"""A value from -1 to 1. Programs for other games write points of another scale."""
_LAST_PASS_SIZE = 19
"""Up to this size `tt` is a pass (file format 3)."""


def parse_sgf(text: str, source: str = "SGF") -> list[GameRecord]:
    """Return the games of an SGF text, each by its main line. Raises `RecordError` with line and column.

    A game is freestyle from the empty board: set-up stones and passes are refused. The connect length is that of
    `to_sgf`, five without it. The board decides the result where the record does not: where it has none, or one in
    words that are not known. A result that says that it is none (`Void`, `?`) stays unknown.
    """
    try:
        return [game.record() for game in _games(text)]
    except SgfError as error:
        raise RecordError(error.in_text(text, source)) from error


def main_line(text: str) -> Iterator[tuple[Node, int, int]]:
    """Yield the nodes of the main lines of a text that `parse_sgf` reads; each with its moves and the ply after it."""
    game = ply = 0
    for node in nodes(text):
        if node.is_main:
            ply = ply if node.game == game else 0
            game, moves = node.game, len(node.named("B", "W"))
            ply += moves
            yield node, moves, ply


def _games(text: str) -> Iterator["_Game"]:
    """Yield the games, each after its last node. Raises `SgfError`."""
    game: _Game | None = None
    for node in nodes(text):
        if game is None or node.game != game.number:
            if game is not None:
                yield game
            game = _Game(text, node)
        if node.is_main:
            game.play(node)
    if game is not None:
        yield game


_Note = tuple[str, str, float | None, str]
"""The comment on a move, its milliseconds, and the value and the analysis of the position after it."""
_NOTHING: _Note = ("", "", None, "")


class _Game:
    """The main line of a game, played node by node."""

    def __init__(self, text: str, root: Node) -> None:
        """Start at the root. Raises `SgfError` for another game, and for rules that are not supported."""
        self.number = root.game
        self._text = text
        self._root = root
        self._position = Position(self._rules(root))
        self._notes = [_NOTHING]
        """The notes on the empty board and on each move."""

    def play(self, node: Node) -> None:
        """Play the moves of a node of the main line. Raises `SgfError`."""
        for each in node.named("AB", "AW", "AE"):
            if self._text[each.value_start : each.value_end].strip() or not each.has_one_value:
                raise SgfError(node.start, "the game does not start from the empty board, but with stones set up")
        moves = node.named("B", "W")
        for move in moves:
            self._push(move, node)
            self._notes.append(_NOTHING)
        if moves or node is self._root:
            comment, time, value, analysis = (self._value(node, name) for name in ("C", TIME, "V", ANALYSIS))
            self._notes[-1] = comment, time, _number(value), analysis

    def _push(self, move: Property, node: Node) -> None:
        position, size = self._position, self._position.rules.size
        colour = BLACK if move.name == "B" else WHITE
        point = self._text[move.value_start : move.value_end].strip()
        if not point or (point == "tt" and size <= _LAST_PASS_SIZE):
            raise SgfError(node.start, f"{colour_name(colour)} passes, and games here have no pass")
        if not move.has_one_value:
            raise SgfError(node.start, "a move is one point, and this one has several")
        try:
            if not position.is_game_over() and colour != position.side_to_move:
                raise SgfError(node.start, f"it is {colour_name(position.side_to_move)}'s turn")
            position.push(_cell(point, size), recorded=True)
        except (NotationError, IllegalMoveError) as error:
            rules = over_here(self._value(self._root, "RU"), position) if position.is_game_over() else ""
            raise SgfError(node.start, f"{error}{rules}") from error

    def _rules(self, root: Node) -> Rules:
        game = self._value(root, "GM").strip() or "1"
        size = self._value(root, "SZ") or str(Rules().size)
        square = _SIZE.fullmatch(size)
        if game != "4":
            raise SgfError(root.start, f"game {shortened(game)} is not Gomoku, which is GM[4]")
        if square is None:
            raise SgfError(root.start, f"SZ[{shortened(size)}] is no size of a square board")
        try:
            return recorded_rules(int(square[1]), self._value(root, "RU"))
        except ValueError as error:
            raise SgfError(root.start, error) from error

    def _value(self, node: Node, name: str) -> str:
        """Return the first value of a property as text; nothing without the property."""
        for each in node.properties:
            if each.name == name:
                return unescaped(self._text[each.value_start : each.value_end])
        return ""

    def _result(self) -> tuple[Colour | None, Ending]:
        found, outcome = parse_result(self._value(self._root, "RE")), self._position.outcome()
        if found is not None:
            return found
        return (None, Ending.UNKNOWN) if outcome is None else (outcome.winner, Ending.BOARD)

    def record(self) -> GameRecord:
        """Return the game, after its last node."""
        root = self._root
        winner, ending = self._result()
        comments, times_ms, values, analyses = zip(*self._notes, strict=True)
        return GameRecord(
            self._position.rules,
            tuple(self._position.moves),
            winner,
            black=self._value(root, "PB"),
            white=self._value(root, "PW"),
            comments=comments[1:] if any(comments[1:]) else (),
            note=self._value(root, "GC"),
            date=self._value(root, "DT"),
            times_ms=tuple(map(int, times_ms[1:])) if all(map(_MILLISECONDS.fullmatch, times_ms[1:])) else (),
            ending=ending,
            values=values if any(value is not None for value in values) else (),
            analyses=analyses if any(analyses) else (),
            source=self._value(root, "SO"),
            opening=_opening(self._value(root, "ON")),
        )


def _opening(name: str) -> Opening:
    """Return the opening that `to_sgf` wrote; any other name of one says nothing about colours."""
    try:
        return Opening.parse(name)
    except ValueError:
        return FREE


def _number(text: str) -> float | None:
    return float(text) if _VALUE.fullmatch(text) else None


def _cell(point: str, size: int) -> Cell:
    letters = ascii_lowercase[:size]
    if len(point) != 2 or not set(point) <= set(letters):
        raise NotationError(f"{quoted(point)} is no point of a {size}x{size} board")
    column, row = map(letters.index, point)
    return (size - 1 - row) * size + column
