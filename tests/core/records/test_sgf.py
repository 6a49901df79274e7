"""SGF: what we write others can read; what others write, in any charset, we read or refuse with its place."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records.charsets import likely_charset
from core.records.formats import open_games, read_games
from core.records.psq import parse_psq, to_psq, unkept_lines
from core.records.record import Ending, GameRecord, RecordError, contradiction
from core.records.sgf import main_line, parse_header, parse_sgf, to_sgf
from core.rules import BLACK, WHITE, Rules, Variant
from tests.support.cases import cases
from tests.support.game_records import records


def read(text: str) -> GameRecord:
    (game,) = parse_sgf(text)
    return game


# SGF that we write.


def test_a_short_game_is_written_with_rows_from_the_top() -> None:
    game = GameRecord(Rules(5, 3), [0, 24, 1, 20, 2], BLACK, black="A", white="B")
    assert to_sgf(game) == (
        "(;FF[4]GM[4]CA[UTF-8]AP[gomoku]SZ[5]RE[B+]RU[3 in a row on 5x5]PB[A]PW[B]\n"
        ";B[ae]\n;W[ea]\n;B[be]\n;W[aa]\n;B[ce])\n"
    )


def test_how_a_game_was_won_and_when_and_how_long_moves_took_are_written() -> None:
    game = GameRecord(Rules(), [112, 113], WHITE, date="2026-11-20", times_ms=[1500, 0], ending=Ending.TIME)
    text = to_sgf(game)
    for part in ("RE[W+T]", "DT[2026-11-20]", ";B[hh]ET[1500]\n;W[ih]ET[0]"):
        assert part in text


@given(records())
def test_sgfmill_reads_the_game_that_we_wrote(record: GameRecord) -> None:
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    tree = sgf.Sgf_game.from_string(to_sgf(record))
    root = tree.get_root()
    assert root.get("GM") == 4
    assert root.get("FF") == 4
    assert tree.get_size() == record.rules.size
    assert tree.get_winner() == {BLACK: "b", WHITE: "w", None: None}[record.winner]
    assert (root.get("RE") in ("0", "?")) == (record.winner is None)
    assert (root.get("RE")[2:] == record.ending.value) or record.winner is None
    for name, text in (("PB", record.black), ("PW", record.white), ("GC", record.note), ("DT", record.date)):
        assert (root.get(name) if root.has_property(name) else "") == text
    nodes = tree.get_main_sequence()[1:]
    assert len(nodes) == len(record.moves)
    for ply, (node, cell) in enumerate(zip(nodes, record.moves, strict=True)):
        assert node.get_move() == ("bw"[ply % 2], divmod(cell, record.rules.size))
        if record.comments:
            assert (node.get("C") if node.has_property("C") else "") == record.comments[ply]


# SGF that we read.


@given(st.lists(records(), min_size=1, max_size=3))
def test_games_written_into_one_text_are_read_back(written: list[GameRecord]) -> None:
    text = "".join(map(to_sgf, written))
    assert parse_sgf(text) == written
    header, moves = parse_header(text)
    assert (header.black, header.note, header.winner) == (written[0].black, written[0].note, written[0].winner)
    assert moves == len(written[0].moves)


@pytest.mark.parametrize(("why", "text", "fields"), cases("sgf_read"))
def test_games_of_other_programs_are_read(why: str, text: str, fields: dict[str, Any]) -> None:
    def plain(value: Any) -> Any:
        return list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Rules) else value

    game = read(text)
    assert {name: plain(getattr(game, name)) for name in fields} == fields, why


@given(records(), st.booleans())
def test_a_game_written_by_sgfmill_is_read(record: GameRecord, wrap: bool) -> None:
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    tree = sgf.Sgf_game(size=record.rules.size)
    root = tree.get_root()
    root.set("GM", 4)
    root.set("RE", {BLACK: "B+", WHITE: "W+", None: "0"}[record.winner] + record.ending.value)
    for name, text in (("RU", str(record.rules)), ("PB", record.black), ("PW", record.white), ("GC", record.note)):
        root.set(name, text)
    for ply, cell in enumerate(record.moves):
        node = tree.extend_main_sequence()
        node.set_move("bw"[ply % 2], divmod(cell, record.rules.size))
        if record.comments:
            node.set("C", record.comments[ply])
    written = tree.serialise(wrap=79 if wrap else None).decode()
    assert read(written) == replace(record, date="", times_ms=(), values=(), analyses=())


def test_variations_are_left_aside() -> None:
    main = "(;GM[4]SZ[15];B[hh](;W[hi](;B[ii];W[gg])(;B[jj]))(;W[zz];Q[unfinished \\] business])(;B[hh]))"
    assert read(main).moves == read("(;GM[4]SZ[15];B[hh];W[hi];B[ii];W[gg])").moves
    assert len(read(main).moves) == parse_header(main)[1] == 4


def test_nodes_of_main_lines_come_with_their_plies() -> None:
    text = "(;GM[4];B[hh]W[hi];C[none](;B[ii])(;B[jj];W[kk]))(;GM[4]B[aa];W[ab])(;GM[4];B[hh])"
    games = [(0, 0), (2, 2), (0, 2), (1, 3)], [(1, 1), (1, 2)], [(0, 0), (1, 1)]
    assert [(moves, ply) for _, moves, ply in main_line(text)] == [node for game in games for node in game]


@pytest.mark.parametrize(("text", "place", "why"), cases("sgf_refused"))
def test_what_cannot_be_read_is_refused_with_its_place(text: str, place: str, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_sgf(text, "games.sgf")
    assert str(refused.value).startswith(f"games.sgf, {place}: ")
    assert why in str(refused.value)
    assert str(refused.value).isprintable()
    if text.strip() in ("", "h8 i9", "()"):
        with pytest.raises(RecordError, match=re.escape(str(refused.value))):
            parse_header(text, "games.sgf")


# Other programs


def moves(text: str) -> int:
    (game,) = parse_sgf(text)
    return len(game.moves)


@pytest.mark.parametrize("text", cases("sgf_spellings"))
def test_other_ways_to_write_a_game_are_read(text: str) -> None:
    assert moves(text) == 2


def test_properties_of_a_node_have_a_limit() -> None:
    with pytest.raises(RecordError, match="the limit of a node is 1,000 properties"):
        parse_sgf("(;GM[4]" + "XX[]" * 1000 + ")")


# A six in a row that other rules allow, and a move after it.
OVERLINE = ";B[hh];W[aa];B[ih];W[ba];B[jh];W[ca];B[lh];W[da];B[mh];W[oo];B[kh];W[ea]"


@pytest.mark.parametrize(("rules", "name"), [("2", "2, continuous games"), ("Pente", "'Pente'")])
def test_a_game_of_other_rules_is_refused_with_their_name(rules: str, name: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_sgf(f"(;GM[4]SZ[15]RU[{rules}]{OVERLINE})")
    assert f"5 or more in a row win here, but this file has other rules ({name})" in str(refused.value)


@pytest.mark.parametrize("rules", ["", "RU[0]", "RU[Freestyle]", "RU[5 in a row on 15x15]"])
def test_a_game_of_our_rules_is_just_over(rules: str) -> None:
    with pytest.raises(RecordError, match=r"the game is over$"):
        parse_sgf(f"(;GM[4]SZ[15]{rules}{OVERLINE})")


def test_a_psq_of_other_rules_is_refused_with_their_name() -> None:
    lines = ["Piskvorky 15x15, 11:11, 0"]
    lines += [f"{point},100" for point in "5,5 1,1 6,5 2,1 7,5 3,1 9,5 1,3 10,5 2,3 8,5 4,1".split()]
    with pytest.raises(RecordError, match=r"line 13: the game is over: .* other rules \('Pente'\)"):
        parse_psq("\r\n".join([*lines, "ALPHA", "BETA", "-1", "2,Pente", ""]))


def test_a_game_of_exactly_five_goes_on_after_six() -> None:
    (record,) = parse_sgf(f"(;GM[4]SZ[15]RU[1]{OVERLINE})")
    assert record.rules == Rules(15, 5, Variant.STANDARD)
    assert record.winner == WHITE, "with five, after six of Black"
    assert parse_psq(to_psq(record))[0].rules == parse_sgf(to_sgf(record))[0].rules == record.rules


@pytest.mark.parametrize(("text", "variant"), cases("sgf_rules"))
def test_other_rules_by_their_names_and_numbers(text: str, variant: Variant) -> None:
    (record,) = parse_sgf(f"(;GM[4]SZ[15]RU[{text}];B[hh];W[ii])")
    assert record.rules == Rules(15, 5, variant)
    assert parse_psq(to_psq(record))[0].rules == parse_sgf(to_sgf(record))[0].rules == record.rules
    assert list(unkept_lines(to_psq(record))) == []
    with pytest.raises(RecordError, match=f"{variant} is played with 5 in a row, not 4"):
        parse_sgf(f"(;GM[4]SZ[4]RU[{text}])")


def test_a_foul_in_a_record_loses_and_ends_the_game() -> None:
    moves = ";B[ih];W[ao];B[jh];W[am];B[hg];W[ak];B[hf];W[ai];B[hh]"
    (record,) = parse_sgf(f"(;GM[4]SZ[15]RU[Renju]{moves})")
    assert record.winner == WHITE
    assert [position.ply for position in record.positions()] == list(range(10))
    assert contradiction(record) == ""
    assert parse_psq(to_psq(record))[0].winner == WHITE
    (claimed,) = parse_sgf(f"(;GM[4]SZ[15]RU[Renju]RE[B+]{moves})")
    assert contradiction(claimed) == "renju forbids Black's last move"
    with pytest.raises(RecordError, match="the game is over: renju forbids Black's h8 before it, which loses"):
        parse_sgf(f"(;GM[4]SZ[15]RU[Renju]{moves};W[aa])")


def test_a_psq_ends_at_the_mark_of_dos() -> None:
    (game,) = parse_psq("Piskvorky 15x15, 0:0, 0\r\n8,8,0\r\n9,9,0\r\n\x1a")
    assert len(game.moves) == 2


@pytest.mark.parametrize(
    ("name", "moves", "opening"),
    [
        ("swap2", "B[hh];W[ig];B[gi]", "swap2"),
        ("swap2", "B[hh];W[ig];B[gi];W[ao]", "free"),
        ("swap2 more", "B[hh];W[ig];B[gi];W[ao];B[bo];W[co]", "free"),
        ("swap2 black", "B[hh];W[ig];B[gi];W[ao]", "swap2 black"),
        ("Indirect", "B[hh]", "free"),
    ],
)
def test_the_name_of_an_opening_without_its_choice_says_nothing_after_more_moves(
    name: str, moves: str, opening: str
) -> None:
    (game,) = parse_sgf(f"(;FF[4]GM[4]SZ[15]ON[{name}];{moves})")
    assert str(game.opening) == opening


# Charsets


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
