"""Ratings of a pool: published Bradley-Terry fits, intervals that hold the truth, and players who never lost."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from core.streams import generator
from curriculum.arena.statistics.elo import PAIR_SCORES, PairCounts, estimate
from curriculum.arena.statistics.ratings import Rating, rate
from tests.support.pairs import pair_distribution


def alike(won: int, lost: int, times: int = 1) -> PairCounts:
    """Pairs whose games end alike: each stands for one game of a published table."""
    return (times * lost, 0, 0, 0, times * won)


def by_name(ratings: list[Rating]) -> dict[str, Rating]:
    return {rating.name: rating for rating in ratings}


TEAMS = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
WINS = [
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
]
"""Eastern division of the American League, 1987: games that the team of the row won against that of the column."""


def season(times: int) -> dict[str, Rating]:
    results = [
        (TEAMS[i], TEAMS[j], alike(WINS[i][j], WINS[j][i], times)) for i, j in itertools.combinations(range(7), 2)
    ]
    return by_name(rate(TEAMS, results, anchor="Baltimore"))


def test_published_ratings_of_baseball_teams() -> None:
    # A. Agresti, Categorical Data Analysis, 2nd edition, table 10.11: log odds above Baltimore; errors are about 0.3.
    published = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0]
    unit = math.log(10) / 400
    many = season(1000)  # where the prior game does not matter
    assert [round(unit * many[team].elo, 2) for team in TEAMS] == published
    once = season(1)
    for team, strength in zip(TEAMS[:-1], published, strict=False):
        assert unit * once[team].elo == pytest.approx(strength, abs=0.02)
        assert round(unit * (once[team].high - once[team].low) / 2 / 1.96, 1) == 0.3
    assert once["Baltimore"].low == once["Baltimore"].elo == once["Baltimore"].high == 0


def test_published_pool_of_three_whose_scores_fit_together_exactly() -> None:
    # K. Laskos, talkchess.com, thread 44180: 75 %, 75 % and 90 % are 191, 191 and 382 Elo.
    results: list[tuple[str, str, PairCounts]] = [
        ("Houdini", "Komodo", (0, 0, 0, 600, 900)),
        ("Houdini", "Strelka", (0, 300, 0, 600, 600)),
        ("Strelka", "Komodo", (0, 300, 0, 600, 600)),
    ]
    ratings = rate(["Komodo", "Strelka", "Houdini"], results)
    assert [rating.name for rating in ratings] == ["Houdini", "Strelka", "Komodo"]
    assert [rating.elo for rating in ratings] == pytest.approx([191, 0, -191], abs=1)
    assert [rating.games for rating in ratings] == [6000] * 3
    assert [rating.score for rating in ratings] == pytest.approx([0.825, 0.5, 0.175])


def test_results_add_up_from_either_side() -> None:
    whole = rate(["a", "b", "c"], [("a", "b", (1, 2, 3, 4, 5)), ("b", "c", (2, 0, 5, 1, 4))])
    parts = rate(
        ["a", "b", "c"], [("b", "a", (3, 3, 2, 2, 1)), ("c", "b", (4, 1, 5, 0, 2)), ("a", "b", (0, 0, 1, 1, 2))]
    )
    for one, other in zip(whole, parts, strict=True):
        assert one.name == other.name
        assert (one.low, one.elo, one.high) == pytest.approx((other.low, other.elo, other.high))


def test_the_mean_is_0_and_an_anchor_only_moves_the_ratings() -> None:
    results: list[tuple[str, str, PairCounts]] = [("a", "b", (1, 2, 3, 4, 5)), ("b", "c", (2, 0, 5, 1, 4))]
    free, anchored = by_name(rate(["a", "b", "c"], results)), by_name(rate(["a", "b", "c"], results, anchor="b"))
    assert sum(rating.elo for rating in free.values()) == pytest.approx(0, abs=1e-9)
    assert anchored["b"].elo == 0
    for name in "abc":
        assert anchored[name].elo == pytest.approx(free[name].elo - free["b"].elo)


def test_who_won_everything_is_finite_with_the_lower_bound_of_the_match() -> None:
    for pairs in (10, 50):
        sweep: PairCounts = (0, 0, 0, 0, pairs)
        rating = by_name(rate(["a", "b"], [("a", "b", sweep)], anchor="b"))["a"]
        assert estimate(sweep).low < rating.elo < rating.high < math.inf
        assert rating.low == pytest.approx(estimate(sweep).low, abs=100)
        assert rating.high - rating.low > 800  # how much stronger, no game tells


def test_what_no_game_tells_has_a_wide_interval() -> None:
    groups = by_name(rate(list("abcde"), [("a", "b", (1, 2, 10, 5, 2)), ("c", "d", (1, 2, 10, 5, 2))]))
    assert groups["a"].elo > groups["b"].elo
    assert groups["a"].elo == pytest.approx(groups["c"].elo)
    assert all(rating.high - rating.low > 500 for rating in groups.values())
    assert (groups["e"].elo, groups["e"].games, groups["e"].score) == (pytest.approx(0, abs=1e-6), 0, 0.5)
    linked = rate(
        list("abcd"), [("a", "b", (1, 2, 10, 5, 2)), ("c", "d", (1, 2, 10, 5, 2)), ("a", "c", (1, 2, 9, 2, 1))]
    )
    assert all(rating.high - rating.low < 300 for rating in linked)


def test_small_pools() -> None:
    assert rate([], []) == []
    assert [(rating.elo, rating.games) for rating in rate(["a"], [])] == [(0, 0)]


def test_wrong_pools_are_refused() -> None:
    pairs: PairCounts = (0, 0, 1, 0, 0)
    with pytest.raises(ValueError, match="same name"):
        rate(["a", "a"], [])
    with pytest.raises(ValueError, match="c is not in the pool: a, b"):
        rate(["a", "b"], [("a", "c", pairs)])
    with pytest.raises(ValueError, match="a cannot be rated against itself"):
        rate(["a", "b"], [("a", "a", pairs)])
    with pytest.raises(ValueError, match="the anchor c is not in the pool"):
        rate(["a", "b"], [("a", "b", pairs)], anchor="c")


@pytest.mark.parametrize(("pairs", "bias", "suits"), [(10, 200, 0), (10, 0, 200), (40, 0, 0)])
def test_intervals_hold_the_true_ratings_in_95_percent_of_pools(pairs: int, bias: float, suits: float) -> None:
    truth = {"a": 150.0, "b": 50.0, "c": -50.0, "d": -150.0}
    distributions = {
        (one, other): pair_distribution(truth[one] - truth[other], 0.25, bias, suits)
        for one, other in itertools.combinations(truth, 2)
    }
    inside = []
    for pool in range(200):
        random = generator(3, pool)
        results = [
            (one, other, tuple(random.multinomial(pairs, distribution).tolist()))
            for (one, other), distribution in distributions.items()
        ]
        inside += [rating.low <= truth[rating.name] <= rating.high for rating in rate(list(truth), results)]
    # Three standard errors of 200 pools are 3 % or less.
    assert 0.92 <= np.mean(inside) <= 0.98


@pytest.mark.parametrize("pairs", [(0, 0, 0, 0, 1), (0, 0, 0, 1, 1), (0, 0, 1, 0, 2), (1, 0, 0, 2, 5)])
def test_a_short_match_of_two_is_rated_as_the_formulas_say(pairs: PairCounts) -> None:
    """The likeliest strengths are s and -s, with a drawn game of each against a player of strength 0."""
    played, points = sum(pairs), 2 * sum(count * score for count, score in zip(pairs, PAIR_SCORES, strict=True))
    s = optimize.brentq(lambda s: 2 * played * expit(2 * s) - points + expit(s) - 0.5, -10, 10)
    expected, prior = expit(2 * s), expit(s) * expit(-s)
    squares = sum(count * (2 * (score - expected)) ** 2 for count, score in zip(pairs, PAIR_SCORES, strict=True))
    squares *= played / (played - 1) if played > 1 else 1
    information = 2 * played * expected * (1 - expected)
    spread = information * (squares + 1) / (information + 1)
    # The difference of two strengths has the information of the match twice, and that of one prior.
    error = math.sqrt((2 * spread + prior) * 2) / (2 * information + prior)
    rating = by_name(rate(["a", "b"], [("b", "a", pairs[::-1])], anchor="b"))["a"]
    unit = 400 / math.log(10)
    assert rating.elo == pytest.approx(unit * 2 * s, rel=1e-4)
    assert rating.high - rating.elo == pytest.approx(unit * 1.959964 * error, rel=1e-4)
