"""Games as Piskvork's .psq: written as Piskvork reads them, read as it and Gomocup write them, or refused by line."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.notation import parse_cell
from core.records.psq import parse_psq, to_psq
from core.records.record import Ending, GameRecord, RecordError
from core.rules import BLACK, Colour, Rules
from tests.support.cases import cases
from tests.support.game_records import records

HUMANS, WON = (text for _, text, *_ in cases("psq_results")[:2])
"""A person's game, saved while it was played, and a game of a tournament."""


def read(text: str) -> GameRecord:
    (game,) = parse_psq(text)
    return game


def cells(names: str, size: int) -> tuple[int, ...]:
    return tuple(parse_cell(name, size) for name in names.split())


# What we write.


def test_a_game_is_written_as_piskvork_reads_it() -> None:
    """Columns and rows are counted from 1 and the top left."""
    game = GameRecord(
        Rules(), cells("h8 a15 o1", 15), black="A", white="B", times_ms=[1500, 0, 30], ending=Ending.BOARD
    )
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


@pytest.mark.parametrize(("why", "text", "winner", "ending", "black", "white"), cases("psq_results"))
def test_the_board_or_the_numbers_say_who_won_and_how(
    why: str, text: str, winner: Colour | None, ending: Ending, black: str, white: str
) -> None:
    """Gomocup names a player of the pairing: where the game did not end on the board, the side to move failed."""
    game = read(text)
    assert (game.winner, game.ending, game.black, game.white) == (winner, ending, black, white), why


def test_moves_and_times_are_read() -> None:
    assert (read(HUMANS).rules, read(HUMANS).moves) == (Rules(15, 5), cells("h8 i7 h7", 15))
    assert read(HUMANS).times_ms == (4210, 312, 2005)
    assert (read(WON).rules, read(WON).moves[:3]) == (Rules(20, 5), cells("j11 a20 k11", 20))


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
