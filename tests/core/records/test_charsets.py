"""Charsets of game files: by every name that they have, and the likely one where none is named."""

from pathlib import Path

import pytest

from core.records.charsets import likely_charset
from core.records.formats import open_games, read_games
from core.records.record import RecordError
from tests.support.cases import cases

NAMES = {
    "cp932": (
        "高橋ソ①",
        ("Windows-31J", "windows-31j", "MS932", "CP932", "Shift_JIS", "x-sjis", "SJIS", "csShiftJIS", "MS_Kanji"),
    ),
    "gb18030": ("张三", ("GB2312", "gb_2312-80", "GBK", "x-gbk", "CP936", "ms936", "GB18030", "EUC-CN", "chinese")),
    "cp950": ("許功蓋", ("Big5", "BIG5-ETEN", "cp950", "csBig5", "x-x-big5")),
    "big5hkscs": ("許", ("Big5-HKSCS",)),
    "cp949": ("김철수", ("EUC-KR", "KS_C_5601-1987", "ks_c_5601-1989", "UHC", "CP949", "windows-949", "korean")),
    "euc_jp": ("田中", ("EUC-JP", "x-euc-jp", "eucJP")),
    "iso2022_jp": ("田中", ("ISO-2022-JP", "csISO2022JP")),
    "cp874": ("กขค", ("TIS-620", "windows-874", "ISO-8859-11")),
    "mac-roman": ("Jörg", ("macintosh", "x-mac-roman", "mac")),
    "mac-cyrillic": ("Иван", ("x-mac-cyrillic", "MacCyrillic")),
    "cp1251": ("Иван", ("windows-1251", "cp-1251", "x-cp1251", "CP1251", "win1251")),
    "koi8-r": ("Иван", ("KOI8-R", "csKOI8R")),
    "koi8-u": ("Ївга", ("KOI8-U", "koi8-ru")),
    "cp866": ("Иван", ("IBM866", "cp866", "866")),
    "cp1252": ("Jörg\u2019s", ("ISO-8859-1", "latin1", "iso_8859-1:1987", "windows-1252", "cp1252", "l1", "ANSI")),
    "iso8859-2": ("Łódź", ("ISO-8859-2", "latin2", "l2")),
    "iso8859-15": ("€uro", ("ISO-8859-15", "latin9", "csISOLatin9")),
    "hz": ("张三", ("HZ-GB-2312",)),
}


@pytest.mark.parametrize(("codec", "name"), [(codec, name) for codec, (_, names) in NAMES.items() for name in names])
def test_a_charset_is_known_by_its_registered_names_and_common_ones(codec: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    text = NAMES[codec][0]
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
