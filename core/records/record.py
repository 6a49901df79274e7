"""Game records: the moves of a game, its players, and how it ended."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from core.errors import BadDataError
from core.rules import Cell, Colour, Rules


class RecordError(BadDataError, ValueError):
    """A file of games or openings that cannot be read; says where and why."""


class Ending(StrEnum):
    """How a game came to its result. The letter is the one that SGF writes after `B+`."""

    BOARD = ""
    """By what stands on the board, or not at all."""
    TIME = "T"
    """The loser used more time than it had."""
    FORFEIT = "F"
    """The loser could not go on: a crash, an illegal move."""
    RESIGNATION = "R"
    UNKNOWN = "?"
    """It was not over, or its record does not say; nobody has won."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game as it was played."""

    rules: Rules
    moves: Sequence[Cell]
    winner: Colour | None = None
    """None for a draw, and where the result is not known."""
    black: str = ""
    white: str = ""
    comments: Sequence[str] = field(default=())
    """One a move, or none at all."""
    note: str = ""
    date: str = ""
    """The day it was played, in ISO format: 2026-11-20."""
    times_ms: Sequence[int] = ()
    """Milliseconds that each move took, one a move, or none at all."""
    ending: Ending = Ending.BOARD
    """Why `winner` won, where the board does not show it."""


_CONNECT = re.compile(r"([0-9]{1,3}) in a row")


def recorded_rules(size: int, text: str) -> Rules:
    """The rules of a record: of `size`, and of the length that `str(rules)` wrote into `text`.

    Where it says nothing five in a row win, or as many as fit. Raises `ValueError` for rules that cannot be played.
    """
    connect = _CONNECT.match(text)
    return Rules(size, int(connect[1]) if connect else min(Rules().connect, size))
