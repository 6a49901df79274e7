"""The ladder of paper S: more and more playouts, and the end at the first rung that is not won clearly."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from core.rules import Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.ladder import Ladder, Rung, climb
from curriculum.arena.results import MatchResult
from curriculum.arena.tournament import play_tournament
from curriculum.reporting import Context, Interrupted
from search.players import RandomPlayer
from search.pure_mcts.player import PureMcts
from tests.support.match_samples import match
from tests.support.remarks import Remarks

RULES = Rules(5, 4)


def results(*rungs: str) -> tuple[list[int], Callable[[int], MatchResult]]:
    """Return the playouts of the played rungs, and a function that plays these results rung by rung."""
    played: list[int] = []

    def play(playouts: int) -> MatchResult:
        played.append(playouts)
        return match(rungs[len(played) - 1])

    return played, play


def test_the_climb_ends_at_the_first_rung_with_so_few_wins() -> None:
    playouts, play = results("wwwww", "wwwwl", "wwwdd", "wwwww")
    ladder = Ladder("climber", 3, [])
    climb(play, start=200, step=100, stop_at=3, rungs=ladder.rungs, context=Context())
    assert playouts == [200, 300, 400]
    assert [rung.result.total.wins for rung in ladder.rungs] == [5, 4, 3]
    assert ladder.passed == 300


@pytest.mark.parametrize(("last", "played"), [(400, [200, 300, 400]), (350, [200, 300]), (200, [200])])
def test_no_rung_is_above_the_last(last: int, played: list[int]) -> None:
    playouts, play = results(*["wwww"] * 5)
    ladder = Ladder("climber", 3, [])
    climb(play, start=200, step=100, stop_at=3, last=last, rungs=ladder.rungs, context=Context())
    assert playouts == played
    assert ladder.passed == played[-1]
    with pytest.raises(ValueError, match="above the last"):
        climb(play, start=last + 100, step=100, stop_at=3, last=last, rungs=[], context=Context())
    assert playouts == played


def test_each_rung_is_reported_at_its_end() -> None:
    remarks = Remarks()
    _, play = results("wwwd", "wdll")
    climb(play, start=900, step=100, stop_at=2, rungs=[], context=Context(remarks))
    assert remarks.lines == ["900 playouts: 3 wins, 1 draws, 0 losses", "1,000 playouts: 1 wins, 1 draws, 2 losses"]


def test_a_stopped_climb_continues_in_its_last_rung(tmp_path: Path) -> None:
    def climbing(folder: Path, stops: Callable[[], bool]) -> list[list[tuple[int, ...]]]:
        context = Context(stop=stops)

        def play(playouts: int) -> MatchResult:
            games = fixtures(2, 4, openings=[()], seed=3)
            names = ("random", f"pure-mcts:{playouts}")
            with MatchFolder(folder / str(playouts), {"seed": 3}, games, rules=RULES, names=names) as kept:
                players = (RandomPlayer(), PureMcts(playouts))
                return play_tournament(players, games, rules=RULES, context=context, folder=kept).matches[0, 1]

        rungs: list[Rung] = []
        climb(play, start=2, step=1, stop_at=-1, last=4, rungs=rungs, context=context)
        return [[game.moves for game in rung.result.games] for rung in rungs]

    checks = count()
    whole = climbing(tmp_path / "whole", lambda: next(checks) < 0)
    half = next(checks) // 2
    checks = count()
    with pytest.raises(Interrupted):
        climbing(tmp_path / "parts", lambda: next(checks) >= half)
    assert climbing(tmp_path / "parts", lambda: False) == whole
