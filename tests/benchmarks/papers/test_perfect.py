"""The perfect player on 3x3, against which paper Y's smallest board is measured."""

from benchmarks.papers.perfect import RULES, lines_of_play, perfect_player, result_of
from core.rules import BLACK, WHITE
from curriculum.arena.tournament import play_match
from curriculum.reporting import Context
from search.players import RandomPlayer


def test_three_in_a_row_is_a_draw() -> None:
    assert result_of(()) == 0
    assert result_of((4, 1)) == 1, "beside the centre loses against the centre"
    assert result_of((4, 0)) == 0


def test_the_perfect_player_never_loses_and_varies_its_moves() -> None:
    match = play_match(
        perfect_player(), RandomPlayer(), rules=RULES, openings=[()], games=40, seed=1, context=Context()
    )
    assert match.total.losses == 0
    assert match.total.wins > 20
    position_moves = {game.moves[0] for game in match.games if game.fixture.black == 0}
    assert len(position_moves) > 2


def test_every_line_of_play_is_tried() -> None:
    perfect, aimless = perfect_player(), RandomPlayer()
    as_black, as_white = lines_of_play(perfect, BLACK, seed=1), lines_of_play(perfect, WHITE, seed=1)
    assert -1 not in as_black + as_white
    assert {0, 1} == set(as_black) == set(as_white)
    assert len(as_black) > 50
    assert len(as_white) > 200
    assert -1 in lines_of_play(aimless, BLACK, seed=1)
