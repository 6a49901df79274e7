"""The tactical suites of other rules: their claims, proven by a solver that shares no code with what it measures."""

import hashlib
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from benchmarks.suites.make_rules import NUM_FOULS, NUM_PUZZLES, puzzle_of
from core.position import Position
from core.rules import BLACK, WHITE, Rules, Variant
from curriculum.arena.suite import SuiteError, load_suite, puzzle_line, score_player
from curriculum.reporting import Context
from search.mentor.paper import PaperMentor
from tests.support import referee
from tests.support.rule_solver import RuleSolver

SHIPPED = (Variant.STANDARD, Variant.RENJU, Variant.CARO)
FROZEN = {
    Variant.STANDARD: "7cca7180d065728e175363efba8cb678d0b72f473e7654c6049a41a79c0f604e",
    Variant.RENJU: "20efc3ced98cc1194dc69fa37642e731ed74155fceed938c4f9dbbd3467dd465",
    Variant.CARO: "2b39618279844afd3a8afb7e61022a20dfbc5a3eff7f3ece90d7be7a085e49d6",
}


@pytest.mark.parametrize("variant", SHIPPED)
def test_a_suite_is_frozen_and_has_every_kind(variant: Variant) -> None:
    file = resources.files("curriculum") / "suites" / f"tactics-{variant}.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[variant]
    suite = load_suite("tactics", Rules(variant=variant))
    wanted = NUM_PUZZLES | (NUM_FOULS if variant is Variant.RENJU else {})
    assert Counter(puzzle.kind for puzzle in suite) == wanted


@pytest.mark.parametrize("variant", [*SHIPPED, Variant.CARO_EXACT])
def test_the_claims_of_a_suite_hold(variant: Variant) -> None:
    # The maker has proven all of them; these are quick.
    suite = sorted(load_suite("tactics", Rules(variant=variant)), key=lambda puzzle: len(puzzle.moves))
    for kind in {puzzle.kind for puzzle in suite}:
        for puzzle in [puzzle for puzzle in suite if puzzle.kind == kind][:3]:
            found = puzzle_of(puzzle.moves, variant, (kind,), budget=10_000)
            assert found is not None and set(found.answers) == set(puzzle.answers), puzzle_line(puzzle)
            if kind not in ("win-in-1", "block"):
                side = BLACK if len(puzzle.moves) % 2 == 0 else WHITE
                assert not RuleSolver(puzzle.moves, variant).fives(side)
                assert RuleSolver(puzzle.moves, variant).line_after(puzzle.answers[0], side)


@pytest.mark.parametrize("variant", [Variant.RENJU, Variant.CARO, Variant.CARO_EXACT])
def test_the_solver_finds_the_wins_of_the_referee(variant: Variant) -> None:
    rules, random, found = Rules(7, variant=variant), np.random.default_rng(7), Counter[bool]()
    while min(found[True], found[False]) < 6:
        position = Position(rules)
        while position.ply < 20 and not position.is_game_over():
            legal = position.legal_moves()
            position.push(int(legal[random.integers(len(legal))]))
        if position.is_game_over():
            continue
        line = RuleSolver(position.moves, variant, 7, 10_000).win_by_fours(position.side_to_move, 20)
        stones = [int(stone) for stone in position.stones]
        assert (line is not None) == referee.wins_by_fours(stones, position.side_to_move, 7, variant)
        found[line is not None] += 1


def test_a_player_is_scored_under_the_rule() -> None:
    rules = Rules(variant=Variant.RENJU)
    easy = [puzzle for puzzle in load_suite("tactics", rules) if puzzle.kind in ("win-in-1", "block")]
    assert score_player(PaperMentor(), easy, rules=rules, context=Context()).total.share == 1.0
    with pytest.raises(SuiteError, match="there is no suite hard for renju on 15x15; it is for 5 in a row on 15x15"):
        load_suite("hard", rules)
