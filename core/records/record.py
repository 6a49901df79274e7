"""Game records: the moves of a game, its players, and its ending."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.errors import BadDataError
from core.rules import Cell, Colour, Rules


class RecordError(BadDataError, ValueError):
    """A file of games or openings cannot be read; the message gives the place and the reason."""


class Ending(StrEnum):
    """The ending of a game, with SGF's letter after `B+`."""

    BOARD = ""
    """By the board, or without a result."""
    TIME = "T"
    """The loser ran out of time."""
    FORFEIT = "F"
    """The loser could not go on: a crash, an illegal move."""
    RESIGNATION = "R"
    """The loser gave up."""
    UNKNOWN = "?"
    """The game was not over, or its record lacks the result; there is no winner."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game with its moves and its ending."""

    rules: Rules
    moves: Sequence[Cell]
    winner: Colour | None = None
    """None for a draw or an unknown result."""
    black: str = ""
    white: str = ""
    comments: Sequence[str] = field(default=())
    """A comment a move, or none at all."""
    note: str = ""
    date: str = ""
    """The day of the game, in ISO format: 2026-11-20."""
    times_ms: Sequence[int] = ()
    """Milliseconds of each move, or none at all."""
    ending: Ending = Ending.BOARD
    """The reason of the result if the board does not show it."""
    values: Sequence[float | None] = ()
    """A value a position, for Black, -1 to 1, from the empty board to the one after the last move; None for no value.
    Or none at all."""
    analyses: Sequence[str] = ()
    """An analysis of each of these positions, as text that means something to its writer alone; or none at all."""


_CONNECT = re.compile(r"([0-9]{1,3}) in a row")


def recorded_rules(size: int, text: str) -> Rules:
    """Return the rules of a record of `size`, with the connect length that `str(rules)` wrote into `text`.

    Without such a text five in a row win, or as many as fit. Raises `ValueError` for rules that are not supported.
    """
    connect = _CONNECT.match(text)
    return Rules(size, int(connect[1]) if connect else min(Rules().connect, size))
