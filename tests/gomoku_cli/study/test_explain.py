"""Explanations on boards drawn by hand: each threat has its sentence, and none is claimed that can be answered."""

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from gomoku_cli.study.explain import Explainer
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.mentor.player import Mentor
from tests.support.mentor_positions import RULES, position, takes_many_nodes

EXPLAINER = Explainer(RULES)
OTHER = {BLACK: "White", WHITE: "Black"}

LOSSES = {
    "a four": ("d8 k3", "e8 f8 g8 h8", "This leaves {other}'s four on e8-h8: {other} makes five at i8."),
    "an open four": ("k3 m5", "e8 f8 g8 h8", "This leaves {other}'s open four on e8-h8: {other} makes five at d8."),
    "a broken four": ("k3 m5", "e8 f8 h8 i8", "This leaves {other}'s four on e8-i8: {other} makes five at g8."),
    "an open three": ("k3 m5", "h8 h9 h10", "This leaves {other}'s open three on h8-h10: {other} makes an open four"),
    "a broken three": (
        "k3 m5",
        "f6 g7 i9",
        "This leaves {other}'s open three on f6-i9: {other} makes an open four at h8.",
    ),
    "two fours": ("f7 j3", "g7 h7 i7 j4 j5 j6", "{other} then makes two fours at once at j7."),
    "a four and a three": ("f7 k10", "g7 h7 i7 j8 j9", "{other} then makes a four and an open three at once at j7."),
    "several fours": ("f7 g10", "g7 h7 i7 j8 j9 h10 i10", "{other} then"),
    "two open threes": ("k3 m12", "f8 g8 h6 h7", "{other} then makes two open threes at once at h8."),
}


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("name", LOSSES)
def test_a_move_that_ignores_a_threat_is_explained(name: str, colour: Colour) -> None:
    own, enemy, sentence = LOSSES[name]
    board = position(colour, own, enemy)
    found = EXPLAINER.loss(board, parse_cell("n3", 15))
    assert found.startswith(sentence.format(other=OTHER[colour]))
    assert found.endswith(".")
    assert EXPLAINER.threat(board)[-12:] == found[-12:]


@pytest.mark.parametrize(
    ("own", "enemy", "move"),
    [
        ("d8 k3", "e8 f8 g8 h8", "i8"),  # the only answer to a four
        ("k3 m5", "h8 h9 h10", "h11"),  # an answer to an open three
        ("d4 e4 f4", "h8 h9 h10", "g4"),  # an open four of one's own is faster
        ("k3 m12", "f8 g8 h6 h7", "h8"),  # the cell of a double threat
        ("c11 d11 e11", "f8 g8 h6 h7", "m3"),  # two open threes, but an open three that becomes a four first
        ("k3 m12", "f8 g8", "m3"),
    ],
)
def test_no_loss_is_claimed_where_there_is_an_answer(own: str, enemy: str, move: str) -> None:
    assert EXPLAINER.loss(position(BLACK, own, enemy), parse_cell(move, 15)) == ""


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
    for own, enemy, _ in LOSSES.values():
        board = position(WHITE, own, enemy)
        board.push("n3")
        assert mentor.search(board)[1].value == 1.0
