"""The Elo difference of a match: published values, an interval that holds the truth, and no surprise at the edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from curriculum.arena.statistics.elo import (
    PAIR_SCORES,
    PairCounts,
    deviance,
    elo_difference,
    estimate,
    expected_score,
    game_counts,
    pair_counts,
)
from tests.support.pairs import coverage, pair_distribution

some_pairs = st.tuples(*[st.integers(0, 30)] * 5)
some_played = some_pairs.filter(any)


def test_three_quarters_of_the_points_are_191_elo_and_nine_tenths_twice_as_much() -> None:
    # K. Laskos, talkchess.com, thread 44180.
    assert elo_difference(0.75) == pytest.approx(191, abs=0.5)
    assert elo_difference(0.9) == pytest.approx(2 * elo_difference(0.75))
    assert elo_difference(0.5) == 0
    assert (elo_difference(0.0), elo_difference(1.0)) == (-math.inf, math.inf)
    assert (expected_score(-math.inf), expected_score(math.inf)) == (0, 1)


@pytest.mark.parametrize("score", [-0.1, 1.1, math.nan])
def test_a_score_outside_0_and_1_has_no_difference(score: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        elo_difference(score)


@given(st.floats(-1500, 1500))
def test_score_and_difference_are_each_other_s_inverse(elo: float) -> None:
    assert elo_difference(expected_score(elo)) == pytest.approx(elo, abs=1e-6)


def test_games_are_counted_in_pairs_in_whatever_order_they_end() -> None:
    games = [(0, 1), (1, 0), (0, 1), (2, 0.5), (1, 0.5), (3, 0), (2, 0.5), (4, 1), (4, 0), (3, 0), (5, 0.5), (5, 1)]
    assert pair_counts(games) == (1, 1, 2, 1, 1)


def test_half_a_pair_does_not_count() -> None:
    assert pair_counts([(0, 1), (1, 1), (1, 1)]) == (0, 0, 0, 0, 1)


def test_a_third_game_of_a_pair_and_a_score_that_no_game_has_are_refused() -> None:
    with pytest.raises(ValueError, match="pair 7 has more than two games"):
        pair_counts([(7, 1), (7, 0), (7, 1)])
    with pytest.raises(ValueError, match=r"not 0\.25"):
        pair_counts([(7, 0.25)])


@pytest.mark.parametrize(
    ("pairs", "elo", "error", "los"),
    [
        # fastchess, app/tests/elo_test.cpp; its normal approximation is good for so many pairs.
        ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 1.0),
        ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 0.0505),
        ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95, 0.0),
    ],
)
def test_published_matches(pairs: PairCounts, elo: float, error: float, los: float) -> None:
    result = estimate(pairs)
    assert result.elo == pytest.approx(elo, abs=0.01)
    assert (result.high - result.low) / 2 == pytest.approx(error, rel=0.01)
    assert result.los == pytest.approx(los, abs=0.001)
    assert result.results == sum(pairs)


@given(some_played, st.floats(0.02, 0.98))
def test_deviance_is_that_of_the_dual_problem(pairs: PairCounts, score: float) -> None:
    """A. Owen's other formula for it: the most that log(1 + x (a - score)) can sum up to over the pairs."""

    def loss(multiplier: float) -> float:
        shares = 1 + multiplier * (np.array(PAIR_SCORES) - score)
        return -float(special.xlogy(pairs, np.maximum(shares, 1e-300)).sum())

    most = optimize.minimize_scalar(
        loss, bounds=(-1 / (1 - score), 1 / score), method="bounded", options={"xatol": 1e-11}
    )
    assert deviance(pairs, score) == pytest.approx(-2 * most.fun, rel=1e-4, abs=1e-4)


def test_deviance_is_0_at_the_mean_and_endless_at_scores_that_the_pairs_exclude() -> None:
    assert deviance((1, 2, 3, 2, 1), 0.5) == 0
    assert deviance((0, 0, 0, 0, 5), 1.0) == 0
    assert deviance((0, 0, 0, 0, 5), 0.0) == math.inf
    assert deviance((1, 0, 0, 0, 5), 1.0) == math.inf
    assert deviance((0, 0, 0, 0, 0), 0.3) == 0


def test_nothing_is_known_without_a_pair_and_next_to_nothing_after_one() -> None:
    none, one = estimate((0, 0, 0, 0, 0)), estimate((0, 0, 0, 0, 1))
    assert (none.elo, none.low, none.high, none.los, none.results) == (0, -math.inf, math.inf, 0.5, 0)
    assert -math.inf < one.low < -400
    assert one.high == math.inf
    assert 0.5 < one.los < 0.9


def test_a_clean_sweep_bounds_the_difference_from_below_only() -> None:
    ten, hundred = estimate((0, 0, 0, 0, 10)), estimate((0, 0, 0, 0, 100))
    assert (ten.elo, ten.high) == (math.inf, math.inf)
    assert 0 < ten.low < hundred.low < math.inf
    # All ten pairs are won with probability 2.5 % by a player this strong if a pair's games always end alike, and by
    # a stronger one if they are independent: the bound lies between the two.
    assert elo_difference(0.025 ** (1 / 10)) < ten.low < elo_difference(0.025 ** (1 / 20))


def test_the_interval_of_a_short_match_keeps_its_width() -> None:
    """Golden: the correction for short matches (Bartlett) decides the third digit."""
    result = estimate((0, 1, 2, 3, 2))
    assert (result.score_low, result.score_high) == pytest.approx((0.4632, 0.8613), abs=5e-4)


def test_pairs_tell_more_than_their_games_where_openings_are_biased() -> None:
    """Twenty points of forty, once from won and lost pairs, once from pairs with a win each."""
    assert estimate((0, 0, 20, 0, 0)).high < estimate((5, 0, 10, 0, 5)).high < estimate((10, 0, 0, 0, 10)).high


@given(some_pairs)
def test_the_other_player_s_estimate_is_the_mirror_image(pairs: PairCounts) -> None:
    ours, theirs = estimate(pairs), estimate(pairs[::-1])
    assert theirs.score == pytest.approx(1 - ours.score)
    assert theirs.los == pytest.approx(1 - ours.los)
    assert theirs.score_low == pytest.approx(1 - ours.score_high)
    if math.isfinite(ours.high):
        assert theirs.low == pytest.approx(-ours.high)


@given(some_pairs)
def test_estimates_are_numbers_in_order(pairs: PairCounts) -> None:
    result = estimate(pairs)
    assert 0 <= result.score_low <= result.score <= result.score_high <= 1
    assert result.low <= result.elo <= result.high
    assert 0 <= result.los <= 1
    assert result.results == sum(pairs)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(4000, 2000, 3700), (300, 900, 260), (1200, 0, 1100)])
def test_many_single_games_have_the_normal_interval_and_superiority(wins: int, draws: int, losses: int) -> None:
    games = wins + draws + losses
    score = (wins + draws / 2) / games
    variance = (wins * (1 - score) ** 2 + draws * (0.5 - score) ** 2 + losses * score**2) / games
    reach = 1.96 * math.sqrt(variance / games)
    result = estimate(game_counts(wins, draws, losses))
    assert (result.score, result.results) == (pytest.approx(score), games)
    assert result.elo == pytest.approx(400 * math.log10(score / (1 - score)))
    assert result.score_low == pytest.approx(score - reach, abs=0.03 * reach)
    assert result.score_high == pytest.approx(score + reach, abs=0.03 * reach)
    assert result.los == pytest.approx(
        0.5 * (1 + math.erf((wins - losses) / math.sqrt(2 * (wins + losses)))), abs=0.002
    )


@given(some_played, st.integers(0, 3))
def test_a_better_pair_never_makes_the_player_weaker(pairs: PairCounts, place: int) -> None:
    counts = list(pairs)
    counts[place] += 1
    before = estimate(tuple(counts))
    counts[place] -= 1
    counts[place + 1] += 1
    after = estimate(tuple(counts))
    assert after.score > before.score
    assert after.score_low >= before.score_low - 1e-9
    assert after.score_high >= before.score_high - 1e-9
    assert after.los >= before.los - 1e-9


def test_superiority_is_sure_to_97_5_percent_where_the_interval_lies_above_0() -> None:
    """In every short match, where the threshold is wider, too."""
    for pairs in itertools.product(range(3), range(2), range(2), range(4), range(5)):
        result = estimate(pairs)
        if abs(result.low) > 1e-6:
            assert (result.los > 0.975) == (result.low > 0), pairs


@pytest.mark.parametrize(
    ("pairs", "elo", "draws", "bias", "suits"),
    [
        (20, 0, 0.0, 0, 0),
        (20, 100, 0.25, 200, 0),
        (50, 200, 0.5, 0, 0),
        (50, 50, 0.0, 0, 200),
        (200, 400, 0.25, 200, 0),
    ],
)
def test_the_interval_holds_the_true_difference_in_95_percent_of_matches(
    pairs: int, elo: float, draws: float, bias: float, suits: float
) -> None:
    distribution = pair_distribution(elo, draws, bias, suits)
    assert distribution @ PAIR_SCORES == pytest.approx(expected_score(elo))
    # Three standard errors of 1,000 matches are 2 %.
    assert 0.93 <= coverage(pairs, elo, distribution, matches=1000, seed=1) <= 0.97 + 0.005
