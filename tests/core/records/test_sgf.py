"""Games as SGF: what we write others can read, what others write we read or refuse with its place."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.records.record import Ending, GameRecord, RecordError
from core.records.sgf import main_line, parse_header, parse_sgf, to_sgf
from core.rules import BLACK, WHITE, Rules
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
    assert [(moves, ply) for _, moves, ply in main_line(text)] == [
        *[(0, 0), (2, 2), (0, 2), (1, 3)],
        *[(1, 1), (1, 2)],
        *[(0, 0), (1, 1)],
    ]


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
