"""Games in Piskvork's .psq format, which Gomocup's tournament manager writes too.

A file holds one game: `Piskvorky 15x15, 0:0, 0` (size, strength of the two players, the one that begins), a line
`column,row,milliseconds` a move, counted from 1 at the top left, the names of the two players, and the code of the
ending. Gomocup's manager adds a line with the result and the tournament's name. Our files have such a line with the
result and the rules, for which the format has no other place; Piskvork stops reading at the names. Comments, note and
date are lost, and a resignation becomes a forfeit. Piskvork opens boards of 5 and more, and calls a game drawn once no
more than 25 cells are empty.
"""

import re
from collections.abc import Iterator

from core.input_limits import MAX_RECORDS, quoted
from core.notation import NotationError, parse_point, point_name
from core.position import IllegalMoveError, Position
from core.records.lines import PlacedError, filled_lines, line_number, with_line_feeds
from core.records.record import Ending, GameRecord, RecordError, is_own_text, over_here, recorded_rules, rules_text
from core.rules import BLACK, WHITE, Colour, Rules

_CODES = {Ending.BOARD: 0, Ending.TIME: 15, Ending.FORFEIT: -2, Ending.RESIGNATION: -2, Ending.UNKNOWN: 0}
_ENDINGS = {15: Ending.TIME, -2: Ending.FORFEIT}
"""Piskvork's codes of endings, in which the side to move loses."""
_GOMOCUP = -1
"""The code of every game of Gomocup's manager."""
_DRAWN_CELLS = 25
"""Empty cells with which Piskvork ends a game as drawn."""
_NAMELESS = ("homo-1", "homo-2")
"""Piskvork's names for people, since it skips empty lines."""
_WINNERS: tuple[Colour | None, ...] = (None, BLACK, WHITE)
"""Indexed by the first digit of the last line."""
_UNKNOWN = 3
"""That digit for an unknown result."""

_HEADER = re.compile(r"Piskvorky +([0-9]{1,4}) *x *([0-9]{1,4})(?: *, *[0-9]+ *: *[0-9]+ *, *([01]))?")
_MOVE = re.compile(r"[0-9]+ *, *[0-9]+( *, *-?[0-9]+)?")
_LIKE_A_MOVE = re.compile(r"[+-]?[0-9]+ *,")
_MILLISECONDS = re.compile(r" *-?[0-9]{1,10} *")
_CODE = re.compile(r"[+-]?[0-9]{1,9}")
_RESULT = re.compile(r"([0123]),(.*)")
_MAX_TAIL = 4
"""Lines with a meaning after the moves: two names, the code, the result."""


def to_psq(game: GameRecord) -> str:
    """Return the game in Piskvork's format, with a newline at its end."""
    size = game.rules.size
    times_ms = game.times_ms or [0] * len(game.moves)
    lines = [f"Piskvorky {size}x{size}, 0:0, 0"]
    lines += [f"{point_name(cell, size, 1)},{time}" for cell, time in zip(game.moves, times_ms, strict=True)]
    lines += [_name(game.black) or _NAMELESS[0], _name(game.white) or _NAMELESS[1], str(_CODES[game.ending])]
    result = _UNKNOWN if game.ending is Ending.UNKNOWN else _WINNERS.index(game.winner)
    lines.append(f"{result},{rules_text(game.rules)}")
    return "\n".join(lines) + "\n"


def _name(name: str) -> str:
    """Return the name on one line. A name that looks like a move to Piskvork gets the prefix of its engines."""
    line = " ".join(name.split())
    return f"pbrain-{line}" if re.match(r"[+-]?[0-9]|Piskvorky ", line) else line


def parse_psq(text: str, source: str = "psq") -> list[GameRecord]:
    """Return the games of a text, each from its header on. Raises `RecordError` with the line.

    The board decides the winner; without a winning line there, the code and the line after the names do. A game is
    freestyle, and five in a row without our line of rules. A game in which all times are 0 has none.
    """
    text = with_line_feeds(text.removeprefix("\ufeff").rstrip("\x1a\r\n\t "))  # ^Z ended files under DOS
    try:
        return list(_games(text))
    except PlacedError as error:
        raise RecordError(f"{source}, line {line_number(text, error.offset)}: {error}") from error


def unkept_lines(text: str) -> Iterator[str]:
    """Yield names of what a readable text says beyond its records: the players' strengths, the name of a tournament."""
    for _, line in filled_lines(with_line_feeds(text)):
        if (header := _HEADER.match(line)) is not None:
            if re.search(r"[1-9]", header[0].partition(",")[2].rpartition(",")[0]):
                yield "strengths"
        elif (
            (result := _RESULT.fullmatch(line)) is not None
            and result[2]
            and not (is_own_text(result[2]) or _MOVE.fullmatch(line))
        ):
            yield "tournament"


def _games(text: str) -> Iterator[GameRecord]:
    game, count = None, 0
    for offset, line in filled_lines(text):
        header = _HEADER.match(line)
        if header is not None:
            count += 1
            if count > MAX_RECORDS:
                raise PlacedError(offset, f"the limit of a file is {MAX_RECORDS:,} games")
            if game is not None:
                yield game.record()
            game = _Game(offset, header)
        elif game is None:
            raise PlacedError(offset, "a game starts with a line such as 'Piskvorky 15x15, 0:0, 0'")
        else:
            game.add(offset, line)
    if game is None:
        raise PlacedError(0, "there is no game here")
    yield game.record()


class _Game:
    """The lines of a game: its moves, and the few that count after them."""

    def __init__(self, offset: int, header: re.Match[str]) -> None:
        """Start the game of a header. Raises `PlacedError`."""
        self._offset = offset
        width, height = int(header[1]), int(header[2])
        if width != height:
            raise PlacedError(offset, f"a board of {width}x{height} is not square")
        self._starter = int(header[3] or 0)
        self._size = width
        self._max_moves = self._rules("").cells
        self._moves: list[tuple[int, str]] = []
        self._tail: list[str] = []
        """The lines after the moves, except those that have no meaning."""
        self._tail_offset = 0
        self._has_late_moves = False

    def add(self, offset: int, line: str) -> None:
        """Add a line. Raises `PlacedError` for more moves than the board has cells."""
        if not self._tail and _LIKE_A_MOVE.match(line):
            if len(self._moves) == self._max_moves:
                raise PlacedError(offset, f"the board of {self._size}x{self._size} is full")
            self._moves.append((offset, line))
            return
        if not self._tail:
            self._tail_offset = offset
        self._has_late_moves = self._has_late_moves or _MOVE.fullmatch(line) is not None
        if len(self._tail) < _MAX_TAIL:
            self._tail.append(line)

    def record(self) -> GameRecord:
        """Return the game, after its last line. Raises `PlacedError`."""
        tail = self._tail or ["0"]
        at_code = next((i for i, line in enumerate(tail) if _CODE.fullmatch(line)), None)
        if at_code not in (0, 2) or self._has_late_moves:
            why = f"{quoted(tail[0])} is no move, and after the moves come two players and a number"
            raise PlacedError(self._tail_offset, why)
        names = ["" if name in _NAMELESS else name for name in tail[:at_code]] or ["", ""]
        code = int(tail[at_code])
        result = _RESULT.fullmatch(tail[at_code + 1]) if at_code + 1 < len(tail) else None

        rules = result[2] if result else ""
        position = Position(self._rules(rules))
        times_ms = [_push(position, line, offset, rules) for offset, line in self._moves]
        winner, ending = _result(position, code, int(result[1]) if result else None)
        return GameRecord(
            position.rules,
            tuple(position.moves),
            winner,
            black=names[self._starter],
            white=names[1 - self._starter],
            times_ms=tuple(times_ms) if any(times_ms) else (),
            ending=ending,
        )

    def _rules(self, text: str) -> Rules:
        try:
            return recorded_rules(self._size, text)
        except ValueError as error:
            raise PlacedError(self._offset, error) from error


def _push(position: Position, line: str, offset: int, rules: str) -> int:
    """Play the move of a line and return its milliseconds. `rules`: what the record says about its rules."""
    point, _, time_ms = line.rpartition(",") if line.count(",") == 2 else (line, "", "0")
    if not _MILLISECONDS.fullmatch(time_ms):
        raise PlacedError(offset, f"{quoted(line)} is no move: it is written as column,row,milliseconds")
    try:
        position.push(parse_point(point, position.rules.size, 1), recorded=True)
    except (NotationError, IllegalMoveError) as error:
        why = over_here(rules, position) if position.is_game_over() else ""
        raise PlacedError(offset, f"{error}{why}") from error
    return max(0, int(time_ms))  # negative if a manager's clock was set back


def _result(position: Position, code: int, result: int | None) -> tuple[Colour | None, Ending]:
    """Return the winner and the ending. `result` is the digit of the last line, None without that line."""
    outcome = position.outcome()
    if outcome is not None:
        return outcome.winner, Ending.BOARD
    ending = _ENDINGS.get(code, Ending.BOARD)
    if code == _GOMOCUP:
        # There 1 and 2 are the players of the pairing, of either colour. The side to move forfeits.
        if result == 0:
            return None, Ending.BOARD
        if result is not None:
            return -position.side_to_move, Ending.FORFEIT
    if result is not None and result != _UNKNOWN:
        return _WINNERS[result], ending
    if ending is not Ending.BOARD:
        return -position.side_to_move, ending
    drawn = result is None and position.rules.cells > _DRAWN_CELLS >= position.rules.cells - position.ply
    return None, Ending.BOARD if drawn else Ending.UNKNOWN
