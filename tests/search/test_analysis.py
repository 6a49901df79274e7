"""Analyses: a proof decides the value, whatever a search has decayed it to."""

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import Rules, Variant
from gomoku_cli.reports.analyses.lines import position_text
from gomoku_cli.reports.analyses.position import analysis_json, show_analysis, value_text
from gomoku_cli.study.game import KeptAnalysis
from gomoku_cli.tui.engine.worker import view_of
from search.analysis import Analysis, MoveAnalysis
from search.players import Decision
from tests.support.cases import cases

BEST = parse_cell("h9", 15)


def analysis(proof: int | None, value: float) -> Analysis:
    return Analysis(moves=(MoveAnalysis(BEST, value, proof=proof),), value=value, variation=(BEST,), nodes=9, seconds=0)


@pytest.mark.parametrize(("proof", "value", "shown", "words"), cases("proven_texts"))
def test_a_proven_result_is_sure_in_every_text(proof: int | None, value: float, shown: str, words: str) -> None:
    found, position = analysis(proof, value), Position.from_moves(Rules(), [parse_cell("h8", 15)])
    line = position_text(KeptAnalysis(analysis=found, player="default", limit=None), position)
    assert f" {shown}" in line
    assert words in line
    result = analysis_json("default", position, found)
    sure = value if proof is None else 1.0 if proof > 0 else -1.0
    assert (result["value"], result["moves"][0]["value"]) == (sure, sure)
    assert words in value_text(result)


def test_an_analysis_under_renju_names_the_forbidden_cells() -> None:
    position = Position.from_moves(Rules(variant=Variant.RENJU), "i8 a1 j8 a3 h9 a5 h10 a7".split())
    result = analysis_json("default", position, analysis(None, 0.0))
    assert (result["variant"], result["forbidden"]) == ("renju", ["h8"])
    show_analysis(result, lines=3, colours=False, ascii_only=True)


@pytest.mark.parametrize(("value", "proof"), [(1.0, 4), (-1.0, -4)])
def test_a_move_of_a_player_without_an_analysis_keeps_the_side_that_wins(value: float, proof: int) -> None:
    view = view_of(Decision(BEST, value, simulations=100, plies_to_end=4), 0.1)
    assert view.moves[0].proof == proof
