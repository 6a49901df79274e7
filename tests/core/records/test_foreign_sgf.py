"""SGF as other programs and editions of the format write it: read where the meaning is clear, else one sentence."""

import pytest

from core.records.psq import parse_psq, to_psq, unkept_lines
from core.records.record import RecordError, contradiction
from core.records.sgf import parse_sgf, to_sgf
from core.rules import WHITE, Rules, Variant
from tests.support.cases import cases


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
