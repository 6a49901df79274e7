"""From logits to priors, and from visits to a move: equation 5, the three policies, and the stage of a switch."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import NO_CELL
from core.streams import generator
from search.tree.move_policy import choose_move, draws_move, visit_distribution
from search.tree.settings import Policy
from search.tree.softmax import best_with_noise, make_scratch, power_of_two, priors_of, scan_best, write_priors

VISITS = st.lists(st.integers(0, 10_000), min_size=1, max_size=64).filter(any)


@given(VISITS, st.floats(0.2, 5.0))
def test_the_distribution_is_equation_5(counts: list[int], temperature: float) -> None:
    policy = visit_distribution(np.array(counts, dtype=np.int32), temperature)
    powers = [count ** (1 / temperature) for count in counts]
    assert policy == pytest.approx([power / sum(powers) for power in powers], rel=1e-4, abs=1e-7)
    assert policy.sum() == pytest.approx(1.0, abs=1e-5)
    assert not policy[np.array(counts) == 0].any()


@given(VISITS, st.sampled_from((1e-300, 1e-9, 1e-3)))
def test_a_small_temperature_only_sharpens(counts: list[int], temperature: float) -> None:
    policy = visit_distribution(np.array(counts, dtype=np.int32), temperature)
    assert np.isfinite(policy).all()
    assert counts[int(policy.argmax())] == max(counts)


@given(VISITS)
def test_temperature_0_shares_all_among_the_most_visited(counts: list[int]) -> None:
    policy = visit_distribution(np.array(counts, dtype=np.int32), 0.0)
    most = np.array(counts) == max(counts)
    assert policy == pytest.approx(most / most.sum())


def test_nothing_visited_is_no_distribution() -> None:
    with pytest.raises(ValueError, match="no move was visited"):
        visit_distribution(np.zeros(9, dtype=np.int32))


def test_semi_stochastic_samples_up_to_the_switch_stage() -> None:
    """A II-C: with a stage of 6 the seventh stone is still sampled, the eighth no more."""
    drawn = [stones for stones in (0, 5, 6, 7, 100) if draws_move(Policy.SEMI_STOCHASTIC, stones, 6)]
    assert drawn == [0, 5, 6]
    assert all(draws_move(Policy.STOCHASTIC, stones, 6) for stones in (0, 6, 7, 200))
    assert not any(draws_move(Policy.DETERMINISTIC, stones, 6) for stones in (0, 6, 7, 200))


def test_the_best_move_is_the_lowest_of_equals() -> None:
    policy = np.array([0.1, 0.4, 0.1, 0.4], dtype=np.float32)
    assert {choose_move(policy, sample=False, generator=partial(generator, seed)) for seed in range(20)} == {1}


def test_sampled_moves_come_as_often_as_pi_says() -> None:
    policy = np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0], dtype=np.float32)
    random, draws = generator(7), 20_000
    moves = [choose_move(policy, sample=True, generator=lambda: random) for _ in range(draws)]
    shares = np.bincount(moves, minlength=6) / draws
    assert shares == pytest.approx(policy, abs=4 * 0.5 / draws**0.5)
    assert not shares[policy == 0].any()


# Priors


@given(
    cells=st.integers(1, 40),
    seed=st.integers(0, 1000),
    spread=st.sampled_from([0.0, 0.1, 3.0, 40.0, 400.0]),
    mean=st.sampled_from([0.0, -50.0, 50.0]),
)
def test_priors_are_the_softmax_over_the_legal_moves(cells: int, seed: int, spread: float, mean: float) -> None:
    random = np.random.default_rng(seed)
    legal = random.random(cells) < 0.3
    legal[random.integers(cells)] = True
    logits = (random.normal(size=cells) * spread + 0.0 + mean).astype(np.float32)  # no -0.0, which equals 0.0
    row = np.empty(cells, dtype=np.int16)
    total = write_priors(legal, logits, row, make_scratch(cells))
    exact = np.exp(logits[legal].astype(np.float64) - logits[legal].max())
    assert priors_of(row)[legal] == pytest.approx(exact / exact.sum(), rel=2**-8, abs=1e-30)
    assert (row[~legal] == -1).all()
    assert not priors_of(row)[~legal].any()
    assert total == pytest.approx(exact.sum(), rel=1e-5)
    assert scan_best(row) == np.flatnonzero(priors_of(row) == priors_of(row).max())[0]
    assert row[scan_best(row)] == row[legal][logits[legal].argmax()], "nothing passes the best move"


def test_powers_of_two_are_exact_to_the_last_bit() -> None:
    exponents = np.linspace(-0.5, 0.5, 101, dtype=np.float32)
    powers = [float(power_of_two(exponent)) for exponent in exponents]
    assert powers == pytest.approx(2.0 ** exponents.astype(np.float64), rel=2**-22)


@pytest.mark.parametrize(("row", "best"), [([-1, 0, 0], 1), ([-1, 1, 0], 1), ([-1, -1], NO_CELL), ([3, 7, 7], 1)])
def test_the_best_prior_may_be_nothing_at_all(row: list[int], best: int) -> None:
    words = np.array(row, np.int16)
    assert scan_best(words) == best
    if best != NO_CELL:
        mixed = np.float32(0.5) * priors_of(words)[best]
        assert best_with_noise(words, np.zeros(len(row), np.float32), np.float32(0.5)) == (best, mixed)


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf])
def test_a_logit_that_is_no_number_is_noticed_on_legal_moves_only(bad: float) -> None:
    legal = np.array([True, False, True, True])
    row = np.empty(4, dtype=np.int16)
    for cell in range(4):
        logits = np.zeros(4, dtype=np.float32)
        logits[cell] = np.float32(bad)
        with np.errstate(invalid="ignore"):  # numpy's casts warn, compiled ones do not
            total = write_priors(legal, logits, row, make_scratch(4))
        assert np.isfinite(total) == (not legal[cell])
