"""Charsets of game files: by every name that they have, and the likely one where none is named."""

from pathlib import Path

import pytest

from core.records.charsets import likely_charset
from core.records.formats import open_games, read_games
from core.records.record import RecordError
from tests.support.cases import cases


@pytest.mark.parametrize(
    ("codec", "text", "name"), [(codec, text, name) for codec, text, names in cases("charsets") for name in names]
)
def test_a_charset_is_known_by_its_registered_names_and_common_ones(
    codec: str, text: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(f"(;CA[{name}]GM[4]PB[{text}]PW[b];B[hh];W[hg])".encode(codec))
    file = open_games(path)
    assert (file.games[0].black, file.games[0].white, file.remark) == (text, "b", "")


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_the_forms_of_unicode_are_seen(codec: str, tmp_path: Path) -> None:
    for name, text in (
        ("game.sgf", "(;GM[4]PB[Łukasz 碁];B[hh];W[hg])"),
        ("game.psq", "Piskvorky 15x15, 0:0, 0\n8,8,0\n8,9,0\nŁukasz 碁\nb\n0\n"),
    ):
        (tmp_path / name).write_bytes(text.replace("(;GM", "(;CA[gb2312]GM").encode(codec))
        (game,) = read_games(tmp_path / name)
        assert (game.black, len(game.moves)) == ("Łukasz 碁", 2)


@pytest.mark.parametrize(("codec", "label", "names"), cases("charsets_guessed"))
def test_a_charset_that_is_not_named_is_guessed_and_named(
    codec: str, label: str, names: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "game.sgf"
    for name in names:
        path.write_bytes(f"(;GM[4]SZ[15]PB[{name}]PW[b];B[hh];W[hg])".encode(codec))
        file = open_games(path)
        assert file.games[0].black == name
        assert label in file.remark and str(path) in file.remark


def test_a_charset_that_is_not_known_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes("(;CA[klingon]GM[4]PB[Jörg];B[hh])".encode("latin-1"))
    assert "CA[klingon] is no charset that is known here" in open_games(path).remark
    path.write_bytes(b"(;CA[klingon]GM[4]PB[a];B[hh])")
    assert open_games(path).remark == ""


def test_a_wrong_charset_is_refused_with_the_likely_one(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes("(;CA[UTF-8]GM[4]PB[张三李四];B[hh])".encode("gb18030"))
    with pytest.raises(RecordError, match="line 1: this is no text in UTF-8; it may be GB18030"):
        read_games(path)


def test_games_of_several_charsets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "games.sgf"
    game = "(;CA[{}]GM[4]PB[{}];B[hh])"
    path.write_bytes(game.format("UTF-8", "é").encode() + game.format("GBK", "张").encode("gb18030"))
    with pytest.raises(RecordError, match="several charsets, UTF-8 and GBK: split the file"):
        read_games(path)
    path.write_bytes((game.format("UTF-8", "é") + game.format("utf8", "张")).encode())
    assert [each.black for each in read_games(path)] == ["é", "张"]


def test_a_guess_does_not_swallow_the_end_of_a_value() -> None:
    assert likely_charset("(;RE[½]PL[B]GM[4]PB[é])".encode("cp1252"))[1].startswith("Windows-125")
