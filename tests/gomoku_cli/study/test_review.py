"""Reviews: win probabilities, losses, grades and key moments."""

from dataclasses import replace
from typing import Any

import pytest

from core.opening_rules import Choice, Opening, OpeningRule
from core.records.record import GameRecord
from core.rules import BLACK, WHITE, Rules
from gomoku_cli.study.game import KeptAnalysis, StudiedGame
from gomoku_cli.study.review import Grade, review_of
from gomoku_cli.study.values import win_probability
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit

RULES = Rules(7, 4)
MOVES = (0, 7, 1, 8, 2, 9, 3)
"""Black wins with its fourth stone."""
LIMIT = Limit(nodes=5)


def kept(value: float, best: int, proof: int | None = None) -> KeptAnalysis:
    """An analysis for the side to move."""
    analysis = Analysis(
        moves=(MoveAnalysis(best, value, proof=proof),), value=value, variation=(best,), nodes=5, seconds=0
    )
    return KeptAnalysis(analysis=analysis, player="scripted", limit=LIMIT)


def test_a_value_is_a_probability() -> None:
    assert [win_probability(value) for value in (-1, 0, 0.5, 1)] == [0, 0.5, 0.75, 1]


def game() -> StudiedGame:
    return StudiedGame(
        GameRecord(RULES, MOVES),
        (
            kept(0.3, 24),  # black: 65 %
            kept(-0.1, 8),  # white: 45 %, black 55 %
            kept(0.1, 1),  # black: 55 %
            kept(0.3, 24),  # white 65 %, black 35 %: after black's best move
            kept(0.9, 2, proof=3),  # black 100 %, since it is proven: white's move lost 65 points
            kept(-1.0, 9, proof=-2),
            kept(1.0, 3, proof=1),
        ),
    )


def test_probabilities_and_losses_of_a_game() -> None:
    review = review_of(game())
    assert review.black == pytest.approx((0.65, 0.55, 0.55, 0.35, 1.0, 1.0, 1.0, 1.0))
    assert None not in review.black
    assert [move.colour for move in review.moves] == [BLACK, WHITE] * 3 + [BLACK]
    assert [move.loss for move in review.moves] == pytest.approx([0.1, 0.0, 0.0, 0.65, 0.0, 0.0, 0.0])
    assert review.moves[3].before == pytest.approx(0.65)
    assert review.moves[3].after == pytest.approx(0.0)
    assert review.moves[3].best == 24
    assert [move.grade for move in review.moves][:4] == [Grade.INACCURACY, Grade.GOOD, Grade.GOOD, Grade.BLUNDER]
    assert review.mean_loss(WHITE) == pytest.approx(0.65 / 3)
    assert review.mean_loss(BLACK) == pytest.approx(0.025)


def test_the_best_move_has_no_loss_even_if_a_deeper_look_finds_it_bad() -> None:
    assert review_of(game()).moves[2].loss == 0.0


@pytest.mark.parametrize(
    "made",
    [{"set_up": 3}, {"opening": Opening(OpeningRule.SWAP, (Choice.WHITE,))}],
    ids=("set up", "by an opening rule"),
)
def test_stones_that_stand_for_both_colours_are_not_graded(made: dict[str, Any]) -> None:
    whole = game()
    review = review_of(replace(whole, record=replace(whole.record, **made)))
    assert [move.loss for move in review.moves[:3]] == [None] * 3
    assert [move.best for move in review.moves[:3]] == [None] * 3
    assert review.moves[3].loss == pytest.approx(0.65)
    assert review.mean_loss(BLACK) == 0.0


def test_mistakes_and_key_moments() -> None:
    review = review_of(game())
    assert [move.ply for move in review.mistakes()] == [4]
    assert [move.ply for move in review.mistakes(least=0.01)] == [1, 4]
    assert review.decided_at() == 4
    assert review.key_moments() == [3, 4]


def test_a_win_given_away_is_marked() -> None:
    spoiled = StudiedGame(GameRecord(RULES, (0, 7)), (kept(1.0, 24, proof=5), kept(0.0, 7), None))
    assert review_of(spoiled).moves[0].ends_forced_win
    assert not review_of(game()).moves[4].ends_forced_win


def test_a_game_without_analyses_has_its_end_alone() -> None:
    review = review_of(StudiedGame(GameRecord(RULES, MOVES)))
    assert review.black == (None,) * 7 + (1.0,)
    assert {(move.loss, move.grade, move.best) for move in review.moves} == {(None, None, None)}
    assert review.key_moments() == [7]
    assert review.mean_loss(BLACK) is None
    empty = review_of(StudiedGame(GameRecord(RULES, ())))
    assert (empty.moves, empty.key_moments()) == ((), [])
