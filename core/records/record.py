"""Game records: the moves of a game, its players, and its ending."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from core.arguments import check_kind, member
from core.errors import BadDataError
from core.files.atomic import TooLargeError, read_bytes
from core.input_limits import MAX_GAMES_BYTES, quoted, shortened
from core.opening_rules import FREE, Opening
from core.position import Position, Termination
from core.rules import BLACK, WHITE, Cell, Colour, Rules, Variant, colour_name

OWN_NOTE = "Settings: "
"""Beginning of the note of a saved game of the board: the settings of its players follow as JSON."""


class RecordError(BadDataError, ValueError):
    """A file of games or openings cannot be read; the message gives the place and the reason."""


def read_file(path: Path) -> bytes:
    """Return the content of a file of games or openings. Raises `RecordError`."""
    try:
        return read_bytes(path, MAX_GAMES_BYTES)
    except TooLargeError as error:
        raise RecordError(str(error)) from error
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error


class Ending(StrEnum):
    """The ending of a game, with SGF's letter after `B+`.

    >>> gomoku.Record(gomoku.Rules(), [112], gomoku.WHITE, ending=gomoku.Ending.RESIGNATION).ending.name
    'RESIGNATION'
    """

    BOARD = ""
    """By the board; or without a winner drawn, by the board or as agreed."""
    TIME = "T"
    """The loser ran out of time."""
    FORFEIT = "F"
    """The loser could not go on: a crash, an illegal move."""
    RESIGNATION = "R"
    """The loser gave up."""
    UNKNOWN = "?"
    """The game was not over, or its record lacks the result; there is no winner."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """An analysis of a position as a record holds it."""

    analysis: str
    """Text that means something to its writer alone."""
    value: float
    """For Black, -1 to 1."""
    comment: str = ""


Annotations = Sequence[Annotation | None]
"""One a position of a game, [moves + 1]."""

_BY_THE_BOARD: Any = None
"""The default of an ending, which a record replaces when it is made."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game with its moves and its ending. Raises `ValueError` for a winner or an ending that there is not.

    >>> record = gomoku.Record(gomoku.Rules(), moves=[112, 127], black="Ann", white="Bob")
    >>> record.ending == gomoku.Ending.UNKNOWN
    True
    >>> drawn = gomoku.Record(gomoku.Rules(), moves=[112, 127], ending=gomoku.Ending.BOARD)
    """

    rules: Rules
    moves: Sequence[Cell]
    """Names such as `h8` become cells."""
    winner: Colour | None = None
    """None for a draw or an unknown result, and where the board decides."""
    black: str = ""
    white: str = ""
    comments: Sequence[str] = field(default=())
    """A comment a move, or none at all."""
    note: str = ""
    date: str = ""
    """The day of the game, in ISO format: 2026-11-20."""
    times_ms: Sequence[int] = ()
    """Milliseconds of each move, or none at all."""
    ending: Ending = _BY_THE_BOARD
    """The reason of the result if the board does not show it. Where it is not given, a game with a winner ends by the
    board, another one as its board says: with a winner, drawn, or `UNKNOWN` as long as it is not over."""
    values: Sequence[float | None] = ()
    """A value a position, for Black, -1 to 1, from the empty board to the one after the last move; None for no value.
    Or none at all."""
    analyses: Sequence[str] = ()
    """An analysis of each of these positions, as text that means something to its writer alone; or none at all."""
    source: str = ""
    """The name of the file from whose game this one branches off."""
    set_up: int = 0
    """Moves at the beginning that stand for stones which were set up: nobody has played them (`core.set_up`)."""
    opening: Opening = FREE
    """The opening rule and its choices; `black` is the side that began until the colours are chosen."""

    def __post_init__(self) -> None:
        check_kind("rules", self.rules, Rules, "Rules, such as Rules(15)")
        if self.winner not in (None, BLACK, WHITE):
            raise ValueError(f"the winner is None, {BLACK} or {WHITE}, not {self.winner!r}")
        moves: Any = self.moves
        if isinstance(moves, str) or any(isinstance(move, str) for move in moves):
            moves = Position.from_moves(self.rules, moves).moves
        object.__setattr__(self, "moves", moves)
        # Tuples: the moves of a position that goes on are not those of this game, and an array is not true or false.
        for name in ("moves", "comments", "times_ms", "values", "analyses"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.ending is not _BY_THE_BOARD:
            object.__setattr__(self, "ending", member("ending", self.ending, Ending))
            return
        ending, winner = Ending.BOARD, self.winner
        if winner is None:
            outcome = Position.from_moves(self.rules, self.moves).outcome()
            ending, winner = (Ending.UNKNOWN, None) if outcome is None else (Ending.BOARD, outcome.winner)
        object.__setattr__(self, "ending", ending)
        object.__setattr__(self, "winner", winner)

    @property
    def given(self) -> int:
        """Moves at the beginning that no side made for its own colour: set up, or placed by the opening rule."""
        return max(self.set_up, self.opening.stones)

    def positions(self) -> Iterator[Position]:
        """Yield the empty board and the position after each move: one object, which goes on from move to move."""
        position = Position(self.rules)
        yield position
        for move in self.moves:
            position.push(move, recorded=True)
            yield position


_WON = {Ending.BOARD: "", Ending.TIME: " on time", Ending.FORFEIT: " by forfeit", Ending.RESIGNATION: " by resignation"}


def won_text(record: GameRecord) -> str:
    """Return `white won by resignation` or `a draw`; nothing without a result."""
    if record.winner is not None:
        return f"{colour_name(record.winner)} won{_WON[record.ending]}"
    return "" if record.ending is Ending.UNKNOWN else "a draw"


def contradiction(record: GameRecord) -> str:
    """Return what the board of a game shows in contradiction to the result of its record; nothing if they agree.

    A draw may be agreed before the board is full, and a side may give up; then the board shows nothing.
    """
    position = Position.from_moves(record.rules, record.moves)
    outcome = position.outcome()
    if outcome is None or (record.ending is not Ending.UNKNOWN and outcome.winner == record.winner):
        return ""
    if outcome.termination is Termination.FOUL:
        return "renju forbids Black's last move"
    if outcome.winner is None:
        return "the board is full" if outcome.termination is Termination.FULL_BOARD else "Black has no legal move"
    return f"the board shows {position.in_a_row()} in a row of {colour_name(outcome.winner)}"


_NAMES = {
    Variant.STANDARD: "Standard",
    Variant.RENJU: "Renju",
    Variant.CARO: "Caro",
    Variant.CARO_EXACT: "Caro, exactly five",
}
"""The names of the variants of five in a row, as other programs write them; freestyle has none."""
_OURS = re.compile(r"(exactly )?([0-9]{1,3}) in a row")
"""The rules as `str(rules)` writes them, for freestyle and standard."""
_THEIRS = {
    Variant.FREESTYLE: r"(0|free.?style.*|gomoku|unlimited.*|fastgame.*|five or more.*)?",
    Variant.STANDARD: r"1|standard.*|exactly (five|5).*",
    Variant.RENJU: r"4|renju.*",
    Variant.CARO_EXACT: r"9|caro.*exact.*",
    Variant.CARO: r"8|caro.*|gomoku\+",
}
"""Names that other programs write, and the numbers of the Gomocup protocol."""
_RULE_NUMBERS = {"2": "continuous games"}
"""Other rules by their numbers in the Gomocup protocol."""


def over_here(text: str, position: Position) -> str:
    """Return a clause on moves after the end of a game: on the foul that ended it, or on other rules in its record.

    It completes the error of such a move, `the game is over`. `text`: the rules of the record.
    """
    outcome = position.outcome()
    if outcome is not None and outcome.termination is Termination.FOUL:
        return f": renju forbids Black's {position.name_of(position.moves[-1])} before it, which loses"
    if names_rules(text):
        return ""
    number = _RULE_NUMBERS.get(text.strip(), "")
    name = f"{shortened(text.strip())}, {number}" if number else quoted(text.strip())
    return f": {position.rules.connect} or more in a row win here, but this file has other rules ({name})"


def rules_text(rules: Rules) -> str:
    """Return the text that names rules in a record: `Standard`, or that of `str(rules)`."""
    is_five = rules.connect == Rules().connect
    return _NAMES[rules.variant] if is_five and rules.variant in _NAMES else str(rules)


def is_own_text(text: str) -> bool:
    """Return True for a text as `rules_text` writes it."""
    return " in a row" in text or text.strip() in _NAMES.values()


def _variant_of(text: str) -> Variant | None:
    """Return the variant that another program names, None for rules that are not played here."""
    return next((each for each, names in _THEIRS.items() if re.fullmatch(names, text.strip(), re.IGNORECASE)), None)


def names_rules(text: str) -> bool:
    """Return True for a text that names rules that are played here."""
    return bool(_OURS.match(text)) or _variant_of(text) is not None


def recorded_rules(size: int, text: str) -> Rules:
    """Return the rules of a record of `size`: those that `rules_text` wrote into `text`, or that other programs name.

    Without such a text five or more in a row win, or as many as fit. Raises `ValueError` for rules that are not
    supported.
    """
    if ours := _OURS.match(text):
        return Rules(size, int(ours[2]), Variant.STANDARD if ours[1] else Variant.FREESTYLE)
    return Rules(size, min(Rules().connect, size), _variant_of(text) or Variant.FREESTYLE)
