"""Bars and stop rules of matches."""

from dataclasses import replace

import pytest

from core.records.record import Ending
from curriculum.arena.bars import Bar, is_decided, match_bars, never_moved, share_bar
from curriculum.arena.results import MatchResult
from curriculum.arena.statistics.sprt import SequentialTest
from tests.support.match_samples import match

TEST = SequentialTest(0, 200)


def test_a_bar_is_met_at_its_minimum() -> None:
    assert share_bar("score", 0.5, 0.5).met
    assert not share_bar("score", 0.4999, 0.5).met
    found = {"name": "solved", "wanted": "at least 0.75", "reached": "0.250", "met": False}
    assert share_bar("solved", 0.25, 0.75).to_json() == found


def test_a_match_has_the_required_bars_and_no_others() -> None:
    result = match("wwwl")
    assert match_bars(result) == []
    bars = match_bars(result, min_score=0.8, min_elo=100, test=TEST)
    assert [bar.name for bar in bars] == ["score", "Elo difference", "sequential test"]
    assert [bar.met for bar in bars] == [False, True, False]
    assert bars[1] == Bar("Elo difference", "at least 100", "190.8", True)
    assert "undecided" in bars[2].reached


@pytest.mark.parametrize(
    ("results", "decided"), [("wl" * 2, False), ("ww" * 40, True), ("ll" * 40, True), ("wl" * 200, True)]
)
def test_a_sequential_test_decides_a_match(results: str, decided: bool) -> None:
    assert is_decided(match(results), TEST) == decided
    assert not is_decided(match(results), None)


def without_moves_of_the_opponent(games: int) -> MatchResult:
    """Return a match that the opponent lost by forfeits before its first move in each game."""
    result = MatchResult("new", "old")
    for played in match("w" * games, why="no answer").games:
        made = 1 if played.fixture.black == 0 else 0
        cut = {name: getattr(played, name)[:made] for name in ("moves", "values", "simulations", "seconds")}
        result.add(replace(played, ending=Ending.FORFEIT, why="no answer", **cut))
    return result


def test_a_player_without_a_move_in_two_games_or_more_decides_a_match() -> None:
    forfeit = never_moved(without_moves_of_the_opponent(4))
    assert (forfeit.player, forfeit.why) == ("old", "no answer")
    assert is_decided(without_moves_of_the_opponent(2), None)
    assert never_moved(without_moves_of_the_opponent(1)) is None


def test_forfeits_after_moves_decide_nothing() -> None:
    assert never_moved(match("wwww", why="too slow")) is None
    assert never_moved(match("wwww")) is None
