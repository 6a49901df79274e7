"""Games as they were played, and files of them."""

import codecs
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.files import atomic_path
from core.rules import Cell, Colour, Rules


class RecordError(ValueError):
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


_Parse = Callable[[str, str], list[GameRecord]]
_Write = Callable[[GameRecord], str]

SUFFIXES = (".sgf", ".psq")
"""How the names of files of games end."""


def is_game_file(path: Path) -> bool:
    """Whether the name's ending is that of a file of games."""
    return path.suffix.lower() in SUFFIXES


def read_games(path: Path) -> list[GameRecord]:
    """The games of an .sgf or .psq file. Raises `RecordError` for what cannot be read, or a file without any."""
    parse, _ = _format(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    return parse(_decoded(data, path), str(path))


def write_games(path: Path, games: Iterable[GameRecord]) -> None:
    """Writes the games to an .sgf or .psq file, whole or not at all. Raises `RecordError` for another ending."""
    _, write = _format(path)
    text = "".join(map(write, games))
    with atomic_path(path) as temporary:
        # Names may hold what the system could not decode on a command line: no reason to lose the games.
        temporary.write_bytes(text.encode(errors="replace"))


def _format(path: Path) -> tuple[_Parse, _Write]:
    # Imported here, because both make `GameRecord`s.
    from core.psq import parse_psq, to_psq
    from core.sgf import parse_sgf, to_sgf

    if not is_game_file(path):
        raise RecordError(f"{path} is no file of games: its name ends neither in {' nor in '.join(SUFFIXES)}")
    return (parse_sgf, to_sgf) if path.suffix.lower() == ".sgf" else (parse_psq, to_psq)


_CHARSET = re.compile(rb"CA\s*\[\s*([\w.:-]+)\s*\]")


def _decoded(data: bytes, path: Path) -> str:
    """The text of a file: in the charset that it names as SGF does, else in UTF-8, else in Latin-1."""
    named = None if data.startswith(codecs.BOM_UTF8) else _CHARSET.search(data)
    try:
        return data.decode(named[1].decode() if named else "utf-8-sig")
    except UnicodeDecodeError as error:
        if named:
            line = data.count(b"\n", 0, error.start) + 1
            raise RecordError(f"{path}, line {line}: this is no text in {named[1].decode()}") from error
    except (LookupError, UnicodeError):
        pass  # a name that is no charset's
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
