"""Priors: the softmax over the legal moves, in one pass over a row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import NO_CELL
from search.tree.softmax import best_with_noise, make_scratch, power_of_two, priors_of, scan_best, write_priors


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
