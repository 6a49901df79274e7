"""Games in SGF, game 4 (Gomoku), file format 4."""

import re
from collections.abc import Iterator

from core.notation import NotationError
from core.position import IllegalMoveError, Position
from core.records.record import Ending, GameRecord, RecordError, recorded_rules
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name

_TIME = "ET"
"""A private property, which SGF allows: the milliseconds of a move. SGF itself has only times left."""


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
    nodes = ["".join(f"{key}[{_escape(value)}]" for key, value in root.items() if value)]
    for ply, cell in enumerate(game.moves):
        comment = f"C[{_escape(game.comments[ply])}]" if ply < len(game.comments) and game.comments[ply] else ""
        time = f"{_TIME}[{game.times_ms[ply]}]" if game.times_ms else ""
        nodes.append(f"{'B' if ply % 2 == 0 else 'W'}[{_point(cell, game.rules.size)}]{time}{comment}")
    return "(;" + "\n;".join(nodes) + ")\n"


_Node = tuple[int, dict[str, str]]
"""A node of an SGF tree: its offset in the text, and its properties with their (first) values."""

_TOKEN = re.compile(r"\s*(?:([();])|([A-Z]+)|\[((?:[^\]\\]|\\.)*)\])", re.DOTALL)
_SIZE = re.compile(r"([0-9]{1,3})(?::\1)?")
_MILLISECONDS = re.compile(r"[0-9]{1,9}")
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
        return [_record(nodes) for nodes in _main_lines(text)]
    except _SgfError as error:
        line, column = text.count("\n", 0, error.offset) + 1, error.offset - text.rfind("\n", 0, error.offset)
        raise RecordError(f"{source}, line {line}, column {column}: {error}") from error


class _SgfError(ValueError):
    def __init__(self, offset: int, why: object) -> None:
        super().__init__(str(why))
        self.offset = offset


def _main_lines(text: str) -> Iterator[list[_Node]]:
    """Yield the nodes of each tree's main line. First children come first, so it ends at the tree's first `)`."""
    nodes: list[_Node] = []
    depth, on_main_line, name = 0, True, ""
    offset, end = max(text.find("("), 0), len(text.rstrip())
    while offset < end:
        token = _TOKEN.match(text, offset)
        if token is None:
            raise _SgfError(offset, "this is neither a node, nor a property, nor a closed value")
        start, offset = token.start(token.lastindex or 0), token.end()
        mark, letters, value = token.groups()
        if depth == 0 and mark != "(":
            raise _SgfError(start, "a game starts with '(;'")
        if mark == "(":
            depth += 1
        elif mark == ")":
            depth, on_main_line = depth - 1, False
            if depth == 0:
                if not nodes:
                    raise _SgfError(start, "the game has no node")
                yield nodes
                nodes, on_main_line = [], True
        elif on_main_line:
            if mark == ";":
                nodes.append((start, {}))
            elif not nodes:
                raise _SgfError(start, "a property stands in a node, which starts with ';'")
            elif value is None:
                name = letters
            elif not name:
                raise _SgfError(start, "a value without the name of its property")
            else:
                nodes[-1][1].setdefault(name, value)
        if mark:
            name = ""
    if depth or end == 0:
        raise _SgfError(end, "the text ends inside a game" if depth else "there is no game here")


def _record(nodes: list[_Node]) -> GameRecord:
    offset, root = nodes[0]
    size = root.get("SZ", str(Rules().size))
    square = _SIZE.fullmatch(size)
    if root.get("GM") != "4":
        raise _SgfError(offset, f"game {root.get('GM', '1')} is not Gomoku, which is GM[4]")
    if square is None:
        raise _SgfError(offset, f"SZ[{size}] is no size of a square board")
    try:
        position = Position(recorded_rules(int(square[1]), root.get("RU", "")))
    except ValueError as error:
        raise _SgfError(offset, error) from error
    comments, times_ms = [], []
    for offset, node in nodes:
        if not node.keys().isdisjoint(("AB", "AW", "AE")):
            raise _SgfError(offset, "the game does not start from the empty board, but with stones set up")
        moves = [node[colour] for colour in "BW" if colour in node]
        if not moves:
            continue
        if len(moves) > 1 or ("B" in node) != (position.side_to_move == BLACK):
            raise _SgfError(offset, f"it is {colour_name(position.side_to_move)}'s turn")
        try:
            position.push(_cell(moves[0], position.rules.size))
        except (NotationError, IllegalMoveError) as error:
            raise _SgfError(offset, error) from error
        comments.append(_text(node.get("C", "")))
        times_ms.append(node.get(_TIME, ""))
    outcome = position.outcome()
    winner, ending = _result(root.get("RE", ""))
    if "RE" not in root and outcome is not None:
        winner, ending = outcome.winner, Ending.BOARD
    return GameRecord(
        position.rules,
        tuple(position.moves),
        winner,
        black=_text(root.get("PB", "")),
        white=_text(root.get("PW", "")),
        comments=tuple(comments) if any(comments) else (),
        note=_text(root.get("GC", "")),
        date=_text(root.get("DT", "")),
        times_ms=tuple(map(int, times_ms)) if all(map(_MILLISECONDS.fullmatch, times_ms)) else (),
        ending=ending,
    )


def _result(text: str) -> tuple[Colour | None, Ending]:
    match = _RESULT.match(text)
    if match is None:
        return None, Ending.BOARD if _DRAW.fullmatch(text) else Ending.UNKNOWN
    return (BLACK if match[1] in "Bb" else WHITE), Ending(match[2].upper())


def _cell(point: str, size: int) -> Cell:
    column, row = (ord(letter) - ord("a") for letter in point) if len(point) == 2 else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        raise NotationError(f"{point!r} is no point of a {size}x{size} board")
    return (size - 1 - row) * size + column


def _text(value: str) -> str:
    """Return a value without escapes: a backslash keeps the character after it, and joins lines at a line's end."""
    return re.sub(r"\\(\n|.)", lambda escaped: escaped[1].strip("\n"), re.sub("\r\n?", "\n", value), flags=re.DOTALL)
