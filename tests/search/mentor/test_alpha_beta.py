"""The search of the mentor: scores, proofs, variations."""

import numpy as np
import pytest

from core.compiled import stones_of
from core.compiled.threats import FIVE, new_threat_board, side_of
from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from search.limit import Limit
from search.mentor.alpha_beta import begin_iteration, run, set_up
from search.mentor.player import Mentor
from search.mentor.scores import INFINITY, LIKELY, PROVEN, WIN
from search.mentor.state import BEST, SCORE, new_search_state
from search.players import How
from search.solvers.vcf import new_vcf_work
from tests.support.mentor_positions import KERNELS_ARE_PYTHON, RULES, moves_of, position, takes_many_nodes
from tests.support.naive_mentor import is_near, negamax, solve


@pytest.mark.parametrize(("size", "connect", "empties"), [(4, 3, 8), (4, 4, 8), (5, 4, 8), (5, 5, 8), (6, 5, 8)])
def test_proven_results_are_true(size: int, connect: int, empties: int) -> None:
    rng = np.random.default_rng(size * connect)
    rules = Rules(size, connect)
    mentors = [
        Mentor(Limit(nodes=100 if KERNELS_ARE_PYTHON else 2000)),
        Mentor(Limit(nodes=60), variety=0),
        Mentor(Limit(seconds=0.02), threads=3),
    ]
    checked = proven = 0
    while checked < (2 if KERNELS_ARE_PYTHON else 8):
        board = Position(rules)
        while not board.is_game_over() and board.ply < rules.cells - empties:
            board.push(int(rng.choice(board.legal_moves())))
        if board.is_game_over():
            continue
        checked += 1
        result = solve(board, {})
        for mentor in mentors:
            decision = mentor.choose_batch([board], seeds=[0])[0]
            if decision.value in (-1.0, 1.0):
                proven += 1
                assert result == decision.value
                board.push(decision.move)
                assert -solve(board, {}) == result
                board.pop()
    assert proven > 0 or connect == size or KERNELS_ARE_PYTHON


@pytest.mark.parametrize(
    ("size", "connect", "depth", "lines"), [(4, 3, 2, 1), (5, 4, 2, 3), (7, 5, 1, 1), (9, 5, 1, 4), (6, 6, 1, 1)]
)
def test_without_reductions_the_best_scores_are_those_of_the_naive_search(
    size: int, connect: int, depth: int, lines: int
) -> None:
    rng = np.random.default_rng(size)
    rules = Rules(size, connect)
    board, state, vcf = (
        new_threat_board(rules),
        new_search_state(rules, np.zeros((1 << 12, 2), dtype=np.int64), np.zeros(1, dtype=np.int64)),
        new_vcf_work(rules, 4),
    )
    state.reductions[:], state.widths[:], state.margins[:] = 0, rules.cells, 2 * INFINITY
    checked = 0
    while checked < (1 if KERNELS_ARE_PYTHON else 4):
        position = Position(rules)
        stones = rng.integers(2, max(3, rules.cells // 2))
        while not position.is_game_over() and position.ply < stones:
            near = [
                cell for cell in position.legal_moves() if position.ply == 0 or is_near(stones_of(position), cell, size)
            ]
            position.push(int(rng.choice(near)))
        if position.is_game_over():
            continue
        checked += 1
        progress = state.progress[0]
        progress["margin"], progress["lines"] = 0, min(lines, len(state.root))
        progress["slots"], progress["vcf_nodes"] = len(state.table), 0
        progress["generation"] = progress["oldest"] = checked
        count = set_up(board, state, stones_of(position), position.side_to_move)
        if board.counts[side_of(position.side_to_move), FIVE] > 0:
            continue
        begin_iteration(state, depth, -INFINITY, INFINITY)
        while not run(board, state, vcf, 7):
            pass
        # The root has the moves of any other node, but looks for no end of its own.
        expected = []
        for move in state.root_moves[:count].tolist():
            position.push(move)
            expected.append(-negamax(position, depth - 1, 1))
            position.pop()
        if not state.frames[0]["complete"]:
            expected = [score + WIN - LIKELY if score <= -PROVEN else score for score in expected]
        # Single precision may round to the next number.
        lines = min(lines, count)
        for scores in (state.root[:lines, BEST], sorted(state.root[:count, SCORE], reverse=True)[:lines]):
            assert list(scores) == pytest.approx(sorted(expected, reverse=True)[:lines], abs=1)


@takes_many_nodes
@pytest.mark.parametrize(
    ("moves", "longest"),
    [
        ("g6 g5 e6 i8 f4 k8 f3 m10 c6 k6 i4 h10 i3 f10 j12 k3 j6", "f6"),
        ("l2 j4 i4 g5 k5 n4 h5 m7 g4 f7 h8 d6 j7", "i6"),
    ],
    ids=["likely", "proven"],
)
def test_a_lost_game_is_held_as_long_as_can_be(moves: str, longest: str) -> None:
    board = Position.from_moves(RULES, [parse_cell(name, RULES.size) for name in moves.split()])
    analysis = Mentor(Limit(nodes=4000)).search(board)[1]
    assert analysis.value < -0.9
    assert analysis.moves[0].proof == (None if analysis.plies_to_end is None else -analysis.plies_to_end)
    assert moves_of(Mentor(Limit(nodes=4000)), board, seeds=8) == {longest}


@takes_many_nodes
def test_each_of_several_lines_is_a_game_that_goes_on_and_takes_no_move_from_the_best() -> None:
    for board in (position(BLACK, "g7 h8", "h7 i9"), position(WHITE, "g7 h8 j7", "h7 i7 g9")):
        alone, several = (Mentor(variety=0).search(board, Limit(depth=6), How(lines=lines))[1] for lines in (None, 5))
        assert len(alone.moves) < len(several.moves) == 5
        assert several.choices == (several.best_move,)
        values = [each.value for each in several.moves]
        assert values == sorted(values, reverse=True)
        assert alone.nodes < several.nodes < 8 * alone.nodes
        for each in several.moves:
            assert each.line[0] == each.move
            assert len(each.line) > 3
            Position.from_moves(RULES, (*board.moves, *each.line))
        assert several.variation == several.moves[0].line


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_a_proven_win_has_its_plies_and_its_moves(colour: Colour) -> None:
    board = position(colour, "g7 h7 i7 j8 j9 h10 i10", "f7 g10 m3 c3 d12 b8")
    mentor = Mentor(Limit(nodes=400))
    analysis = mentor.search(board)[1]
    assert analysis.value == 1.0
    assert mentor.choose(board).plies_to_end == analysis.plies_to_end
    assert analysis.plies_to_end == len(analysis.variation)
    assert WIN - analysis.score == len(analysis.variation)
    assert {each.proof for each in analysis.moves} == {analysis.plies_to_end}
    for cell in analysis.variation:
        board.push(cell)
    outcome = board.outcome()
    assert outcome.winner == colour
