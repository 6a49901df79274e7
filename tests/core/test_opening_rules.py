"""Opening rules: whose turn it is, what may be chosen, and who has which colour at the end."""

import pytest

from core.opening_rules import Choice, Opening, OpeningRule
from core.rules import BLACK, WHITE

# After these choices and stones: the side whose turn it is and its choices, or the side that has Black.
COURSES = [
    ("swap", 0, (0, "")),
    ("swap", 2, (0, "")),
    ("swap", 3, (1, "white black")),
    ("swap white", 3, 0),
    ("swap black", 3, 1),
    ("swap2", 1, (0, "")),
    ("swap2", 3, (1, "white black more")),
    ("swap2 white", 3, 0),
    ("swap2 black", 3, 1),
    ("swap2 more", 3, (1, "")),
    ("swap2 more", 4, (1, "")),
    ("swap2 more", 5, (0, "white black")),
    ("swap2 more white", 5, 1),
    ("swap2 more black", 5, 0),
    ("free", 0, 0),
]


@pytest.mark.parametrize(("text", "ply", "expected"), COURSES)
def test_each_course_of_an_opening(text: str, ply: int, expected: tuple[int, str] | int) -> None:
    opening = Opening.parse(text)
    assert str(opening) == text
    if isinstance(expected, int):
        assert opening.is_over(ply)
        assert opening.options(ply) == ()
        assert (opening.colour_of(0), opening.colour_of(1)) == ((BLACK, WHITE), (WHITE, BLACK))[expected]
    else:
        assert not opening.is_over(ply)
        assert (opening.actor(ply), " ".join(opening.options(ply))) == expected


def test_colours_that_are_chosen_still_wait_for_stones_of_a_shorter_game() -> None:
    assert not Opening.parse("swap2 black").is_over(2)


@pytest.mark.parametrize(
    "text", ["", "swap3", "swap more", "free black", "swap2 black more", "swap2 more more", "swap x"]
)
def test_a_text_of_no_opening_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a valid|is no opening"):
        Opening.parse(text)


def test_a_choice_that_the_rule_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="swap more is no opening"):
        Opening(OpeningRule.SWAP).after(Choice.MORE)
