"""Sequential tests: published ratios, error rates as ordered, and specifications that say what is wrong with them."""

import json
import math

import pytest

from core.streams import generator
from curriculum.arena.statistics.elo import PairCounts, expected_score
from curriculum.arena.statistics.sprt import SequentialTest, SprtDecision
from tests.support.cases import cases
from tests.support.pairs import pair_distribution


@pytest.mark.parametrize(
    ("elo0", "elo1", "pairs", "llr"),
    [
        # fastchess, app/tests/sprt_test.cpp, "logistic pentanomial" 1 and 2.
        (0.5, 2.5, (223, 9863, 20279 + 1000, 10037, 246), -3.07),
        (0, 2, (871, 26175, 55003 + 980, 26678, 821), -4.98),
        # Raw statistics of montytest.muzhen.org, test 69d3c8dc7c5b3724e29d2712, "Logistic (exact)"; elo1 is rounded.
        (0, 2.716, (13, 37, 50, 25, 3), -0.53772),
    ],
)
def test_published_log_likelihood_ratios(elo0: float, elo1: float, pairs: PairCounts, llr: float) -> None:
    assert SequentialTest(elo0, elo1).llr(pairs) == pytest.approx(llr, abs=0.005)


def test_published_bounds() -> None:
    # The same page, and every test of fishtest with these error rates.
    assert SequentialTest(0, 5).bounds == pytest.approx((-2.9444, 2.9444), abs=1e-4)
    # A. Wald's own: log(beta / (1 - alpha)) and log((1 - beta) / alpha).
    assert SequentialTest(0, 5, alpha=0.1, beta=0.02).bounds == pytest.approx((math.log(0.02 / 0.9), math.log(9.8)))


def test_without_a_pair_the_test_goes_on() -> None:
    test = SequentialTest(0, 50)
    assert test.llr((0, 0, 0, 0, 0)) == 0
    assert test.decide((0, 0, 0, 0, 0)) is SprtDecision.CONTINUE


def test_won_pairs_count_by_the_ratio_of_the_expected_scores() -> None:
    test = SequentialTest(0, 50)
    each = math.log(expected_score(50) / 0.5)
    assert test.llr((0, 0, 0, 0, 7)) == pytest.approx(7 * each)
    enough = math.ceil(test.bounds[1] / each)
    assert test.decide((0, 0, 0, 0, enough - 1)) is SprtDecision.CONTINUE
    assert test.decide((0, 0, 0, 0, enough)) is SprtDecision.ACCEPTED


def test_split_pairs_speak_for_equality() -> None:
    assert SequentialTest(0, 50).decide((0, 0, 100, 0, 0)) is SprtDecision.REJECTED
    assert SequentialTest(-50, 0).decide((0, 0, 100, 0, 0)) is SprtDecision.ACCEPTED
    assert SequentialTest(-25, 25).llr((3, 5, 100, 5, 3)) == pytest.approx(0)


@pytest.mark.parametrize(("truth", "wrong"), [(0, SprtDecision.ACCEPTED), (80, SprtDecision.REJECTED)])
def test_errors_are_no_more_frequent_than_ordered(truth: float, wrong: SprtDecision) -> None:
    test = SequentialTest(0, 80, alpha=0.1, beta=0.1)
    matches, errors = 300, 0
    for match in range(matches):
        openings = {"bias": 200.0} if match % 2 else {"suits": 200.0}
        distribution = pair_distribution(truth, 0.25, **openings)
        counts = [0] * 5
        verdict = SprtDecision.CONTINUE
        for place in generator(5, match).choice(5, size=1000, p=distribution):
            counts[place] += 1
            verdict = test.decide(tuple(counts))
            if verdict is not SprtDecision.CONTINUE:
                break
        assert verdict is not SprtDecision.CONTINUE
        errors += verdict is wrong
    # Two and a half standard errors above what was ordered; a test that never errs would be far too slow.
    assert 0 < errors / matches <= 0.1 + 2.5 * math.sqrt(0.1 * 0.9 / matches)


def test_specifications_are_read() -> None:
    assert SequentialTest.parse("elo0=0,elo1=50") == SequentialTest(0, 50)
    assert SequentialTest.parse(" elo1=5, elo0=-2.5, beta=0.1 ") == SequentialTest(-2.5, 5, beta=0.1)


@pytest.mark.parametrize(("text", "message"), cases("sprt_refused"))
def test_a_wrong_specification_gets_one_clear_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        SequentialTest.parse(text)
    assert "\n" not in str(caught.value)


def test_the_state_of_a_test_is_valid_json() -> None:
    state = json.loads(json.dumps(SequentialTest(0, 50).to_json((0, 0, 0, 0, 40)), allow_nan=False))
    assert state["verdict"] == "accepted"
    assert (state["elo0"], state["elo1"], state["alpha"], state["beta"]) == (0, 50, 0.05, 0.05)
    assert state["llr"] > state["upper_bound"] > 0 > state["lower_bound"]
