"""Reports of a search under way, and analyses: players show what they think, and decide as they do without it."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from core.notation import parse_cell
from core.position import Position
from core.rules import Rules, Variant
from gomoku_cli.reports.analyses.lines import position_text
from gomoku_cli.reports.analyses.position import analysis_json, show_analysis, value_text
from gomoku_cli.study.game import KeptAnalysis
from gomoku_cli.tui.engine.worker import view_of
from nets.config import RuntimeChoice
from nets.dual import make_model
from nets.runtimes.net_evaluator import NetEvaluator
from search import players
from search.analysis import Analysis, MoveAnalysis
from search.limit import Limit
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.players import Decision, How, Player, RandomPlayer, Reports
from search.pure_mcts.player import PureMcts
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.support.cases import cases
from tests.support.evaluators import ScriptedEvaluator
from tests.support.nets import LINES
from tests.support.searches import same

RULES = Rules(9, 5)
SETTINGS = SearchSettings(simulations=800)
ONE_NET = replace(LINES, dual=False)


def tree_player(*, keeps_tree: bool = False) -> MctsPlayer:
    policy = Policy.STOCHASTIC
    return MctsPlayer(ScriptedEvaluator(RULES), RULES, SETTINGS, policy=policy, keeps_tree=keeps_tree)


@cache
def line_evaluator() -> NetEvaluator:
    return NetEvaluator(make_model(ONE_NET, RULES, 3).eval(), RuntimeChoice())


def line_player() -> MctsPlayer:
    return MctsPlayer(line_evaluator(), RULES, SETTINGS, policy=Policy.STOCHASTIC)


def mentor() -> Mentor:
    return Mentor(Limit(nodes=8_000), threads=1)


def pure() -> PureMcts:
    return PureMcts(3_000)


PLAYERS = [tree_player, line_player, mentor, pure]


@pytest.fixture
def position() -> Position:
    return Position.from_moves(RULES, ["e5", "d6", "f6", "e7"])


@pytest.fixture
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr(players, "BEST_EVERY_S", 0.0)


def views(reports: list[Decision | Analysis]) -> list[Analysis]:
    return [each for each in reports if isinstance(each, Analysis)]


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
@pytest.mark.slow
def test_a_player_that_reports_decides_as_it_does_alone(make: Callable[[], Player], position: Position) -> None:
    seen: list[Decision | Analysis] = []
    who = make()
    for seed in (3, 4):
        decision, last = who.search(position, how=How(seed, report=seen.append))
        assert same(decision, make().choose(position, seed=seed))
        assert same(decision, make().search(position, how=How(seed))[0])
        assert decision.value == last.value
        assert decision.simulations == last.nodes
    assert len(views(seen)) > 2


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
def test_reports_grow_and_are_whole_analyses(make: Callable[[], Player], position: Position) -> None:
    seen: list[Decision | Analysis] = []
    last = make().search(position, how=How(0, report=seen.append))[1]
    nodes = [each.nodes for each in (*views(seen), last)]
    assert nodes == sorted(nodes)
    assert nodes[0] < nodes[-1]
    for each in views(seen):
        assert -1 <= each.value <= 1
        assert all(position.is_legal(root.move) for root in each.moves)
        assert each.best_move == each.variation[0]
        line = position.copy()
        for move in each.variation:
            line.push(move)


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
def test_an_endless_analysis_reports_until_it_is_stopped(make: Callable[[], Player], position: Position) -> None:
    seen: list[Decision | Analysis] = []
    who = make()
    assert who.limit is not None
    endless = Limit(seconds=math.inf)
    last = who.search(position, endless, How(None, lambda: len(views(seen)) >= 3, seen.append))[1]
    assert 3 <= len(views(seen)) <= 4
    assert last.nodes >= views(seen)[-1].nodes


@pytest.mark.parametrize("who", [RandomPlayer(), PaperMentor()])
def test_a_player_without_numbers_has_no_view(who: Player, position: Position) -> None:
    assert who.limit is None
    seen: list[Decision | Analysis] = []
    decision, view = who.search(position, how=How(4, report=seen.append))
    assert (decision.move, view, seen) == (who.choose(position, seed=4).move, None, [])


def test_reports_keep_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 50.0
    monkeypatch.setattr(players.time, "monotonic", lambda: now)
    seen: list[Decision | Analysis] = []
    reports = Reports(seen.append)
    view = Analysis(moves=(), value=0.0, variation=(), nodes=1, seconds=0.0)
    sent = []
    for _ in range(50):  # instants of 30 ms
        now += 0.03
        if reports.is_due(now):
            sent.append(round(now - 50, 2))
            reports.send(view)
    assert sent == [round(0.12 * (1 + number), 2) for number in range(12)]
    assert len(seen) == 12
    assert not Reports(None).is_due(now + 1e9)


# Texts of analyses

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
