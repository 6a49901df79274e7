"""Game files: read and written in the format that their suffix names."""

import codecs
import re
from collections.abc import Callable, Iterable
from encodings import normalize_encoding
from encodings.aliases import aliases
from pathlib import Path

from core.files.atomic import TooLargeError, atomic_path, read_bytes
from core.limits import MAX_GAMES_BYTES
from core.records import sgf
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
    return parse(_read_text(path), str(path))


def unkept_content(path: Path) -> str:
    """Return a name of something in a readable game file that `write_games` would lose; nothing if it keeps all.

    Raises `RecordError`.
    """
    return sgf.unkept_content(_read_text(path)) if path.suffix.lower() == ".sgf" else ""


def _read_text(path: Path) -> str:
    try:
        return _decoded(read_bytes(path, MAX_GAMES_BYTES), path)
    except TooLargeError as error:
        raise RecordError(str(error)) from error
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error


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


_CHARSET = re.compile(rb"CA\s*+\[\s*+([\w.:-]{1,40}+)\s*+\]")
_NAMES = """
    ascii utf_8 latin_1 iso8859_2 iso8859_3 iso8859_4 iso8859_5 iso8859_6 iso8859_7 iso8859_8 iso8859_9 iso8859_10
    iso8859_13 iso8859_14 iso8859_15 iso8859_16 cp437 cp850 cp852 cp866 cp874 cp932 cp949 cp950 cp1250 cp1251 cp1252
    cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8_r koi8_u mac_roman tis_620 shift_jis euc_jp euc_kr gb2312 gbk gb18030
    big5 big5hkscs
"""
_KNOWN = frozenset(_NAMES.split())
"""Charsets that a file may name, as Python calls them. Python also has codecs that take very long, and no charsets."""


def _decoded(data: bytes, path: Path) -> str:
    """Return the text of a file: in the charset of its SGF property, else in UTF-8, else in Latin-1."""
    named = None if data.startswith(codecs.BOM_UTF8) else _CHARSET.search(data)
    name = named[1].decode("ascii") if named else ""
    charset = normalize_encoding(name).lower()
    charset = aliases.get(charset, charset)
    if charset in _KNOWN:
        try:
            return data.decode(charset)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise RecordError(f"{path}, line {line}: this is no text in {name}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
