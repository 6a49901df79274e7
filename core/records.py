"""Games and openings as text: SGF (game 4, Gomoku) and opening files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.notation import NotationError, parse_cell
from core.position import IllegalMoveError, Position
from core.rules import BLACK, WHITE, Cell, Colour, Rules, colour_name


class RecordError(ValueError):
    """A file of games or openings that cannot be read; says where and why."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game as it was played."""

    rules: Rules
    moves: Sequence[Cell]
    winner: Colour | None = None
    """None for a draw."""
    black: str = ""
    white: str = ""
    comments: Sequence[str] = field(default=())
    """One a move, or none at all."""
    note: str = ""


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")


def _point(cell: Cell, size: int) -> str:
    """SGF counts columns from the left and rows from the top, both as letters."""
    row, column = divmod(cell, size)
    return chr(ord("a") + column) + chr(ord("a") + size - 1 - row)


def to_sgf(game: GameRecord) -> str:
    """The game as one SGF tree, with a newline at its end."""
    result = "0" if game.winner is None else ("B+" if game.winner == BLACK else "W+")
    root = {"FF": "4", "GM": "4", "CA": "UTF-8", "AP": "gomoku", "SZ": str(game.rules.size), "RE": result}
    root |= {"RU": str(game.rules), "PB": game.black, "PW": game.white, "GC": game.note}
    nodes = ["".join(f"{key}[{_escape(value)}]" for key, value in root.items() if value)]
    for ply, cell in enumerate(game.moves):
        comment = f"C[{_escape(game.comments[ply])}]" if ply < len(game.comments) and game.comments[ply] else ""
        nodes.append(f"{'B' if ply % 2 == 0 else 'W'}[{_point(cell, game.rules.size)}]{comment}")
    return "(;" + "\n;".join(nodes) + ")\n"


_Node = tuple[int, dict[str, str]]
"""A node of an SGF tree: where it starts in the text, and its properties with their (first) values."""

_TOKEN = re.compile(r"\s*(?:([();])|([A-Z]+)|\[((?:[^\]\\]|\\.)*)\])", re.DOTALL)
_CONNECT = re.compile(r"([0-9]+) in a row")


def parse_sgf(text: str, source: str = "SGF") -> list[GameRecord]:
    """The games of an SGF text, each by its main line. Raises `RecordError` naming line and column.

    A game is read as freestyle from the empty board: setup stones and passes are refused. The connect length is the one
    that `to_sgf` writes, five without it; a winner that is not written is the one on the board.
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
    """The nodes of each tree's main line. First children come first, so it is over at the tree's first `)`."""
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
    size, connect = root.get("SZ", str(Rules().size)), _CONNECT.match(root.get("RU", ""))
    if root.get("GM") != "4":
        raise _SgfError(offset, f"game {root.get('GM', '1')} is not Gomoku, which is GM[4]")
    if not size.isdecimal():
        raise _SgfError(offset, f"SZ[{size}] is no size of a square board")
    try:
        position = Position(Rules(int(size), int(connect[1]) if connect else min(Rules().connect, int(size))))
    except ValueError as error:
        raise _SgfError(offset, error) from error
    comments = []
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
    outcome = position.outcome()
    winner = {"B+": BLACK, "W+": WHITE}.get(root.get("RE", "")[:2])
    if "RE" not in root and outcome is not None:
        winner = outcome.winner
    black, white, note = (_text(root.get(name, "")) for name in ("PB", "PW", "GC"))
    remarks = tuple(comments) if any(comments) else ()
    return GameRecord(position.rules, tuple(position.moves), winner, black, white, remarks, note)


def _cell(point: str, size: int) -> Cell:
    column, row = (ord(letter) - ord("a") for letter in point) if len(point) == 2 else (-1, -1)
    if not (0 <= column < size and 0 <= row < size):
        raise NotationError(f"{point!r} is no point of a {size}x{size} board")
    return (size - 1 - row) * size + column


def _text(value: str) -> str:
    """A value as it was meant: a backslash keeps the character after it, and joins two lines at a line's end."""
    return re.sub(r"\\(\n|.)", lambda escaped: escaped[1].strip("\n"), value.replace("\r\n", "\n"), flags=re.DOTALL)


def parse_openings(lines: Iterable[str], rules: Rules, source: str = "openings") -> list[tuple[Cell, ...]]:
    """Openings, one a line as `h8 i9 g7`, black first; `#` starts a comment. Raises `RecordError` naming the line."""
    openings = []
    for number, line in enumerate(lines, start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            position = Position.from_moves(rules, (parse_cell(word, rules.size) for word in words))
        except (NotationError, IllegalMoveError) as error:
            raise RecordError(f"{source}, line {number}: {error}") from error
        if position.is_game_over():
            raise RecordError(f"{source}, line {number}: the opening already ends the game")
        openings.append(tuple(position.moves))
    return openings


def read_openings(path: Path, rules: Rules) -> list[tuple[Cell, ...]]:
    """The openings of a file. Raises `RecordError` for what cannot be read, or a file without any."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecordError(f"{path} is no text in UTF-8") from error
    openings = parse_openings(text.splitlines(), rules, str(path))
    if not openings:
        raise RecordError(f"{path} holds no opening")
    return openings
