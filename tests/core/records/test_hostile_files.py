"""Files that cost their readers memory or time: read in a few times their size, or refused with a limit."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from core.input_limits import MAX_GAMES_BYTES, MAX_RECORDS
from core.position import Position
from core.records import openings, psq, sgf_nodes
from core.records.formats import read_games
from core.records.openings import parse_openings, read_openings
from core.records.psq import parse_psq
from core.records.record import RecordError
from core.records.sgf import parse_sgf
from core.rules import Rules

SIZE = 20_000


def sgf_of(text: str) -> str:
    return f"(;GM[4]{text})"


def psq_of(text: str) -> str:
    return f"Piskvorky 9x9, 0:0, 0\n{text}"


def read_list(text: str) -> object:
    return parse_openings(text, Rules())


HOSTILE: list[tuple[str, Callable[[str], object], str]] = [
    ("a long comment", parse_sgf, sgf_of(f"C[{'x' * SIZE}]")),
    ("escapes", parse_sgf, sgf_of("GC[" + "\\x" * (SIZE // 2) + "]")),
    ("escaped backslashes", parse_sgf, sgf_of("GC[" + "\\\\ab" * (SIZE // 4) + "]")),
    ("line ends", parse_sgf, sgf_of(f"C[{chr(13) * SIZE}]")),
    ("empty nodes", parse_sgf, sgf_of(";" * SIZE)),
    ("nodes without moves", parse_sgf, sgf_of(";C[]" * (SIZE // 4))),
    ("values", parse_sgf, sgf_of("C" + "[]" * (SIZE // 2))),
    ("names", parse_sgf, sgf_of("A " * (SIZE // 2))),
    ("variations", parse_sgf, sgf_of("(;" * (SIZE // 2) + ")" * (SIZE // 2))),
    ("open brackets", parse_sgf, sgf_of("(" * SIZE)),
    ("an open value", parse_sgf, sgf_of("C[" + "\\]" * (SIZE // 2))),
    ("a long size", parse_sgf, sgf_of(f"SZ[{'9' * SIZE}]")),
    ("a long game", parse_sgf, f"(;GM[{'4' * SIZE}])"),
    ("a long move", parse_sgf, sgf_of(f";B[{'h' * SIZE}]")),
    ("blank lines", parse_psq, "\n" * SIZE),
    ("blank lines of a game", parse_psq, psq_of("\n" * SIZE)),
    ("lines after a game", parse_psq, psq_of("a\nb\n0\n" + "x\n" * (SIZE // 2))),
    ("a long number", parse_psq, psq_of("1" * SIZE)),
    ("a long code", parse_psq, psq_of(f"a\nb\n{'1' * SIZE}")),
    ("moves beyond the board", parse_psq, psq_of("1,1,0\n" * (SIZE // 6))),
    ("blanks after a header's name", parse_psq, "Piskvorky" + " " * SIZE),
    ("an opening of one word", read_list, "a" * SIZE),
    ("an opening of commas", read_list, "0" + "," * SIZE),
    ("an opening of one offset", read_list, "0," * (SIZE // 2)),
    ("an opening of one cell", read_list, "a1 " * (SIZE // 3)),
    ("no opening", read_list, "\n" * SIZE),
    ("separators of Unicode", read_list, "\u2028" * SIZE),
]


@pytest.mark.parametrize(("read", "text"), [case[1:] for case in HOSTILE], ids=[case[0] for case in HOSTILE])
def test_a_hostile_text_takes_little_memory_and_its_error_is_short(read: Callable[[str], object], text: str) -> None:
    Position().push(0)  # compiles
    tracemalloc.start()
    try:
        read(text)
    except RecordError as error:
        assert len(str(error)) < 400
        assert str(error).isprintable()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 10 * len(text) + 200_000


@pytest.mark.parametrize(
    ("read", "text"), [(parse_sgf, "(;GM[4])" * 4), (parse_psq, "Piskvorky 9x9\n" * 4), (read_list, "h8\n" * 4)]
)
def test_a_file_holds_a_limited_number_of_games(
    read: Callable[[str], object], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sgf_nodes, psq, openings):
        monkeypatch.setattr(module, "MAX_RECORDS", 4)
    read(text)
    for module in (sgf_nodes, psq, openings):
        monkeypatch.setattr(module, "MAX_RECORDS", 3)
    with pytest.raises(RecordError, match=r"line \d+.*: the limit of a file is 3 "):
        read(text)
    assert MAX_RECORDS >= 100_000


@pytest.mark.parametrize("name", ["games.sgf", "games.psq", "openings.txt"])
def test_a_file_above_the_limit_is_refused_unread(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(MAX_GAMES_BYTES + 1)  # a hole, which takes no room
    with pytest.raises(RecordError, match=r"67,108,865 bytes; the limit of such files is 67,108,864 bytes"):
        read_openings(path, Rules()) if name.endswith("txt") else read_games(path)


@pytest.mark.parametrize("charset", ["punycode", "idna", "utf-7", "unicode_escape", "raw_unicode_escape", "zlib", "os"])
def test_only_charsets_of_texts_are_used(charset: str, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(f"(;CA[{charset}]GM[4]PB[a-\\\\u0041+AGE-b];B[hh])".encode())
    (game,) = read_games(path)
    assert game.black == "a-\\u0041+AGE-b", "read as Latin-1 or UTF-8"
