"""The tactical suites of other rules: their claims, proven by a solver that shares no code with what it measures."""

import hashlib
from collections import Counter
from importlib import resources

import numpy as np
import pytest

from core.position import Position
from core.rules import BLACK, WHITE, Rules, Variant
from curriculum.arena.suite import SuiteError, load_suite, puzzle_line, score_player
from curriculum.reporting import Context
from search.mentor.paper import PaperMentor
from tests.support import referee
from tests.support.rule_solver import RuleSolver

SHIPPED = (Variant.STANDARD, Variant.RENJU, Variant.CARO)
FROZEN = {
    Variant.STANDARD: "f629d3326f7de0f48b9108914beea27eb89c77972c2092d63eafbc6a28c0efa5",
    Variant.RENJU: "7129432609ed644a0650381d23ed10000a9fb3fb91a8dfb8e5aeb3f62cf7051b",
    Variant.CARO: "32ae906e8b7dbde8ec7837fc9eae884b57048bf944ab4a5a305a48261eb554d7",
}


@pytest.mark.parametrize("variant", SHIPPED)
def test_a_suite_is_frozen(variant: Variant) -> None:
    file = resources.files("curriculum") / "suites" / f"tactics-{variant}.txt"
    assert hashlib.sha256(file.read_bytes()).hexdigest() == FROZEN[variant]


def kind_of(board: RuleSolver, side: int, lines: list[list[int]]) -> str:
    """Return the kind of a position that is won by fours, with the line of each winning move."""
    if board.fives_of_freestyle(side) or board.fives_of_freestyle(-side):
        return "no-five"
    if board.variant == Variant.RENJU:
        legal = board.fours(side)
        board.ignores_fouls = True
        won = {move for move in board.fours(side) if board.line_after(move, side)}
        board.ignores_fouls = False
        if side == WHITE and not won.intersection(line[0] for line in lines):
            return "foul-net"
        if side == BLACK and won - legal:
            return "foul-trap"
    assert board.win_by_fours(-side) is not None, "the other side threatens to win by fours too"
    fours = (len(min(lines, key=len)) + 1) // 2
    return f"fours-{fours}" if fours < 3 else "fours-3+"


@pytest.mark.parametrize("variant", [*SHIPPED, Variant.CARO_EXACT])
def test_the_claims_of_a_suite_hold(variant: Variant) -> None:
    # The maker has proven all of them; these are quick.
    suite = sorted(load_suite("tactics", Rules(variant=variant)), key=lambda puzzle: len(puzzle.moves))
    for kind in {puzzle.kind for puzzle in suite}:
        for puzzle in [puzzle for puzzle in suite if puzzle.kind == kind][:3]:
            board = RuleSolver(puzzle.moves, variant)
            side = BLACK if len(puzzle.moves) % 2 == 0 else WHITE
            wins, threats = board.fives(side), board.fives(-side)
            if wins or threats:
                found = ("win-in-1", wins) if wins else ("block", board.blocks(side))
            else:
                lines = [line for four in board.fours(side) if (line := board.line_after(four, side))]
                found = kind_of(board, side, lines), {line[0] for line in lines}
            assert found == (kind, set(puzzle.answers)), puzzle_line(puzzle)


@pytest.mark.parametrize("variant", [Variant.RENJU, Variant.CARO_EXACT])
def test_the_solver_finds_the_wins_of_the_referee(variant: Variant) -> None:
    rules, random, found = Rules(7, variant=variant), np.random.default_rng(7), Counter[bool]()
    while min(found[True], found[False]) < 4:
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
    easy = [puzzle for puzzle in load_suite("tactics", rules) if puzzle.kind in ("win-in-1", "block")][::3]
    assert score_player(PaperMentor(), easy, rules=rules, context=Context()).total.share == 1.0
    with pytest.raises(SuiteError, match="there is no suite hard for renju on 15x15; it is for 5 in a row on 15x15"):
        load_suite("hard", rules)
