"""Games with analyses: kept in SGF, read back without a search, and safe from what files may hold."""

import json
import math
from dataclasses import replace

import pytest

from core.notation import parse_cell
from core.records.record import GameRecord
from core.records.sgf import parse_sgf, to_sgf
from core.rules import Rules
from gomoku_cli.study.game import KeptAnalysis, StudiedGame, without_analysis
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from tests.support.cases import cases

RULES = Rules(9, 5)
MOVES = tuple(parse_cell(name, 9) for name in ("e5", "d6", "f6", "e7"))
LIMIT = Limit(nodes=400)


def kept(*names: str, value: float = 0.25, proof: int | None = None) -> KeptAnalysis:
    """An analysis whose moves and whose line are these."""
    cells = tuple(parse_cell(name, 9) for name in names)
    moves = tuple(
        MoveAnalysis(cell, value=value, prior=0.5, visits=300 - number, proof=None if number else proof)
        for number, cell in enumerate(cells)
    )
    analysis = Analysis(moves=moves, value=value, variation=cells, nodes=400, seconds=0.125)
    return KeptAnalysis(analysis=analysis, player="default", limit=LIMIT)


def game() -> StudiedGame:
    record = GameRecord(RULES, MOVES, black="you", white="level:3", comments=("", "a fine move", "", ""))
    return StudiedGame(record, (None, kept("d6", "f6"), None, kept("e7", "d4"), kept("d4", value=-0.5)))


def again(studied: StudiedGame) -> StudiedGame:
    """The game after a way through SGF."""
    (record,) = parse_sgf(to_sgf(studied.to_record()))
    return StudiedGame.from_record(record)


def test_a_game_comes_back_with_its_analyses() -> None:
    assert again(game()).analyses == game().analyses
    assert again(again(game())).to_record() == again(game()).to_record()


def test_other_programs_find_values_for_black_and_comments() -> None:
    text = to_sgf(game().to_record())
    nodes = text.split("\n;")
    assert "V[-0.2500]" in nodes[1], "white is to move after black's first move, and has 0.25"
    assert "V" not in nodes[2]
    assert "V[-0.2500]" in nodes[3]
    assert "V[-0.5000]" in nodes[4], "black is to move"
    comments = game().to_record().comments
    assert comments[0] == "Analysis: white to move, 62 % to win; best line d6 f6; default, 400 positions"
    assert comments[1] == "a fine move"
    record = again(game()).to_record()
    assert record.comments == comments, "a comment of ours is replaced, not repeated"


@pytest.mark.parametrize(
    "comment", ["Analysis: mine", "fine\nAnalysis: Black is better\nthe end", "Analysis: white to move, 62 % to win"]
)
def test_a_comment_of_people_stays_alone_though_it_begins_as_ours_do(comment: str) -> None:
    record = replace(game().record, comments=(comment, *[""] * (len(MOVES) - 1)))
    ours = game().to_record().comments[0]
    for _ in range(2):
        record = StudiedGame(record, game().analyses).to_record()
        assert record.comments[0] == comment
    before = f"{comment}\n{ours}"  # earlier versions wrote their line below people's words
    assert without_analysis(before) == comment
    record = replace(record, comments=(before, *record.comments[1:]))
    assert StudiedGame(record, game().analyses).to_record().comments[0] == comment


def test_a_proven_result_is_in_the_comment() -> None:
    won = StudiedGame(GameRecord(RULES, MOVES[:1]), (None, kept("d6", proof=7)))
    lost = StudiedGame(GameRecord(RULES, MOVES[:1]), (None, kept("d6", proof=-4)))
    assert "white to move, white wins in 7;" in won.to_record().comments[0]
    assert "white to move, black wins in 4;" in lost.to_record().comments[0]


def test_only_moves_with_numbers_are_kept() -> None:
    many = tuple(MoveAnalysis(cell, prior=0.0001, visits=0) for cell in range(80) if cell not in MOVES[:1])
    analysis = Analysis(moves=many, value=0.0, variation=(many[0].move,), nodes=1, seconds=0.0)
    studied = StudiedGame(
        GameRecord(RULES, MOVES[:1]), (None, KeptAnalysis(analysis=analysis, player="mentor", limit=None))
    )
    found = again(studied).analyses[1]
    assert [each.move for each in found.analysis.moves] == [many[0].move]
    assert found.limit is None


def test_a_search_without_an_end_has_no_limit() -> None:
    endless = replace(kept("d6"), limit=Limit(seconds=math.inf))
    found = again(StudiedGame(GameRecord(RULES, MOVES[:1]), (None, endless))).analyses[1]
    assert found.limit is None


GOOD = {"player": "p", "value": 0.1, "nodes": 4, "seconds": 0.5, "line": "d6", "moves": [["d6", 0.1, None, 4, None]]}


def test_an_analysis_that_is_none_is_left_out_and_a_good_one_is_read() -> None:
    for text in (json.dumps(GOOD), *cases("analyses_left_out")):
        record = GameRecord(RULES, MOVES[:1], analyses=("", text))
        assert (StudiedGame.from_record(record).analyses == (None, None)) == (text != json.dumps(GOOD)), text


def test_analyses_belong_to_positions() -> None:
    studied = StudiedGame(GameRecord(RULES, MOVES))
    assert studied.analyses == (None,) * 5
    one = studied.with_analysis(4, kept("d4"))
    assert [each is not None for each in one.analyses] == [False] * 4 + [True]
    assert one.position(2).moves == list(MOVES[:2])
    assert one.position().moves == list(MOVES)
    with pytest.raises(IndexError, match="positions 0 to 4, not 5"):
        studied.with_analysis(5, None)
    with pytest.raises(ValueError, match="2 analyses, but the game has 1"):
        StudiedGame(GameRecord(RULES, ()), (None, None))
