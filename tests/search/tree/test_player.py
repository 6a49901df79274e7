"""The player that searches with an evaluator: its policies, its limits, and what its decisions depend on."""

import math
import threading
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.compiled import stones_of
from core.position import Position
from core.rules import Rules
from search.limit import Limit
from search.players import Decision, Player
from search.tree import player as mcts_player
from search.tree.forest import bytes_per_node
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.support.evaluators import ScriptedEvaluator, hashed_answer
from tests.support.searches import same

RULES = Rules(7, 4)
SETTINGS = SearchSettings(simulations=40)


def player(
    settings: SearchSettings = SETTINGS, policy: Policy = Policy.DETERMINISTIC, stage: int = 6, temperature: float = 1.0
) -> MctsPlayer:
    evaluator = ScriptedEvaluator(RULES)
    return MctsPlayer(
        evaluator, RULES, settings, policy=policy, switch_stage=stage, temperature=temperature, name="scripted"
    )


def position_of(names: str) -> Position:
    return Position.from_moves(RULES, names)


def some_positions(count: int) -> list[Position]:
    """Positions that differ in their stones."""
    return [
        Position.from_moves(RULES, [first, (first + 1 + second) % 49]) for first in range(49) for second in range(8)
    ][:count]


def moves_of(who: Player, position: Position, seeds: range) -> set[int]:
    return {decision.move for decision in who.choose_batch([position] * len(seeds), seeds=list(seeds))}


def test_the_deterministic_policy_plays_the_most_visited_move() -> None:
    position = position_of("d4")
    decision = player().choose_batch([position], seeds=[1])[0]
    assert decision.move == decision.policy.argmax()
    assert decision.policy[position.moves].sum() == 0
    assert moves_of(player(), position, range(10)) == {decision.move}


def test_the_semi_stochastic_policy_switches_with_the_stones_on_the_board() -> None:
    six, seven = position_of("d4 e5 a1 g7 c6 b2"), position_of("d4 e5 a1 g7 c6 b2 g1")
    who = player(policy=Policy.SEMI_STOCHASTIC, stage=6)
    assert len(moves_of(who, six, range(12))) > 1
    assert len(moves_of(who, seven, range(12))) == 1


def test_temperature_sharpens_what_is_drawn_from() -> None:
    cold = player(temperature=0.1).choose_batch([position_of("d4")], seeds=[1])[0].policy
    warm = player(temperature=2.0).choose_batch([position_of("d4")], seeds=[1])[0].policy
    assert cold.max() > warm.max()


def test_without_simulations_the_evaluators_policy_plays() -> None:
    position = position_of("d4 e5")
    decision = player(SearchSettings(simulations=0)).choose_batch([position], seeds=[1])[0]
    logits, value = hashed_answer(stones_of(position), position.side_to_move)
    legal = np.where(stones_of(position) == 0, np.exp(logits), 0)
    assert decision.policy == pytest.approx(legal / legal.sum(), rel=2**-7), "priors are kept as bfloat16"
    assert decision.move == legal.argmax()
    assert decision.value == pytest.approx(value)
    assert decision.simulations == 0


def test_decisions_do_not_depend_on_the_company_or_on_what_was_asked_before() -> None:
    positions = some_positions(150)
    who = player(policy=Policy.STOCHASTIC)
    together = who.choose_batch(positions, seeds=list(range(150)))
    again = who.choose_batch(positions[:20], seeds=list(range(20)))
    alone = [player(policy=Policy.STOCHASTIC).choose_batch([positions[i]], seeds=[i])[0] for i in (0, 7, 149)]
    assert all(same(a, b) for a, b in zip(together[:20], again, strict=True))
    assert all(same(together[i], one) for i, one in zip((0, 7, 149), alone, strict=True))


def test_many_positions_are_searched_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    positions = some_positions(11)
    whole = player().choose_batch(positions, seeds=[0] * 11)
    monkeypatch.setattr(mcts_player, "_MAX_TREES", 4)
    evaluator = ScriptedEvaluator(RULES)
    chunks = MctsPlayer(evaluator, RULES, SETTINGS, policy=Policy.DETERMINISTIC).choose_batch(positions, seeds=[0] * 11)
    assert all(same(a, b) for a, b in zip(whole, chunks, strict=True))
    assert max(evaluator.batches) <= 4 * SETTINGS.leaves_in_flight


def test_a_search_that_is_stopped_at_once_plays_a_legal_move_and_leaves_nothing_behind() -> None:
    who = player()
    before = who.choose_batch([position_of("d4")], seeds=[1])[0]
    positions = some_positions(3)
    stopped = who.choose_batch(positions, seeds=[0, 1, 2], stop=lambda: True)
    assert all(p.is_legal(d.move) for p, d in zip(positions, stopped, strict=True))
    assert same(who.choose_batch([position_of("d4")], seeds=[1])[0], before)


def searched(who: MctsPlayer, names: str) -> Decision:
    """Return the decision of `who` on a single position."""
    return who.choose_batch([position_of(names)], seeds=[1])[0]


def keeping(**limits: Any) -> MctsPlayer:
    """A player that keeps its tree."""
    return MctsPlayer(ScriptedEvaluator(RULES), RULES, SETTINGS, policy=Policy.DETERMINISTIC, keeps_tree=True, **limits)


def test_a_tree_that_is_kept_is_gone_on_with_where_the_game_continues_it() -> None:
    who, fresh = keeping(), searched(player(), "d4")
    first = searched(who, "d4")
    assert same(first, fresh)
    reply = int(first.policy.argmax())
    position = position_of("d4")
    position.push(reply)
    known = round(float(first.policy[reply]) * (SETTINGS.simulations - 1))
    again = who.choose_batch([position], seeds=[1])[0]
    assert again.simulations == known + SETTINGS.simulations
    assert who.choose_batch([position], seeds=[1])[0].simulations == known + 2 * SETTINGS.simulations


@pytest.mark.parametrize("names", ["d5 e5", "c4", ""])
def test_a_tree_that_is_kept_is_forgotten_where_another_game_is_asked_about(names: str) -> None:
    who = keeping()
    searched(who, "d4 e5")
    assert same(searched(who, names), searched(player(), names))


def test_trees_of_many_positions_are_not_kept() -> None:
    who = keeping()
    positions = some_positions(3)
    who.choose_batch(positions, seeds=[0] * 3)
    for one, other in zip(
        who.choose_batch(positions, seeds=[0] * 3), player().choose_batch(positions, seeds=[0] * 3), strict=True
    ):
        assert same(one, other)


def test_trees_keep_to_the_memory_that_they_are_given() -> None:
    position, nodes = position_of("d4"), 30
    who = MctsPlayer(ScriptedEvaluator(RULES), RULES, SETTINGS, max_bytes=nodes * bytes_per_node(RULES))
    assert 10 < who.choose_batch([position], seeds=[1])[0].simulations < nodes + 10, "ends of games take no room"
    assert who._search.forest.capacity == nodes
    who.max_bytes = None
    assert who.choose_batch([position], seeds=[1])[0].simulations == SETTINGS.simulations
    who.max_bytes = 10 * bytes_per_node(RULES)
    who.choose_batch([position], seeds=[1])
    assert who._search.forest.capacity == 10


def test_a_tree_that_is_kept_and_fills_its_memory_still_decides() -> None:
    who, position = keeping(max_bytes=50 * bytes_per_node(RULES), seconds=math.inf), Position(RULES)
    while not position.is_game_over():
        position.push(who.choose_batch([position], seeds=[1])[0].move)
    assert position.ply > 6


def test_without_a_limit_only_stop_ends_a_search() -> None:
    who, asked = keeping(seconds=math.inf), 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked == 50

    assert 0 < who.choose_batch([position_of("d4")], seeds=[1], stop=stop)[0].simulations < 1000
    assert asked == 50


def test_a_limit_replaces_the_players_own() -> None:
    who, timed = player(), MctsPlayer(ScriptedEvaluator(RULES), RULES, SETTINGS, seconds=math.inf)
    position = position_of("d4")
    for one in (who, timed):
        assert one.choose(position, Limit(nodes=70)).simulations == 70
        started = time.monotonic()
        assert one.choose(position, Limit(seconds=0.05)).simulations > 0
        assert 0.05 <= time.monotonic() - started < 60
    assert who.choose(position, Limit(nodes=10**6, seconds=0.02)).simulations < 10**6
    assert who.choose(position).simulations == SETTINGS.simulations


def test_a_limit_of_nodes_decides_as_a_player_of_so_many_simulations() -> None:
    positions = some_positions(5)
    limited = player().choose_batch(positions, seeds=range(5), limit=Limit(nodes=90))
    own = player(SearchSettings(simulations=90)).choose_batch(positions, seeds=range(5))
    assert all(same(one, other) for one, other in zip(limited, own, strict=True))


@pytest.mark.parametrize(
    ("limit", "message"), [(Limit(depth=3), "no depth"), (Limit(nodes=10**8), "at most 10,000,000 simulations")]
)
def test_a_limit_that_it_cannot_keep_is_refused(limit: Limit, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        player().choose(position_of("d4"), limit)
    with pytest.raises(ValueError, match=message):
        player().search(position_of("d4"), limit)[1]


def test_an_analysis_has_the_numbers_of_the_decision() -> None:
    position, who = position_of("d4"), player()
    analysis, decision = who.search(position)[1], who.choose(position)
    assert analysis.best_move == decision.move == analysis.variation[0]
    assert (analysis.value, analysis.nodes) == (decision.value, decision.simulations)
    assert analysis.seconds > 0
    assert analysis.moves[0].line == analysis.variation and len(analysis.moves[7].line) > 0


def test_a_player_prepares_its_evaluator_for_one_tree() -> None:
    class Preparing(ScriptedEvaluator):
        rows = 0

        def prepare(self, rows: int) -> None:
            self.rows = rows

    evaluator = Preparing(RULES)
    MctsPlayer(evaluator, RULES, SearchSettings(leaves_in_flight=5)).prepare()
    assert evaluator.rows == 5
    player().prepare()  # whose evaluator has nothing to prepare


def test_a_failed_evaluation_does_not_spoil_the_player() -> None:
    broken = False

    def answer(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        logits, value = hashed_answer(stones, to_move)
        return logits, np.nan if broken else value

    who = MctsPlayer(ScriptedEvaluator(RULES, answer), RULES, SETTINGS, policy=Policy.DETERMINISTIC)
    before = who.choose_batch(some_positions(3), seeds=[0, 1, 2])
    broken = True
    with pytest.raises(RuntimeError, match="not a finite number"):
        who.choose_batch(some_positions(3), seeds=[0, 1, 2])
    broken = False
    assert all(same(a, b) for a, b in zip(before, who.choose_batch(some_positions(3), seeds=[0, 1, 2]), strict=True))


def test_one_player_may_be_asked_from_many_threads() -> None:
    """A teacher is: games are taught side by side."""
    who, positions = player(), some_positions(8)
    expected = [player().choose_batch([position], seeds=[0])[0] for position in positions]
    found: dict[int, Decision] = {}

    def ask(index: int) -> None:
        for _ in range(5):
            found[index] = who.choose_batch([positions[index]], seeds=[0])[0]

    threads = [threading.Thread(target=ask, args=(index,), daemon=True) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert all(same(found[index], expected[index]) for index in range(8))
