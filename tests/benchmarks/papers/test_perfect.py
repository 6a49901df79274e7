"""The perfect player on 3x3, against which paper Y's smallest board is measured."""

from benchmarks.papers.perfect import RULES, PerfectPlayer, result_of
from curriculum.arena.tournament import play_match
from curriculum.reporting import Conduct
from search.players import RandomPlayer


def test_three_in_a_row_is_a_draw() -> None:
    assert result_of(()) == 0
    assert result_of((4, 1)) == 1, "beside the centre loses against the centre"
    assert result_of((4, 0)) == 0


def test_the_perfect_player_never_loses_and_varies_its_moves() -> None:
    match = play_match(PerfectPlayer(), RandomPlayer(), rules=RULES, openings=[()], games=40, seed=1, conduct=Conduct())
    assert match.total.losses == 0
    assert match.total.wins > 20
    position_moves = {game.moves[0] for game in match.games if game.fixture.black == 0}
    assert len(position_moves) > 2
