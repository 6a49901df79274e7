"""Reports of a search under way: players that show what they think, and decide as they do without it."""

import math

import numpy as np
import pytest

from core.position import Position
from core.rules import Rules
from nets.config import NetConfig, Planes, RuntimeChoice
from nets.dual import make_model
from nets.runtimes.net_evaluator import NetEvaluator
from search import analysis
from search.analysis import Analysis, Reports
from search.limits import Limit
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.players import Analyses, Decision, RandomPlayer, Thinks
from search.pure_mcts.player import PureMcts
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.support.evaluators import ScriptedEvaluator

RULES = Rules(9, 5)
SETTINGS = SearchSettings(simulations=2_000)
LINES = NetConfig(
    planes=Planes.TWO, trunk=("lines-32", "spread"), policy_head=("cells",), value_head=("regions-15-16",)
)


def tree_player(*, keeps_tree: bool = False) -> MctsPlayer:
    policy = Policy.STOCHASTIC
    return MctsPlayer(ScriptedEvaluator(RULES), RULES, SETTINGS, policy=policy, keeps_tree=keeps_tree)


def line_player() -> MctsPlayer:
    evaluator = NetEvaluator(make_model(LINES, RULES, 3).eval(), RuntimeChoice())
    return MctsPlayer(evaluator, RULES, SETTINGS, policy=Policy.STOCHASTIC)


def mentor() -> Mentor:
    return Mentor(Limit(nodes=20_000), threads=1)


def pure() -> PureMcts:
    return PureMcts(3_000)


PLAYERS = [tree_player, line_player, mentor, pure]


@pytest.fixture
def position() -> Position:
    return Position.from_moves(RULES, ["e5", "d6", "f6", "e7"])


@pytest.fixture
def without_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "REPORT_EVERY_S", 0.0)


def same(one: Decision, other: Decision) -> bool:
    assert one.policy is not None
    assert other.policy is not None
    return (one.move, one.value, one.simulations) == (other.move, other.value, other.simulations) and np.array_equal(
        one.policy, other.policy
    )


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
@pytest.mark.slow
def test_a_player_that_reports_decides_as_it_does_alone(make: type, position: Position) -> None:
    seen: list[Analysis] = []
    who = make()
    assert isinstance(who, Thinks)
    for seed in (3, 4):
        decision, last = who.think(position, seed=seed, report=seen.append)
        assert same(decision, make().choose(position, seed=seed))
        assert same(decision, make().think(position, seed=seed)[0])
        assert decision.value == last.value
        assert decision.simulations == last.nodes
    assert len(seen) > 2


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
def test_reports_grow_and_are_whole_analyses(make: type, position: Position) -> None:
    seen: list[Analysis] = []
    last = make().think(position, report=seen.append)[1]
    nodes = [each.nodes for each in (*seen, last)]
    assert nodes == sorted(nodes)
    assert nodes[0] < nodes[-1]
    for each in seen:
        assert -1 <= each.value <= 1
        assert all(position.is_legal(root.move) for root in each.moves)
        assert each.best_move == each.variation[0]
        line = position.copy()
        for move in each.variation:
            line.push(move)


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.usefixtures("without_pause")
def test_an_endless_analysis_reports_until_it_is_stopped(make: type, position: Position) -> None:
    seen: list[Analysis] = []
    who = make()
    assert isinstance(who, Analyses)
    last = who.analyse(position, Limit(seconds=math.inf), stop=lambda: len(seen) >= 3, report=seen.append)
    assert 3 <= len(seen) <= 4
    assert last.nodes >= seen[-1].nodes


@pytest.mark.usefixtures("without_pause")
def test_a_kept_tree_goes_on_below_the_moves_played(position: Position) -> None:
    who = tree_player(keeps_tree=True)
    decision, before = who.think(position)
    position.push(decision.move)
    kept = next(root.visits for root in before.moves if root.move == decision.move)
    assert kept is not None
    first: list[Analysis] = []
    who.think(position, Limit(nodes=1), report=first.append)
    assert first[0].nodes >= kept


def test_a_player_without_numbers_has_no_reports() -> None:
    assert not isinstance(RandomPlayer(), Thinks)
    assert not isinstance(PaperMentor(), Thinks)


def test_reports_keep_their_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 50.0
    monkeypatch.setattr(analysis.time, "monotonic", lambda: now)
    seen: list[Analysis] = []
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
