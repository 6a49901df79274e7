"""Scripted beginners: their rules, and even steps between the levels."""

import pytest

from benchmarks.beginners import Beginner, largest_step, scores
from core.rules import BLACK, WHITE, Colour
from curriculum.arena import player_names
from tests.support.mentor_positions import moves_of, position


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_a_beginner_sees_fives_its_own_open_threes_and_fours_to_block(colour: Colour) -> None:
    blind, sharp = Beginner(1.0), Beginner(0.0)
    assert moves_of(blind, position(colour, "e5 f5 g5 h5", "d5 e8 f8 g8 h8")) == {"i5"}
    assert moves_of(blind, position(colour, "c4 d4 e4", "k9 m2")) <= {"b4", "f4"}
    assert moves_of(sharp, position(colour, "d5 c9", "e5 f5 g5 h5")) == {"i5"}
    assert moves_of(sharp, position(colour, "k3 m5", "g7 h7 i7")) <= {"f7", "j7"}
    assert not moves_of(blind, position(colour, "k3 m5", "g7 h7 i7")) & {"f7", "j7"}, "it overlooks the open three"


def test_the_largest_step_counts_where_neither_side_is_sure() -> None:
    assert largest_step([1.0, 0.95, 0.7, 0.5, 0.05, 0.0]) == pytest.approx(0.45)
    assert largest_step([1.0, 0.92, 0.08, 0.0]) == pytest.approx(0.84), "a cliff between two sure results is one, too"
    assert largest_step([1.0, 0.95]) == 0.0


@pytest.mark.slow
def test_the_levels_are_even_to_a_beginner() -> None:
    """The levels that were had a step of 68 points here."""
    found = scores(0.5, player_names.LEVELS[:8], 40, seed=1)
    shares = [score for score, _, _ in found.values()]
    assert largest_step(shares) < 0.43, "25 points and the noise of 40 games"
    assert shares[0] > 0.7
    assert shares[7] < 0.1
