"""Games as Piskvork's .psq: written as Piskvork reads them, read as it and Gomocup write them, or refused by line."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.notation import parse_cell
from core.records.psq import parse_psq, to_psq
from core.records.record import Ending, GameRecord, RecordError
from core.rules import BLACK, WHITE, Colour, Rules
from tests.support.cases import cases
from tests.support.game_records import records

HUMANS = """Piskvorky 15x15, 0:6, 0
8,8,4210
9,9,312
8,9,2005
0
"""
"""A person's game, saved while it was played."""

WON = """Piskvorky 20x20, 7:7, 0
10,10,456
1,1,4500
11,10,60
1,2,4261
12,10,65
1,3,5037
13,10,65
1,4,5060
14,10,66
pisq7.exe
swine.ZIP
0
"""
"""A game of a tournament."""


def read(text: str) -> GameRecord:
    (game,) = parse_psq(text)
    return game


def result(text: str) -> tuple[Colour | None, Ending]:
    game = read(text)
    return game.winner, game.ending


def cells(names: str, size: int) -> tuple[int, ...]:
    return tuple(parse_cell(name, size) for name in names.split())


# What we write.


def test_a_game_is_written_as_piskvork_reads_it() -> None:
    """Columns and rows are counted from 1 and the top left."""
    game = GameRecord(Rules(), cells("h8 a15 o1", 15), black="A", white="B", times_ms=[1500, 0, 30])
    assert to_psq(game) == ("Piskvorky 15x15, 0:0, 0\n8,8,1500\n1,1,0\n15,15,30\nA\nB\n0\n0,5 in a row on 15x15\n")


@pytest.mark.parametrize(
    ("ending", "code"), [(Ending.BOARD, 0), (Ending.TIME, 15), (Ending.FORFEIT, -2), (Ending.RESIGNATION, -2)]
)
def test_the_number_after_the_names_says_how_the_game_ended(ending: Ending, code: int) -> None:
    assert to_psq(GameRecord(Rules(), [112], BLACK, ending=ending)).splitlines()[4] == str(code)


def test_people_have_the_names_that_piskvork_gives_them() -> None:
    text = to_psq(GameRecord(Rules(), [112]))
    assert text.splitlines()[2:4] == ["homo-1", "homo-2"]
    assert (read(text).black, read(text).white) == ("", "")


@pytest.mark.parametrize(
    "name", ["8,8", "8,8,0", "-1", "0", "0,5 in a row", "Piskvorky 9x9, 0:0, 0", "a\nb", "a\u2028b"]
)
def test_no_name_can_be_taken_for_something_else(name: str) -> None:
    game = GameRecord(Rules(9), (40, 41), BLACK, black=name, white=name, ending=Ending.TIME)
    again = read(to_psq(game))
    assert replace(again, black=name, white=name) == game
    assert again.black == again.white
    assert again.black.endswith(" ".join(name.split()))


@given(st.lists(records(), min_size=1, max_size=3))
def test_games_written_into_one_text_are_read_back(written: list[GameRecord]) -> None:
    """But for what the format does not hold."""
    for game in written:
        assume(not {game.black.strip()[:1], game.white.strip()[:1]} & set("0123456789+-"))
        assume(not {game.black.strip(), game.white.strip()} & {"homo-1", "homo-2"})
    kept = [
        replace(
            game,
            black=" ".join(game.black.split()),
            white=" ".join(game.white.split()),
            comments=(),
            values=(),
            analyses=(),
            note="",
            date="",
            ending=Ending.FORFEIT if game.ending == Ending.RESIGNATION else game.ending,
        )
        for game in written
    ]
    assert parse_psq("".join(map(to_psq, written))) == kept
    assert "".join(map(to_psq, kept)) == "".join(map(to_psq, written))


# What others write.


def test_a_game_between_people_is_read() -> None:
    game = read(HUMANS)
    assert game.rules == Rules(15, 5)
    assert game.moves == cells("h8 i7 h7", 15)
    assert game.times_ms == (4210, 312, 2005)
    assert (game.winner, game.ending, game.black, game.white) == (None, Ending.UNKNOWN, "", "")


def test_a_game_of_a_tournament_is_read() -> None:
    game = read(WON)
    assert game.rules == Rules(20, 5)
    assert game.moves[:3] == cells("j11 a20 k11", 20)
    assert (game.winner, game.ending, game.black, game.white) == (BLACK, Ending.BOARD, "pisq7.exe", "swine.ZIP")


def test_the_second_player_is_black_where_it_begins() -> None:
    game = read(WON.replace("7:7, 0", "7:7, 1"))
    assert (game.winner, game.black, game.white) == (BLACK, "swine.ZIP", "pisq7.exe")


def test_who_is_out_of_time_or_fails_is_who_has_to_move() -> None:
    cut = WON.replace("14,10,66\n", "")
    assert result(cut) == (None, Ending.UNKNOWN)
    assert result(cut.removesuffix("0\n") + "15\n") == (WHITE, Ending.TIME)
    assert result(cut.removesuffix("0\n") + "-2\n") == (WHITE, Ending.FORFEIT)
    assert result(cut.replace("1,4,5060\n", "").removesuffix("0\n") + "15\n") == (BLACK, Ending.TIME)


def test_the_board_decides_before_the_number_does() -> None:
    assert result(WON.removesuffix("0\n") + "15\n") == (BLACK, Ending.BOARD)


@pytest.mark.parametrize("digit", [1, 2])
def test_gomocups_result_names_a_player_of_the_pairing_and_not_a_colour(digit: int) -> None:
    """Whoever it names: the game did not end on the board, so the side to move failed."""
    gomocup = f"a.zip\nb.zip\n-1\n{digit},Freestyle15_1\n"
    assert result("Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9,0\n8,9,51\n" + gomocup) == (BLACK, Ending.FORFEIT)
    assert result("Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9,0\n" + gomocup) == (WHITE, Ending.FORFEIT)
    assert result(WON.removesuffix("pisq7.exe\nswine.ZIP\n0\n") + gomocup) == (BLACK, Ending.BOARD)


def test_gomocups_draw_is_one() -> None:
    text = "Piskvorky 15x15, 11:11, 0\n8,8,0\n9,9,0\n8,9,51\na.zip\nb.zip\n-1\n0,Freestyle15_1\n"
    assert result(text) == (None, Ending.BOARD)
    assert (read(text).black, read(text).white) == ("a.zip", "b.zip")


def test_several_games_in_a_file_are_told_by_their_headers() -> None:
    assert parse_psq(HUMANS + WON + "\n" + HUMANS) == [read(HUMANS), read(WON), read(HUMANS)]


@pytest.mark.parametrize("text", cases("psq_spellings"))
def test_other_ways_to_write_it_are_the_same_game(text: str) -> None:
    assert read(text) == read(HUMANS)


def test_moves_without_times_have_none() -> None:
    assert read("Piskvorky 15x15, 0:0, 0\n8,8\n9, 9\n-1").times_ms == ()
    assert read("Piskvorky 15x15, 0:0, 0\n8,8,0\n9,9,0\n-1").times_ms == ()
    assert read("Piskvorky 15x15, 0:0, 0\n8,8,-3\n9,9,7\n-1").times_ms == (0, 7)


@pytest.mark.parametrize(("text", "line", "why"), cases("psq_refused"))
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(RecordError) as refused:
        parse_psq(text, "game.psq")
    assert str(refused.value).startswith(f"game.psq, line {line}: ")
    assert why in str(refused.value)
