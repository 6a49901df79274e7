"""Games in SGF, game 4 (Gomoku), file format 4."""

import re
from collections.abc import Iterator

from core.limits import MAX_RECORDS, quoted, shortened
from core.notation import NotationError
from core.position import IllegalMoveError, Position
from core.records.lines import column_number, line_number
from core.records.record import Ending, GameRecord, RecordError, recorded_rules
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name

_TIME = "ET"
"""A private property, which SGF allows: the milliseconds of a move. SGF itself has only times left."""
_ANALYSIS = "GA"
"""A private property: the analysis of a position."""


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _point(cell: Cell, size: int) -> str:
    """Return SGF's name of a cell: letters of the column from the left and the row from the top."""
    row, column = divmod(cell, size)
    return chr(ord("a") + column) + chr(ord("a") + size - 1 - row)


def to_sgf(game: GameRecord) -> str:
    """Return the game as one SGF tree, with a newline at its end."""
    without_winner = "?" if game.ending is Ending.UNKNOWN else "0"
    result = without_winner if game.winner is None else ("B+" if game.winner == BLACK else "W+") + game.ending
    root = {"FF": "4", "GM": "4", "CA": "UTF-8", "AP": "gomoku", "SZ": str(game.rules.size), "RE": result}
    root |= {"RU": str(game.rules), "PB": game.black, "PW": game.white, "DT": game.date, "GC": game.note}
    nodes = ["".join(f"{key}[{_escape(value)}]" for key, value in root.items() if value) + _view(game, 0)]
    for ply, cell in enumerate(game.moves):
        comment = f"C[{_escape(game.comments[ply])}]" if ply < len(game.comments) and game.comments[ply] else ""
        time = f"{_TIME}[{game.times_ms[ply]}]" if game.times_ms else ""
        move = f"{'B' if ply % 2 == 0 else 'W'}[{_point(cell, game.rules.size)}]"
        nodes.append(f"{move}{time}{comment}{_view(game, ply + 1)}")
    return "(;" + "\n;".join(nodes) + ")\n"


def _view(game: GameRecord, ply: int) -> str:
    """Return the value and the analysis of the position after `ply` moves."""
    value = game.values[ply] if game.values else None
    analysis = game.analyses[ply] if game.analyses else ""
    return (f"V[{value:.4f}]" if value is not None else "") + (f"{_ANALYSIS}[{_escape(analysis)}]" if analysis else "")


_TOKEN = re.compile(
    r"""\s*+(?:
        ([A-Z]++)\s*+\[((?:[^\]\\]++|\\.)*+)\]  # a property and its first value
        |([();])
        |\[((?:[^\]\\]++|\\.)*+)\]  # another value
        |[A-Z]++  # a name without a value
    )""",
    re.DOTALL | re.VERBOSE,
)
"""Possessive (`*+`): it never goes back, so its time is linear and it keeps no positions to go back to."""
_PROPERTIES = frozenset(
    ("GM", "SZ", "RU", "RE", "PB", "PW", "GC", "DT", "B", "W", "C", "V", "AB", "AW", "AE", _TIME, _ANALYSIS)
)
"""The properties that are read."""
_SIZE = re.compile(r"([0-9]{1,3})(?::\1)?")
_MILLISECONDS = re.compile(r"[0-9]{1,10}")
_VALUE = re.compile(r"\s*([+-]?(?:0(?:\.[0-9]{1,9})?|1(?:\.0{1,9})?))\s*")
"""A value from -1 to 1. Programs for other games write points of another scale."""
_DRAW = re.compile(r"\s*(0|draw)\s*", re.IGNORECASE)
_RESULT = re.compile(r"\s*([BW])[a-z]*\s*\+\s*([TFR]?)", re.IGNORECASE)
"""`B+`, `W+12.5`, `B+R`, and words in their place: `White+Resign`."""


def parse_sgf(text: str, source: str = "SGF") -> list[GameRecord]:
    """Return the games of an SGF text, each by its main line. Raises `RecordError` with line and column.

    A game is freestyle from the empty board: setup stones and passes are refused. The connect length is that of
    `to_sgf`, five without it; without a result the board decides the winner. A result that is neither a win nor a draw
    (`Void`, `?`) is unknown.
    """
    try:
        return list(_games(text))
    except _SgfError as error:
        line, column = line_number(text, error.offset), column_number(text, error.offset)
        raise RecordError(f"{source}, line {line}, column {column}: {error}") from error


class _SgfError(ValueError):
    def __init__(self, offset: int, why: object) -> None:
        super().__init__(str(why))
        self.offset = offset


def _games(text: str) -> Iterator[GameRecord]:
    """Yield the game of each tree's main line. First children come first, so it ends at the tree's first `)`.

    A node is played as soon as it ends, so that nodes take no memory.
    """
    game = _Game()
    count, depth, on_main_line, name = 0, 0, True, ""
    offset, end = max(text.find("("), 0), len(text.rstrip())
    match_token = _TOKEN.match
    while offset < end:
        token = match_token(text, offset)
        if token is None:
            raise _SgfError(offset, "this is neither a node, nor a property, nor a closed value")
        kind, offset = token.lastindex, token.end()
        mark = token[3] if kind == 3 else ""
        if depth == 0 and mark != "(":
            raise _SgfError(_start(token), "a game starts with '(;'")
        if mark == "(":
            depth += 1
            name = ""
        elif mark == ")":
            name = ""
            if on_main_line:
                game.end_node()
                on_main_line = False
            depth -= 1
            if depth == 0:
                if not game.has_nodes:
                    raise _SgfError(_start(token), "the game has no node")
                count += 1
                if count > MAX_RECORDS:
                    raise _SgfError(_start(token), f"the limit of a file is {MAX_RECORDS:,} games")
                yield game.record()
                game, on_main_line = _Game(), True
        elif not on_main_line:
            continue
        elif mark:
            game.end_node()
            game.start_node(_start(token))
            name = ""
        elif not game.has_nodes:
            raise _SgfError(_start(token), "a property stands in a node, which starts with ';'")
        elif kind == 2:
            name = token[1]
            if name in _PROPERTIES:
                game.node.setdefault(name, token[2])
        elif kind is None:
            name = token[0].lstrip()
        elif not name:
            raise _SgfError(_start(token), "a value without the name of its property")
        elif name in _PROPERTIES:
            game.node.setdefault(name, token[4])
    if depth or end == 0:
        raise _SgfError(end, "the text ends inside a game" if depth else "there is no game here")


_ROOT = frozenset(("FF", "GM", "CA", "AP", "SZ", "RE", "RU", "PB", "PW", "DT", "GC"))
_MOVE = frozenset(("B", "W", "C", _TIME))


def unkept_content(text: str) -> str:
    """Return a name of something in a readable SGF text that its games do not keep; nothing if they keep all.

    These are variations, properties that are not read, and several values of one. So a file can be written anew without
    a loss, or not at all.
    """
    depth, node, offset = 0, 0, max(text.find("("), 0)
    while (token := _TOKEN.match(text, offset)) is not None:
        offset = token.end()
        name = token[1]
        if token[3] == "(":
            depth, node = depth + 1, 0
            if depth > 1:
                return "variations"
        elif token[3] == ")":
            depth -= 1
        elif token[3] == ";":
            node += 1
        elif token[4] is not None:
            return "properties with several values"
        elif name is not None and name not in (_ROOT if node == 1 else _MOVE) | {"V", _ANALYSIS}:
            return f"the property {shortened(name)}"
    return ""


def _start(token: re.Match[str]) -> int:
    """Return the offset of a token without the blanks before it."""
    return token.end() - len(token[0].lstrip())


class _Game:
    """The main line of a tree, played node by node."""

    def __init__(self) -> None:
        self.has_nodes = False
        self.node: dict[str, str] = {}
        """The properties of the current node with their first values."""
        self._offset = 0
        """The place of the current node."""
        self._root: dict[str, str] | None = None
        self._position = Position()
        self._comments: list[str] = []
        self._times_ms: list[str] = []
        self._values: list[float | None] = [None]
        self._analyses: list[str] = [""]

    def start_node(self, offset: int) -> None:
        """Start a node at `offset` of the text."""
        self.has_nodes = True
        self._offset = offset

    def end_node(self) -> None:
        """Play the move of the current node, if there is one. Raises `_SgfError`."""
        node = self.node
        if self._root is None:
            if not self.has_nodes:
                return
            self._root = node
            self._position = Position(self._rules(node))
        if not node:
            return
        self.node = {}
        if not node.keys().isdisjoint(("AB", "AW", "AE")):
            raise _SgfError(self._offset, "the game does not start from the empty board, but with stones set up")
        moves = [node[colour] for colour in "BW" if colour in node]
        if not moves:
            if node is self._root:
                self._values[0], self._analyses[0] = _value(node.get("V", "")), _text(node.get(_ANALYSIS, ""))
            return
        position = self._position
        if len(moves) > 1 or ("B" in node) != (position.side_to_move == BLACK):
            raise _SgfError(self._offset, f"it is {colour_name(position.side_to_move)}'s turn")
        try:
            position.push(_cell(moves[0], position.rules.size))
        except (NotationError, IllegalMoveError) as error:
            raise _SgfError(self._offset, error) from error
        self._comments.append(_text(node.get("C", "")))
        self._times_ms.append(node.get(_TIME, ""))
        self._values.append(_value(node.get("V", "")))
        self._analyses.append(_text(node.get(_ANALYSIS, "")))

    def _rules(self, root: dict[str, str]) -> Rules:
        size = root.get("SZ", str(Rules().size))
        square = _SIZE.fullmatch(size)
        if root.get("GM") != "4":
            raise _SgfError(self._offset, f"game {shortened(root.get('GM', '1'))} is not Gomoku, which is GM[4]")
        if square is None:
            raise _SgfError(self._offset, f"SZ[{shortened(size)}] is no size of a square board")
        try:
            return recorded_rules(int(square[1]), root.get("RU", ""))
        except ValueError as error:
            raise _SgfError(self._offset, error) from error

    def record(self) -> GameRecord:
        """Return the game, after its last node."""
        assert self._root is not None
        root, outcome = self._root, self._position.outcome()
        winner, ending = _result(root.get("RE", ""))
        if "RE" not in root and outcome is not None:
            winner, ending = outcome.winner, Ending.BOARD
        return GameRecord(
            self._position.rules,
            tuple(self._position.moves),
            winner,
            black=_text(root.get("PB", "")),
            white=_text(root.get("PW", "")),
            comments=tuple(self._comments) if any(self._comments) else (),
            note=_text(root.get("GC", "")),
            date=_text(root.get("DT", "")),
            times_ms=tuple(map(int, self._times_ms)) if all(map(_MILLISECONDS.fullmatch, self._times_ms)) else (),
            ending=ending,
            values=tuple(self._values) if any(value is not None for value in self._values) else (),
            analyses=tuple(self._analyses) if any(self._analyses) else (),
        )


def _value(text: str) -> float | None:
    match = _VALUE.fullmatch(text)
    return float(match[1]) if match is not None else None


def _result(text: str) -> tuple[Colour | None, Ending]:
    match = _RESULT.match(text)
    if match is None:
        return None, Ending.BOARD if _DRAW.fullmatch(text) else Ending.UNKNOWN
    return (BLACK if match[1] in "Bb" else WHITE), Ending(match[2].upper())


def _cell(point: str, size: int) -> Cell:
    column, row = (ord(letter) - ord("a") for letter in point) if len(point) == 2 else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        raise NotationError(f"{quoted(point)} is no point of a {size}x{size} board")
    return (size - 1 - row) * size + column


_BACKSLASH = "\ud800"
"""A backslash for the time of the conversion: half a surrogate pair, which no file can hold."""


def _text(value: str) -> str:
    """Return a value without escapes: a backslash keeps the character after it, and joins lines at a line's end."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" not in value:
        return value
    return value.replace("\\\\", _BACKSLASH).replace("\\\n", "").replace("\\", "").replace(_BACKSLASH, "\\")
