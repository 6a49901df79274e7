"""Explanations on boards drawn by hand: each threat has its sentence, and none is claimed that can be answered."""

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from gomoku_cli.study.explain import Explainer
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.mentor.player import Mentor
from tests.support.cases import cases
from tests.support.mentor_positions import RULES, position, takes_many_nodes

EXPLAINER = Explainer(RULES)
OTHER = {BLACK: "White", WHITE: "Black"}

LOSSES = cases("losses_explained")


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(("own", "enemy", "sentence"), LOSSES)
def test_a_move_that_ignores_a_threat_is_explained(own: str, enemy: str, sentence: str, colour: Colour) -> None:
    board = position(colour, own, enemy)
    found = EXPLAINER.loss(board, parse_cell("n3", 15))
    assert found.startswith(sentence.format(other=OTHER[colour]))
    assert found.endswith(".")
    assert EXPLAINER.threat(board)[-12:] == found[-12:]


@pytest.mark.parametrize(("own", "enemy", "move", "why"), cases("losses_not_claimed"))
def test_no_loss_is_claimed_where_there_is_an_answer(own: str, enemy: str, move: str, why: str) -> None:
    assert EXPLAINER.loss(position(BLACK, own, enemy), parse_cell(move, 15)) == "", why


def test_the_proof_of_a_search_speaks_where_patterns_are_silent() -> None:
    board = position(BLACK, "k3 m12", "f8 g8")
    reply = [parse_cell(name, 15) for name in ("h8", "i8", "h9")]
    proven = Analysis(moves=(MoveAnalysis(reply[0], proof=9),), value=1.0, variation=tuple(reply), nodes=5, seconds=0.1)
    assert EXPLAINER.loss(board, parse_cell("m3", 15), proven) == "White has a forced win in 9: h8 i8 h9."


def test_a_move_that_ends_the_game_loses_nothing() -> None:
    assert EXPLAINER.loss(position(BLACK, "e5 f5 g5 h5", "e8 f8 g8 h8"), parse_cell("i5", 15)) == ""


def test_two_stones_threaten_nothing() -> None:
    assert EXPLAINER.threat(position(BLACK, "k3 m12", "f8 g8")) == ""


def test_four_in_a_row_on_a_small_board_has_threats_too() -> None:
    rules = Rules(7, 4)
    board = Position.from_moves(rules, ["d4", "a1", "d5"])
    found = Explainer(rules).loss(board, parse_cell("g7", 7))
    assert found.startswith("This leaves Black's open two on d4-d5: Black makes an open three at")


@takes_many_nodes
def test_the_mentor_wins_wherever_a_loss_is_claimed() -> None:
    mentor = Mentor(Limit(nodes=60_000))
    for own, enemy, _ in LOSSES:
        board = position(WHITE, own, enemy)
        board.push("n3")
        assert mentor.search(board)[1].value == 1.0
