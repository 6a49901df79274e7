"""The mentor of paper A: its values."""

import pytest

from core.rules import BLACK, WHITE, Colour
from search.mentor.paper import PaperMentor
from tests.support.cases import cases
from tests.support.mentor_positions import position


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(("own", "enemy", "value", "why"), cases("paper_values"))
def test_the_paper_mentor_values_its_move_by_the_rules_of_the_paper(
    colour: Colour, own: str, enemy: str, value: float, why: str
) -> None:
    decision = PaperMentor().choose_batch([position(colour, own, enemy)], seeds=[0])[0]
    assert decision.value == pytest.approx(value / 5), why
