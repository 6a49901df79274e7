"""Opening rules: whose turn it is, what may be chosen, and who has which colour at the end."""

import pytest

from core.compiled.symmetry import targets
from core.opening_rules import Choice, Opening, OpeningRule
from core.position import IllegalMoveError, Position
from core.rules import BLACK, WHITE, Rules
from tests.support.cases import cases


@pytest.mark.parametrize(("text", "ply", "expected"), cases("opening_courses"))
def test_each_course_of_an_opening(text: str, ply: int, expected: list[object] | int) -> None:
    """After these choices and stones: the side whose turn it is and its choices, or the side that has Black."""
    opening = Opening.parse(text)
    assert str(opening) == text
    if isinstance(expected, int):
        assert opening.is_over(ply)
        assert opening.options(ply) == ()
        assert (opening.colour_of(0), opening.colour_of(1)) == ((BLACK, WHITE), (WHITE, BLACK))[expected]
    else:
        assert not opening.is_over(ply)
        assert [opening.actor(ply), " ".join(opening.options(ply))] == expected


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


def test_rif_has_the_26_openings_of_renju() -> None:
    opening, found, games = Opening(OpeningRule.RIF), set(), [Position(Rules())]
    for _ in range(3):
        games = [
            Position.from_moves(game.rules, (*game.moves, cell))
            for game in games
            for cell in game.legal_moves()
            if opening.allows(game, cell)
        ]
    for game in games:
        found.add(min(tuple(int(way[cell]) for cell in game.moves) for way in targets(15)))
    assert len(found) == 26
    assert all(opening.allows(games[0], cell) for cell in games[0].legal_moves()), "after its stones it says nothing"
    with pytest.raises(IllegalMoveError, match="in rif stone 2 stands one line from the centre at most"):
        opening.check(Position.from_moves(Rules(), "h8"), 0)
