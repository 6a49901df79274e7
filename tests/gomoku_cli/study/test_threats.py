"""Threats on a board: the cells that overlays mark, wins by fours, and sentences that claim no more than holds."""

import numpy as np
import pytest

from core.compiled import stones_of, threats
from core.compiled.threats import FIVE, FOUR, OPEN_FOUR, OPEN_THREE
from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules, Variant
from gomoku_cli.study.explain import Explainer
from gomoku_cli.study.threats import Threats
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.mentor.player import Mentor
from tests.support.cases import cases
from tests.support.mentor_positions import RULES, position, takes_many_nodes

THREATS = Threats(RULES)


def names(cells: tuple[int, ...]) -> str:
    return " ".join(cell_name(cell, 15) for cell in cells)


def grown(own: str, enemy: str = "", threats: Threats = THREATS) -> dict[str, list[str]]:
    """The cells where black makes five or an open four, by class and stones of the line that grows."""
    stones, found = stones_of(position(BLACK, own, enemy)), {}
    for cell in np.flatnonzero(stones == 0).tolist():
        for line in threats.grown_lines(stones, BLACK, cell):
            found.setdefault((line[0], names(line[1])), []).append(cell_name(cell, 15))
    return found


@pytest.mark.parametrize(("own", "enemy", "expected"), cases("threat_lines"))
def test_the_lines_of_a_side_are_named_with_their_gains(
    own: str, enemy: str, expected: list[tuple[str, str, str]]
) -> None:
    lines = {(getattr(threats, kind), stones): sorted(gains.split()) for kind, stones, gains in expected}
    assert {line: sorted(gains) for line, gains in grown(own, enemy).items()} == lines


def test_where_exactly_five_win_no_gain_makes_six() -> None:
    own = "c8 e8 f8 g8 h8"
    assert grown(own, threats=Threats(Rules(15, 5, Variant.STANDARD))) == {(FOUR, "e8 f8 g8 h8"): ["i8"]}
    assert grown(own) == {(OPEN_FOUR, "e8 f8 g8 h8"): ["d8", "i8"]}


@pytest.mark.parametrize("variant", [Variant.STANDARD, Variant.RENJU])
def test_a_stone_that_makes_five_and_six_grows_the_five_alone(variant: Variant) -> None:
    board = position(BLACK, "d8 e8 f8 g8 h5 h6 h7 h9 h10", "b2")
    found = Threats(Rules(15, 5, variant)).grown_lines(stones_of(board), BLACK, parse_cell("h8", 15))
    assert [(kind, names(line)) for kind, line in found] == [(OPEN_FOUR, "d8 e8 f8 g8")]


def test_two_ways_to_five_by_different_stones_are_two_fours() -> None:
    assert grown("d8 f8 g8 h8 j8") == {(FOUR, "d8 f8 g8 h8"): ["e8"], (FOUR, "f8 g8 h8 j8"): ["i8"]}


def test_cells_have_the_class_that_a_stone_would_make() -> None:
    board = position(BLACK, "e8 f8 g8 h8 m3 m4 m5", "d8 c3 c4 c5 c6")
    cells = THREATS.cells(stones_of(board))
    assert cells.shape == (2, 225)
    black, white = cells
    assert black[parse_cell("i8", 15)] == FIVE
    assert white[parse_cell("c7", 15)] == FIVE
    assert black[parse_cell("m6", 15)] == OPEN_FOUR
    assert black[parse_cell("m7", 15)] == FOUR
    assert not black[board.moves].any()
    assert black[parse_cell("o12", 15)] == 0
    assert np.isin(cells, [0, OPEN_THREE, FOUR, OPEN_FOUR, FIVE]).all()


def test_a_win_by_fours_is_the_line_of_both_sides() -> None:
    board = position(WHITE, "d12 k10", "g7 h7 i7 j8 j9")
    board.push("f7")
    line = THREATS.win_by_fours(stones_of(board), BLACK)
    assert names(line[:2]) == "j7 k7"
    for ply, move in enumerate(line):
        assert board.side_to_move == (BLACK if ply % 2 == 0 else WHITE)
        board.push(move)
    outcome = board.outcome()
    assert outcome.winner == BLACK
    assert THREATS.win_by_fours(stones_of(position(BLACK, "h8", "i9")), WHITE) == ()


# Reasons

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
