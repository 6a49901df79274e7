"""Claims about tactics at leaves: their proofs are true, and the net evaluates quiet boards only."""

from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled import stones_of
from core.compiled.jit import lean_kernel
from core.compiled.threats import ThreatBoard, side_of
from core.notation import parse_cell
from core.position import Position
from core.rules import BLACK, Rules, Variant
from core.setting_bounds import from_json
from curriculum.games.mentor_games import random_opening
from search.solvers.vcf import VcfWork, new_vcf_work
from search.tree.forest import OPEN, PENDING, PROVEN
from search.tree.groups import EvaluationError
from search.tree.leaf_tactics import load_board, mark_urgent, new_boards
from search.tree.mcts import ForestSearch, search_all
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings
from tests.search.tree.test_proofs import TINY, assert_proofs_are_true, solve
from tests.support.evaluators import FailingEvaluator, ScriptedEvaluator, hashed_answer
from tests.support.naive_vcf import GreedyBoard, NaiveBoard, bits
from tests.support.searches import finish, flat, nodes_of, start_position
from tests.support.searches import searched as searched_with

RULES = Rules(7, 4)
BOARDS = new_boards(RULES, 2)
ALL = SearchSettings(simulations=120, c_puct=2.0).with_tactics()


def position_of(black: str, white: str) -> Position:
    """The position of these stones, laid in turn."""
    pairs = zip_longest(black.split(), white.split())
    return Position.from_moves(RULES, [name for pair in pairs for name in pair if name])


def searched(
    position: Position, options: SearchSettings, *, evaluator: ScriptedEvaluator | None = None, capacity: int = 1000
) -> ForestSearch:
    """A search of one position, with room for forced replies."""
    return searched_with(position, options, evaluator, capacity=capacity)


def stones_at(search: ForestSearch, node: int, tree: int = 0) -> tuple[NDArray[np.int8], int]:
    """The stones at a node and the side to move there, from the moves that lead to it."""
    nodes, moves = search.forest.nodes[tree], []
    while node:
        moves.append(int(nodes["move"][node]))
        node = int(nodes["parent"][node])
    stones, side = search.forest.root_stones[tree].copy(), int(search.forest.trees["to_move"][tree])
    for move in reversed(moves):
        assert stones[move] == 0
        stones[move], side = side, -side
    return stones, side


def assert_sound(search: ForestSearch, tree: int = 0) -> None:
    """Nothing is left in flight, and every visit but an evaluated node's first went on to a child."""
    count = int(search.forest.trees["nodes"][tree])
    nodes = search.forest.nodes[tree, :count]
    assert not nodes["in_flight"].any()
    assert not (nodes["state"] == PENDING).any()
    below = np.zeros(count, dtype=np.int64)
    np.add.at(below, nodes["parent"][1:], nodes["visits"][1:])
    for node in range(count):
        if nodes["state"][node] == OPEN:
            stones, side = stones_at(search, node, tree)
            board = NaiveBoard(search.rules.size, search.rules.connect)
            own, enemy = board.of_stones(stones.tolist(), side)
            one_reply = board.wins(enemy, own).bit_count() == 1 and nodes["value"][node] == 0
            assert nodes["visits"][node] - below[node] == (0 if one_reply else 1)
        else:
            assert below[node] == 0


@settings(max_examples=60)
@given(stones=st.integers(6, 30), seed=st.integers(0, 10_000), leaves=st.sampled_from([1, 8]))
def test_whatever_threats_prove_is_true(stones: int, seed: int, leaves: int) -> None:
    position = start_position(RULES, stones, seed)
    search = searched(position, replace(ALL, leaves_in_flight=leaves, vcf_root_nodes=0))
    board = NaiveBoard(RULES.size, RULES.connect)
    nodes = nodes_of(search)
    for node in np.flatnonzero(nodes["state"] == PROVEN).tolist():
        here, side = stones_at(search, node)
        own, enemy = board.of_stones(here.tolist(), side)
        plies = int(nodes["proof"][node])
        if plies > 0:
            assert plies == 3
            assert not board.wins(own, enemy)
            assert board.wins(enemy, own).bit_count() > 1
        elif plies == -2:
            assert board.wins(own, enemy)
        else:
            assert board.has_vcf(own, enemy)
            assert not board.wins(own, enemy)
    assert_sound(search)


@settings(max_examples=20)
@given(stones=st.integers(0, 6), seed=st.integers(0, 500), leaves=st.sampled_from([1, 8]))
def test_a_search_that_sees_threats_solves_the_small_board_as_well(stones: int, seed: int, leaves: int) -> None:
    position = start_position(TINY, stones, seed)
    search = searched(position, replace(ALL, simulations=2000, leaves_in_flight=leaves), capacity=5000)
    result, shortest = solve(position)
    assert_proofs_are_true(search, position)
    if result:
        assert np.sign(search.value(0)) == result
    if result > 0:
        assert search.proofs(0)[search.policy(0).argmax()] >= shortest


@settings(max_examples=40)
@given(stones=st.integers(6, 30), seed=st.integers(0, 10_000))
def test_the_net_is_asked_about_boards_without_a_win_by_fours_that_make_more(stones: int, seed: int) -> None:
    board = GreedyBoard(RULES.size, RULES.connect)

    def answer(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
        own, enemy = board.of_stones(stones.tolist(), to_move)
        assert not board.wins(own, enemy)
        assert not board.wins(enemy, own)
        assert not board.has_vcf(own, enemy)
        return hashed_answer(stones, to_move)

    position = start_position(RULES, stones, seed)
    own, enemy = board.of_stones(position.stones.tolist(), position.side_to_move)
    if board.wins(enemy, own).bit_count() > 1 or board.has_vcf(own, enemy):
        return  # a decided position at the root is evaluated all the same
    options = replace(ALL, vcf_leaf_nodes=100_000)
    assert_sound(searched(position, options, evaluator=ScriptedEvaluator(RULES, answer)))


@lean_kernel
def marked(boards: ThreatBoard, stones: NDArray[np.int8], work: VcfWork, side: int, urgent: NDArray[np.int8]) -> bool:
    """Return the result of `mark_urgent`. A board of lean kernels must not leave compiled code."""
    return mark_urgent(load_board(boards, 1, stones), work, side, urgent)


def threatens(board: NaiveBoard, own: int, enemy: int) -> bool:
    """Return True if a move of `own`, were it to move, would give it two cells that make a line."""
    return any(board.wins(own | cell, enemy).bit_count() > 1 for cell in bits(board.fours(own, enemy)))


@settings(max_examples=60)
@given(stones=st.integers(4, 40), seed=st.integers(0, 10_000))
def test_the_urgent_cells_are_those_where_somebody_can_make_a_four(stones: int, seed: int) -> None:
    position = start_position(RULES, stones, seed)
    board = NaiveBoard(RULES.size, RULES.connect)
    own, enemy = board.of_stones(position.stones.tolist(), position.side_to_move)
    if board.wins(own, enemy) or board.wins(enemy, own):
        return
    urgent = np.zeros(RULES.cells, dtype=np.int8)
    threatened = marked(BOARDS, stones_of(position), new_vcf_work(RULES, 1), side_of(position.side_to_move), urgent)
    assert threatened == threatens(board, enemy, own)
    if threatened:
        expected = board.fours(own, enemy) | board.fours(enemy, own)
        assert sum(1 << int(cell) for cell in np.flatnonzero(urgent)) == expected
        # No quiet move elsewhere takes the threat away.
        for cell in bits(board.all & ~(own | enemy | expected)):
            assert threatens(board, enemy, own | cell)


FOUR_TO_ANSWER = position_of("c4 d4 e4", "b4 e5")
"""White answers at f4."""


def test_the_one_reply_to_a_four_is_the_only_child_and_the_position_after_it_the_leaf() -> None:
    evaluator = ScriptedEvaluator(RULES)
    evaluator.keep = True
    search = searched(FOUR_TO_ANSWER, replace(ALL, simulations=1), evaluator=evaluator)
    reply = parse_cell("f4", 7)
    assert np.flatnonzero(search.visits(0)).tolist() == [reply]
    after = FOUR_TO_ANSWER.copy()
    after.push(reply)
    assert evaluator.seen == [after.stones.tobytes()]
    assert search.policy(0)[reply] == 1.0
    legal = stones_of(FOUR_TO_ANSWER) == 0
    others = legal & (np.arange(RULES.cells) != reply)
    assert (search.proofs(0)[others] == -2).all(), "five answers every other move"
    assert search.proofs(0)[~others].tolist() == [0] * int((~others).sum())


def test_where_no_node_is_to_spare_the_net_is_asked_and_the_reply_still_comes_first() -> None:
    search = searched(FOUR_TO_ANSWER, replace(ALL, simulations=40, shun_open_fours=False), capacity=41)
    assert search.forest.nodes["visits"][0, 0] == 40, "all simulations are made"
    assert search.policy(0).argmax() == parse_cell("f4", 7)


def test_many_leaves_meet_at_a_node_that_has_no_room_for_its_reply() -> None:
    rules, random = Rules(7, 4), np.random.default_rng(0)
    positions = [random_opening(rules, (1, 16), random) for _ in range(8)]
    search = ForestSearch(rules, ScriptedEvaluator(rules), SearchSettings(simulations=300).for_play(), trees=8)
    search_all(search, positions, 300)
    assert not search.forest.nodes["in_flight"][:, 0].any()


def test_without_a_node_for_a_reply_the_value_after_it_comes_up_by_its_plies() -> None:
    evaluator = ScriptedEvaluator(RULES, lambda stones, to_move: (np.zeros(RULES.cells, np.float32), 0.5))
    evaluator.keep = True
    search = searched(FOUR_TO_ANSWER, replace(ALL, simulations=1), evaluator=evaluator, capacity=1)
    after = FOUR_TO_ANSWER.copy()
    after.push(parse_cell("f4", 7))
    assert evaluator.seen == [after.stones.tobytes()]
    root = search.forest.nodes[0, 0]
    # One ply up is the value of the side that replied, one more that of the edge into the root.
    assert (root["visits"], root["in_flight"]) == (1, 0)
    assert root["value_sum"] == pytest.approx(ALL.value_decay**2 * 0.5)
    assert int(search.forest.trees["nodes"][0]) == 1
    evaluator.answer = lambda stones, to_move: (np.zeros(RULES.cells, np.float32), np.nan)
    search.begin(0, 1)
    with pytest.raises(EvaluationError):
        finish(search)
    assert not root["in_flight"]
    evaluator.answer = hashed_answer
    for _ in range(20):  # more than the leaves that may be in flight
        search.begin(0, 1)
        finish(search)
        assert root["visits"] == 1


def test_a_forced_reply_costs_a_player_one_simulation_and_a_seen_win_none() -> None:
    evaluator = ScriptedEvaluator(RULES)
    player = MctsPlayer(evaluator, RULES, ALL, policy=Policy.STOCHASTIC)
    forced = player.choose_batch([FOUR_TO_ANSWER], seeds=[0])[0]
    assert (forced.move, forced.simulations) == (parse_cell("f4", 7), 1)
    assert sum(evaluator.batches) == 1

    winning = FOUR_TO_ANSWER.copy()
    winning.push(0)
    won = player.choose_batch([winning], seeds=[0])[0]
    assert (won.move, won.simulations, won.value) == (parse_cell("f4", 7), 0, 1.0)
    assert won.policy is not None and won.policy[won.move] == 1.0
    assert sum(evaluator.batches) == 1


DOUBLE = position_of("c5 c4 f2 e2", "g6 a6 g2 a2")
"""Black to move wins by fours: two threes cross at c2."""


@pytest.mark.parametrize("kept", [False, True])
def test_a_win_by_fours_at_the_root_ends_the_search_before_it_began(kept: bool) -> None:
    evaluator = ScriptedEvaluator(RULES)
    board = NaiveBoard(RULES.size, RULES.connect)
    assert board.has_vcf(*board.of_stones(DOUBLE.stones.tolist(), BLACK))
    search = ForestSearch(RULES, evaluator, ALL, trees=1, capacity=1000)
    position = Position.from_moves(RULES, DOUBLE.moves[:-1]) if kept else DOUBLE
    search_all(search, [position], 120)
    if kept:
        search.play(0, DOUBLE.moves[-1])
        search.begin(0, 120)
        finish(search)
    proofs, move = search.proofs(0), int(search.policy(0).argmax())
    assert search.policy(0)[move] == 1.0
    assert proofs[move] > 0
    assert search.value(0) == pytest.approx(ALL.value_decay ** (int(proofs[move]) - 1))
    if not kept:
        assert not evaluator.batches
    assert_sound(search)
    # And on from there, along the proven move.
    search.play(0, move)
    search.begin(0, 50)
    finish(search)
    assert_sound(search)


def test_what_is_found_depends_on_no_thread_no_neighbour_and_no_earlier_search() -> None:
    positions = [start_position(RULES, 8 + tree, tree) for tree in range(9)]
    options = replace(ALL, vcf_leaf_nodes=5, vcf_root_nodes=3)
    alone = [searched(position, options) for position in positions]
    for threads in (1, 3):
        together = ForestSearch(RULES, ScriptedEvaluator(RULES), options, trees=9, capacity=1000, threads=threads)
        for _ in range(2):
            search_all(together, positions, options.simulations)
            for tree, search in enumerate(alone):
                assert together.visits(tree).tolist() == search.visits(0).tolist()
                assert together.proofs(tree).tolist() == search.proofs(0).tolist()


def test_a_game_on_a_kept_tree_is_sound_after_every_move() -> None:
    search = ForestSearch(RULES, ScriptedEvaluator(RULES), replace(ALL, simulations=60), trees=1, capacity=2000)
    for seed in range(4):
        position = start_position(RULES, 4, seed)
        search.set_root(0, position)
        while not position.is_game_over():
            search.begin(0, 60)
            finish(search)
            assert_sound(search)
            move = int(search.policy(0).argmax())
            position.push(move)
            if not position.is_game_over():
                search.play(0, move)
                assert search.forest.root_stones[0].tolist() == position.stones.tolist()


def test_a_failure_leaves_nothing_in_flight_below_a_forced_reply() -> None:
    search = ForestSearch(RULES, FailingEvaluator(RULES, "refuses", 2, 2), ALL, trees=2, capacity=1000)
    for tree in range(2):
        search.set_root(tree, FOUR_TO_ANSWER)
        search.begin(tree, 50)
    with pytest.raises(RuntimeError, match="the queue is closed"):
        while True:
            search.advance()
    search.halt()
    for tree in range(2):
        assert not nodes_of(search, tree)["in_flight"].any()
    for tree in range(2):
        search.begin(tree, 50)
    finish(search, 2)
    assert search.policy(0).argmax() == parse_cell("f4", 7)


OPEN_THREE = ("h8 h9 h10", "c3 m4")
"""White must answer on file h."""


def test_moves_that_let_an_open_four_happen_are_left_out() -> None:
    options = SearchSettings(simulations=1, shun_open_fours=True)
    search = searched(position_of("c4 d4", "a1"), options, evaluator=ScriptedEvaluator(RULES, flat))
    urgent = {parse_cell(name, 7) for name in ("a4", "b4", "e4", "f4")}
    assert set(np.flatnonzero(search.priors(0)).tolist()) == urgent
    assert search.priors(0).sum() == pytest.approx(1, rel=0.02)
    others = [cell for cell in np.flatnonzero(search.legal(0)).tolist() if cell not in urgent]
    assert search.proofs(0)[others].tolist() == [-4] * len(others)


@pytest.mark.parametrize("variant", [Variant.CARO, Variant.RENJU])
def test_moves_that_let_an_open_four_happen_come_last_where_another_stone_may_prevent_it(variant: Variant) -> None:
    rules = Rules(variant=variant)
    pairs = zip_longest(*(names.split() for names in OPEN_THREE))
    position = Position.from_moves(rules, [name for pair in pairs for name in pair if name])
    options = SearchSettings(simulations=1, shun_open_fours=True)
    priors = searched(position, options, evaluator=ScriptedEvaluator(rules, flat)).priors(0)
    urgent = {parse_cell(name, 15) for name in ("h6", "h7", "h11", "h12")}
    assert set(np.argsort(priors)[-4:].tolist()) == urgent
    assert priors.max() / priors[parse_cell("g1", 15)] == pytest.approx(np.exp(4), rel=0.02)


def test_in_renju_black_must_answer_an_open_three_of_white() -> None:
    rules = Rules(variant=Variant.RENJU)
    position = Position.from_moves(rules, "a1 h8 c2 h9 e1 h10".split())
    search = searched(position, replace(ALL, simulations=1), evaluator=ScriptedEvaluator(rules, flat))
    left = {parse_cell(name, 15) for name in ("h6", "h7", "h11", "h12")}
    assert set(np.flatnonzero(search.priors(0)).tolist()) == left


@settings(max_examples=60)
@given(stones=st.integers(4, 30), seed=st.integers(0, 10_000))
def test_moves_that_are_left_out_lose_by_fours(stones: int, seed: int) -> None:
    position = start_position(RULES, stones, seed)
    search = searched(position, SearchSettings(simulations=1, shun_open_fours=True))
    board = NaiveBoard(RULES.size, RULES.connect)
    own, enemy = board.of_stones(position.stones.tolist(), position.side_to_move)
    if not board.wins(own, enemy) and not board.wins(enemy, own):
        for cell in np.flatnonzero(search.proofs(0) == -4).tolist():
            assert not board.wins(own | 1 << cell, enemy)
            assert threatens(board, enemy, own | 1 << cell)


def test_two_open_threes_at_once_are_proven_before_all_other_moves_are_tried() -> None:
    # Black has two open threes that cross nowhere, and white nothing: every reply loses.
    moves = "h8 a1 h9 o1 h10 a15 d4 o15 e4 a8 f4".split()
    position = Position.from_moves(Rules(), moves)
    options = replace(ALL, simulations=300)
    search = searched(position, options, evaluator=ScriptedEvaluator(Rules(), flat), capacity=5000)
    assert search.value(0) < 0
    assert search.forest.nodes["proof"][0, 0] > 0
    assert search.forest.nodes["visits"][0, 0] < 200


def test_settings_made_before_there_were_tactics_have_none() -> None:
    assert from_json(SearchSettings, {"simulations": 5}) == SearchSettings(simulations=5)
    assert not SearchSettings().looks_at_leaves
    assert not SearchSettings().looks_at_roots
    assert SearchSettings(simulations=5).with_tactics().without_tactics() == SearchSettings(simulations=5)
    for tactics in ({"forced_moves": True}, {"shun_open_fours": True}, {"vcf_root_nodes": 1}, {"vcf_leaf_nodes": 1}):
        with pytest.raises(ValueError, match="need proven_nodes"):
            SearchSettings(proven_nodes=False, **tactics)
    with pytest.raises(ValueError, match="vcf_leaf_nodes is -1"):
        SearchSettings(vcf_leaf_nodes=-1)
