"""Search speed: one position, descents by threads, and the memory of a tree."""

import sys

import pytest

from core.position import Position
from core.rules import Rules
from curriculum.bench import search as bench
from curriculum.bench.positions import long_games
from curriculum.reporting import Context, Interrupted
from search.tree.forest import bytes_per_node
from tests.support.evaluators import ScriptedEvaluator

SMALL = Rules(7, 5)


@pytest.fixture(scope="module")
def small_games() -> list[Position]:
    return long_games(SMALL, 4)


def test_measuring_stops_on_request(small_games: list[Position]) -> None:
    evaluator = ScriptedEvaluator(SMALL)
    stopping = Context(stop=lambda: len(evaluator.batches) > 5)
    with pytest.raises(Interrupted):
        bench.by_simulations(evaluator, small_games, (10,), 3600.0, stopping)
    assert evaluator.batches
    with pytest.raises(Interrupted):
        bench.descents(small_games, 3600.0, stopping)


def test_descents_are_those_of_each_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, small_games: list[Position]
) -> None:
    monkeypatch.setattr(bench, "cores", lambda: 3)
    rows = bench.descents(small_games, 0.3, Context())
    assert [row["threads"] for row in rows] == [1, 2, 3]
    assert rows[0]["scaling"] == 1
    for row in rows:
        expected = row["simulations_per_second"] / (row["threads"] * rows[0]["simulations_per_second"])
        assert row["scaling"] == pytest.approx(expected)


def test_a_tree_takes_what_its_arrays_say() -> None:
    figures = bench.tree(long_games(Rules(), 1), 20_000)
    assert figures["bytes_per_simulation"] == bytes_per_node(Rules()) == 514
    if sys.platform == "linux":
        assert figures["resident_bytes_per_simulation"] < 2 * 514


def test_a_search_that_a_proof_ended_early_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = Rules(6, 4)
    won = Position.from_moves(rules, [14, 0, 15, 5, 16, 35])  # black has three in a row, with both ends free
    monkeypatch.setattr(bench, "positions_between", lambda *_: [won])
    (row,) = bench.by_simulations(ScriptedEvaluator(rules), [won], (500,), 0.01, Context())
    assert row["milliseconds"] is None
    assert row["simulations_per_second"] > 0
