"""Files of games: read and written by the ending of their names."""

import codecs
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from core.files import atomic_path
from core.records.psq import parse_psq, to_psq
from core.records.record import GameRecord, RecordError
from core.records.sgf import parse_sgf, to_sgf

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
