"""Stones that are set up: moves that lead to them, and SGF's AB, AW and PL."""

import pickle
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.notation import cell_name, parse_cell
from core.position import Position
from core.records.record import RecordError
from core.records.sgf import parse_sgf, parse_trees, to_sgf
from core.records.sgf_analyses import main_line
from core.records.tree import GameTree
from core.rules import BLACK, WHITE, Rules, Variant
from core.set_up import moves_to
from tests.support.cases import cases


def names(cells: Iterable[int]) -> str:
    return " ".join(cell_name(cell, 15) for cell in cells)


def cells(text: str) -> list[int]:
    return [parse_cell(name, 15) for name in text.split()]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 224), unique=True, max_size=60), st.sampled_from(list(Variant)))
def test_moves_lead_to_the_stones_of_any_game(order: list[int], variant: Variant) -> None:
    game = Position(Rules(15, 5, variant))
    for cell in order:
        if not game.is_game_over() and game.is_legal(cell):
            game.push(cell)
    black, white = ([cell for cell in sorted(game.moves) if game.stones[cell] == each] for each in (BLACK, WHITE))
    found = Position.from_moves(game.rules, moves_to(game.rules, black, white))
    assert found.stones == game.stones
    assert found.side_to_move == game.side_to_move


def test_stones_of_no_game_are_refused() -> None:
    with pytest.raises(ValueError, match="2 black, 0 white"):
        moves_to(Rules(), cells("h8 h9"), [])
    with pytest.raises(ValueError, match="0 black, 1 white"):
        moves_to(Rules(), [], cells("h8"))
    line, other = cells("a1 b1 c1 d1 e1"), cells("a3 b3 c3 d3 e3")
    with pytest.raises(ValueError, match="no game leads"):
        moves_to(Rules(), line, other)
    assert moves_to(Rules(), line, other[:4])[-1] in line


def test_a_line_that_is_too_long_at_the_end_is_built_in_an_order_that_does_not_win() -> None:
    black, white = cells("a1 b1 c1 d1 e1 f1"), cells("a5 c5 e5 g5 i5 k5")
    moves = moves_to(Rules(15, 5, Variant.STANDARD), black, white)
    assert Position.from_moves(Rules(15, 5, Variant.STANDARD), moves).ply == 12


SET_UP = "(;GM[4]SZ[15]AB[hh][ih:ji]AW[gg][gh][gi][gj]PL[White]C[a study]LB[hh:1];W[kk]C[out];B[aa](;W[ab])(;W[ac]))"


def test_set_up_stones_of_the_root_are_moves_of_the_tree_and_are_written_as_set_up() -> None:
    (tree,) = parse_trees(SET_UP)
    assert tree.set_up == 9
    line = tree.main_line()
    assert names(sorted(node.move for node in line[:9:2])) == names(sorted(cells("h8 i8 i7 j8 j7")))
    assert [names([node.move]) for node in line[9:]] == ["k5", "a15", "a14"]
    assert line[8].comment == "a study"
    assert [next(iter(node.properties)) for node in line[:2]] == ["B", "W"]
    for again in (tree, pickle.loads(pickle.dumps(tree)), GameTree.of(tree.record())):
        assert again.set_up == 9
    text = to_sgf(tree)
    assert text.count("AB[") == text.count("AW[") == text.count("PL[W]") == text.count("a study") == 1
    assert text.count(";") == 5
    (once,) = parse_trees(text)
    assert to_sgf(once) == text
    assert [node.move for node in once.main_line()] == [node.move for node in line]
    (record,) = parse_sgf(SET_UP)
    assert (record.set_up, list(record.moves)) == (9, [node.move for node in line])
    assert [ply for _, _, ply in main_line(SET_UP)] == [9, 10, 11, 12]


@pytest.mark.parametrize(("text", "why"), cases("set_ups_refused"))
def test_what_no_game_leads_to_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(RecordError, match=why):
        parse_sgf(text)


def test_empty_set_up_properties_change_nothing() -> None:
    (tree,) = parse_trees("(;GM[4]AB[]PL[B];B[hh])")
    assert tree.set_up == 0
    assert tree.properties["PL"] == "[B]"
    assert tree.main_line()[0].position().side_to_move == WHITE
