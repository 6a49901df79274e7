"""The mentor of paper A: its values."""

import pytest

from core.rules import BLACK, WHITE, Colour
from search.mentor.paper import PaperMentor
from tests.support.mentor_positions import position


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(
    ("own", "enemy", "value"),
    [
        pytest.param("e5 f5 g5 h5", "d5", 5.0, id="five"),
        pytest.param("g7 h7 i7", "", 4.5, id="open four against nothing"),
        pytest.param("g7 h7 i7", "f7", 4.0, id="four against nothing"),
        pytest.param("g7 h7 i7 j8 j9", "f7", 4.3, id="four and open three"),
        pytest.param("g7 h7", "", 3.5, id="open three against nothing"),
        pytest.param("g7 h7 i8 i9", "", 3.8, id="two open threes"),
        pytest.param("h8", "", 2.5, id="open two against nothing"),
        pytest.param("h8 i9 g7", "l5 l6", 4.5 - 0.1 * 2.5, id="attack less a tenth of the defence"),
        pytest.param("g7 h7 i7", "f7 h10 i10 j10", 4.0 - 0.35, id="a four while the open three stands"),
        pytest.param("", "g7 h7 i7 g10 h10 i10", -4.0, id="one of two open threes stands"),
        pytest.param("", "g7 h7 i7 j7", -4.5, id="one end of an open four stands"),
        pytest.param("", "g7 h7 i7 j7 g10 h10 i10 j10", -5.0, id="an open four stands"),
    ],
)
def test_the_paper_mentor_values_its_move_by_the_rules_of_the_paper(
    colour: Colour, own: str, enemy: str, value: float
) -> None:
    decision = PaperMentor().choose_batch([position(colour, own, enemy)], seeds=[0])[0]
    assert decision.value == pytest.approx(value / 5)
