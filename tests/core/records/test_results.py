"""Results in the words of many programs and languages; the board decides where a record does not."""

import pytest

from core.position import Position
from core.records.psq import parse_psq
from core.records.record import Ending, GameRecord, contradiction, won_text
from core.records.sgf import parse_sgf, to_sgf
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.reports.game import result_text
from tests.support.cases import cases

BOARD, TIME, FORFEIT, RESIGNATION = Ending.BOARD, Ending.TIME, Ending.FORFEIT, Ending.RESIGNATION
FIVE = ";B[hh];W[aa];B[ih];W[ba];B[jh];W[ca];B[kh];W[da];B[lh]"


@pytest.mark.parametrize(("words", "winner", "ending"), cases("results_named"))
def test_a_result_is_read_in_the_words_of_its_program(words: str, winner: int | None, ending: str) -> None:
    ending = Ending(ending)
    (game,) = parse_sgf(f"(;GM[4]RE[{words}];B[hh];W[hi])")
    assert (game.winner, game.ending) == (winner, ending)
    how = {TIME: " on time", FORFEIT: " by forfeit", RESIGNATION: " by resignation"}.get(ending, "")
    drawn = "" if ending is Ending.UNKNOWN else "a draw"
    assert won_text(game) == {BLACK: f"black won{how}", WHITE: f"white won{how}", None: drawn}[winner]
    assert ("RE[?]" in to_sgf(game)) == (ending is Ending.UNKNOWN)


@pytest.mark.parametrize("record", ["", "RE[]", "RE[ ]", "RE[nonsense]", "RE[黑胜]", "RE[Bob wins]"])
def test_the_board_decides_where_the_record_does_not(record: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]{record}{FIVE})")
    assert (game.winner, game.ending) == (BLACK, BOARD)
    assert result_text(game) == "black won in 9 moves"


@pytest.mark.parametrize(("moves", "winner", "ending"), cases("endings_by_the_board"))
def test_the_board_decides_where_no_ending_is_given(moves: str, winner: int | None, ending: str) -> None:
    cells = tuple(Position.from_moves(Rules(3, 3), moves).moves)
    record = GameRecord(Rules(3, 3), cells)
    assert (record.winner, record.ending) == (winner, Ending(ending))
    assert parse_sgf(to_sgf(record)) == [record]
    assert GameRecord(Rules(3, 3), cells, WHITE).ending is Ending.BOARD
    assert GameRecord(Rules(3, 3), cells, ending=Ending.BOARD).winner is None


@pytest.mark.parametrize("words", ["?", "Void", "Unfinished"])
def test_a_record_that_says_that_it_has_no_result_has_none(words: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]RE[{words}]{FIVE})")
    assert (game.winner, game.ending) == (None, Ending.UNKNOWN)
    assert parse_sgf(to_sgf(game)) == [game]


@pytest.mark.parametrize(("words", "text"), cases("contradictions"))
def test_a_record_that_contradicts_the_board_is_shown_with_a_remark(words: str, text: str) -> None:
    (game,) = parse_sgf(f"(;GM[4]RE[{words}]{FIVE})")
    assert result_text(game) == text
    assert contradiction(game)


def test_a_remark_names_as_many_stones_as_stand_in_the_row() -> None:
    (game,) = parse_sgf("(;GM[4]RE[W+];B[aa];W[ac];B[ba];W[bc];B[ca];W[cc];B[ea];W[ec];B[fa];W[fc];B[da])")
    assert contradiction(game) == "the board shows 6 in a row of black"


def test_a_draw_may_be_agreed_and_a_game_given_up() -> None:
    for words in ("Draw", "B+R", "W+T", "W+"):
        (game,) = parse_sgf(f"(;GM[4]RE[{words}];B[hh];W[hi])")
        assert not contradiction(game)


def psq(moves: int, end: str) -> str:
    """A game of 20x20 in which nobody makes five: rows of pairs, shifted."""
    lines = ["Piskvorky 20x20, 11:11, 0"]
    columns = [(column, row) for row in range(20) for column in range(20)]
    first = [cell for cell in columns if (cell[0] // 2 + cell[1]) % 2]
    second = [cell for cell in columns if not (cell[0] // 2 + cell[1]) % 2]
    cells = [each for pair in zip(first, second, strict=True) for each in pair][:moves]
    return "\n".join([*lines, *(f"{column + 1},{row + 1},100" for column, row in cells), end, ""])


@pytest.mark.parametrize("end", ["pbrain-a.exe\npbrain-b.exe\n0", "-1", "a\nb\n-1", "0"])
def test_piskvork_draws_a_game_with_25_empty_cells_unless_a_clock_ends_it_or_our_own_line_says_more(end: str) -> None:
    (drawn,) = parse_psq(psq(375, end))
    assert (drawn.winner, drawn.ending) == (None, BOARD)
    (longer,) = parse_psq(psq(374, end))
    assert longer.ending is Ending.UNKNOWN
    (game,) = parse_psq(psq(375, "a\nb\n15"))
    assert (game.winner, game.ending) == (BLACK, TIME)
    (game,) = parse_psq(psq(375, "a\nb\n0\n3,5 in a row on 20x20"))
    assert game.ending is Ending.UNKNOWN
