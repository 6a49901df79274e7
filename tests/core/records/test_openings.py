"""Opening files in both notations: read for what they say, or refused with line and column."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.position import Position
from core.records.openings import format_opening, parse_openings, read_openings
from core.records.record import RecordError
from core.rules import Rules
from tests.conftest import games, rules
from tests.support.cases import cases
from tests.support.project import ROOT

OPENINGS = ROOT / "curriculum" / "openings"


def test_openings_are_one_a_line_with_comments() -> None:
    lines = ["# balanced", "", "h8 i9 g7  # the third is near", "   ", "A1 b2"]
    assert parse_openings("\n".join(lines), Rules()) == [(112, 128, 96), (0, 16)]


@pytest.mark.parametrize(("line", "column", "why"), cases("openings_refused"))
def test_a_broken_line_is_refused_by_its_place(line: str, column: int, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_openings("\n".join(["# first", "h8 i9", line, "h8"]), Rules(), "mine.txt")
    assert str(refused.value).startswith(f"mine.txt, line 3, column {column}: ")
    assert why in str(refused.value)


def test_offsets_count_to_the_right_and_down_from_the_centre_and_need_no_commas() -> None:
    """Piskvork puts the centre at size // 2 from the left and from the top."""
    assert parse_openings("0,0, 1,-1, -2,3", Rules(15)) == parse_openings("h8 i9 f5", Rules(15))
    assert parse_openings("0,0, -10,-10, 9,9", Rules(20)) == parse_openings("k10 a20 t1", Rules(20))
    opening = parse_openings("-7,-8, -6,-9, +3,0", Rules(20))
    for line in ("-7,-8,-6,-9,3,0", "-7 -8 -6 -9 3 0", " -7,-8 -6,-9 3,0,", "-7 , -8 , -6\t-9,3,0  # so"):
        assert parse_openings(line, Rules(20)) == opening


def test_names_need_no_blanks() -> None:
    assert parse_openings("h8i9g7", Rules(15)) == parse_openings("h8 i9 g7", Rules(15))
    assert parse_openings("H13h11 j13i13 # near", Rules(20)) == parse_openings("h13 h11 j13 i13", Rules(20))
    with pytest.raises(RecordError, match="line 1, column 5: 'p1' is off the board"):
        parse_openings("a1b2p1", Rules(15))


@given(st.data())
def test_an_opening_that_is_written_is_read_back(data: st.DataObject) -> None:
    drawn = data.draw(rules())
    opening = data.draw(games(drawn))[:6]
    assume(opening and not Position.from_moves(drawn, opening).is_game_over())
    half = drawn.size // 2
    points = [(cell % drawn.size - half, drawn.size - 1 - cell // drawn.size - half) for cell in opening]
    offsets = ", ".join(f"{right},{down}" for right, down in points)
    assert parse_openings(f"{format_opening(opening, drawn.size)}\n{offsets}", drawn) == [tuple(opening)] * 2


@pytest.mark.parametrize("connect", [3, 4])
def test_an_opening_must_be_legal_under_its_rules(connect: int) -> None:
    line = "a1 a2 b1 b2 c1"
    if connect == 4:
        assert parse_openings(line, Rules(9, connect)) == [(0, 9, 1, 10, 2)]
    else:
        with pytest.raises(RecordError, match="line 1"):
            parse_openings(line, Rules(9, connect))


def test_a_file_from_an_editor_that_marks_utf_8_is_read(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    for charset in ("utf-8", "utf-16-le", "utf-16-be"):
        path.write_bytes("\ufeffh8 i9\r\ng7\r\n".encode(charset))
        assert read_openings(path, Rules()) == [(112, 128), (96,)]


@pytest.mark.parametrize(("size", "count"), [(9, 50), (11, 50), (15, 200), (20, 100)])
def test_our_own_openings_are_distinct_short_and_undecided(size: int, count: int) -> None:
    openings = read_openings(OPENINGS / f"freestyle{size}.txt", Rules(size))
    assert len(set(openings)) == len(openings) == count
    assert all(2 <= len(opening) <= 8 for opening in openings)
