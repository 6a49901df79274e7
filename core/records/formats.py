"""Game files: read and written in the format that their suffix names."""

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
"""Suffixes of game files."""


def is_game_file(path: Path) -> bool:
    """Return True if the path has the suffix of a game file."""
    return path.suffix.lower() in SUFFIXES


def read_games(path: Path) -> list[GameRecord]:
    """Return the games of an .sgf or .psq file. Raises `RecordError` for an unreadable file and one without games."""
    parse, _ = _format(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error
    return parse(_decoded(data, path), str(path))


def write_games(path: Path, games: Iterable[GameRecord]) -> None:
    """Write the games to an .sgf or .psq file, whole or not at all. Raises `RecordError` for another suffix."""
    _, write = _format(path)
    text = "".join(map(write, games))
    with atomic_path(path) as temporary:
        # Names from a command line may hold bytes that are no text; the games are worth more than these.
        temporary.write_bytes(text.encode(errors="replace"))


def _format(path: Path) -> tuple[_Parse, _Write]:
    if not is_game_file(path):
        raise RecordError(f"{path} is no file of games: its name ends neither in {' nor in '.join(SUFFIXES)}")
    return (parse_sgf, to_sgf) if path.suffix.lower() == ".sgf" else (parse_psq, to_psq)


_CHARSET = re.compile(rb"CA\s*\[\s*([\w.:-]+)\s*\]")


def _decoded(data: bytes, path: Path) -> str:
    """Return the text of a file: in the charset of its SGF property, else in UTF-8, else in Latin-1."""
    named = None if data.startswith(codecs.BOM_UTF8) else _CHARSET.search(data)
    try:
        return data.decode(named[1].decode() if named else "utf-8-sig")
    except UnicodeDecodeError as error:
        if named:
            line = data.count(b"\n", 0, error.start) + 1
            raise RecordError(f"{path}, line {line}: this is no text in {named[1].decode()}") from error
    except (LookupError, UnicodeError):
        pass  # an unknown charset
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
