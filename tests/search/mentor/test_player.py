"""The mentors: what they must see, for both colours, on any board, and what may vary."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

import numpy as np
import pytest

from core.notation import cell_name, parse_cell
from core.position import Position
from core.rules import BLACK, EMPTY, WHITE, Colour, Rules
from core.streams import stream_key
from core.threats import FIVE, colour_of, new_threat_board, place, remove, side_of
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.players import PlayerSettings, PlayerSpecError, parse_player
from search.limits import Limit
from search.mentor.alpha_beta import (
    LIKELY,
    PROVEN,
    WIN,
    begin_iteration,
    new_search_state,
    root_is_complete,
    run,
    set_up,
)
from search.mentor.evaluation import built_in_network, follow, new_evaluation, score, start
from search.mentor.paper import PaperMentor
from search.mentor.player import DEFAULT_LIMIT, LEVELS, Mentor
from search.mentor.table import INFINITY
from search.players import Player
from search.solvers.vcf import new_vcf_work
from search.tree.settings import Policy
from tests.support.naive_mentor import evaluation, is_near, negamax, wins_at_once

RULES = Rules(15, 5)
KERNELS_ARE_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"
takes_many_nodes = pytest.mark.skipif(KERNELS_ARE_PYTHON, reason="so many nodes take minutes in plain Python")
FILLERS = "a1 o1 a15 o15 h1 a8 o8 h15".split()
"""Cells of the edge too far apart to make a pattern."""

MENTORS = [pytest.param(Mentor(Limit(nodes=150)), id="mentor"), pytest.param(PaperMentor(), id="paper")]


def position(colour: Colour, own: str, enemy: str) -> Position:
    """A position with `colour` to move, `own` and `enemy` stones, and as many fillers as the turns need."""
    stones = {colour: own.split(), -colour: enemy.split()}
    fillers = iter(FILLERS)
    # Black has moved once more than White if it is White's turn, else as often.
    while len(stones[BLACK]) < len(stones[WHITE]) + (colour == WHITE):
        stones[BLACK].append(next(fillers))
    while len(stones[WHITE]) < len(stones[BLACK]) - (colour == WHITE):
        stones[WHITE].append(next(fillers))
    moves = [name for pair in zip_longest(stones[BLACK], stones[WHITE]) for name in pair if name is not None]
    result = Position.from_moves(RULES, [parse_cell(name, RULES.size) for name in moves])
    assert result.side_to_move == colour
    return result


def moves_of(player: Player, board: Position, seeds: int = 4) -> set[str]:
    """The names of the moves a player makes over some seeds."""
    decisions = player.choose_batch([board] * seeds, seeds=range(seeds))
    return {cell_name(decision.move, board.rules.size) for decision in decisions}


def play(black: Player, white: Player, rules: Rules, seed: int, opening: tuple[int, ...] = ()) -> Position:
    """A game to its end; an illegal move raises."""
    board = Position.from_moves(rules, opening)
    while not board.is_game_over():
        player = black if board.side_to_move == BLACK else white
        board.push(player.choose_batch([board], seeds=[stream_key(seed, board.ply)])[0].move)
    return board


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("player", MENTORS)
class TestBothMentors:
    def test_takes_the_win_before_anything_else(self, player: Player, colour: Colour) -> None:
        board = position(colour, "e5 f5 g5 h5", "d5 e8 f8 g8 h8")
        assert moves_of(player, board) == {"i5"}
        assert player.choose_batch([board], seeds=[0])[0].value == 1.0

    def test_fills_the_gap_of_a_broken_four(self, player: Player, colour: Colour) -> None:
        assert moves_of(player, position(colour, "e5 f5 h5 i5", "e9 f10 g9")) == {"g5"}

    def test_blocks_a_five(self, player: Player, colour: Colour) -> None:
        assert moves_of(player, position(colour, "d5 c9", "e5 f5 g5 h5")) == {"i5"}

    def test_makes_an_open_four_of_an_open_three(self, player: Player, colour: Colour) -> None:
        assert moves_of(player, position(colour, "g7 h7 i7", "h8 i9 k5")) <= {"f7", "j7"}

    def test_answers_an_open_three(self, player: Player, colour: Colour) -> None:
        assert moves_of(player, position(colour, "h9 j10", "g7 h7 i7")) <= {"e7", "f7", "j7", "k7"}

    def test_makes_a_four_and_an_open_three_at_once(self, player: Player, colour: Colour) -> None:
        # j7 makes four of f7-i7 blocked at e7, and an open three of j8 j9.
        board = position(colour, "g7 h7 i7 j8 j9", "f7 k10 h10 c3")
        assert moves_of(player, board) == {"j7"}

    def test_starts_in_the_centre(self, player: Player, colour: Colour) -> None:
        for size in (3, 4, 10, 15, 25):
            decision = player.choose_batch([Position(Rules(size, 3))], seeds=[colour])[0]
            assert decision.move == size // 2 * size + size // 2


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(
    ("own", "enemy", "value"),
    [
        pytest.param("e5 f5 g5 h5", "d5", 5.0, id="five"),
        pytest.param("g7 h7 i7", "", 4.5, id="open four against nothing"),
        pytest.param("g7 h7 i7", "f7", 4.0, id="four against nothing"),
        pytest.param("g7 h7 i7 j8 j9", "f7", 4.3, id="four and open three"),
        pytest.param("g7 h7", "", 3.5, id="open three against nothing"),
        pytest.param("g7 h7 i8 i9", "", 3.8, id="two open threes"),
        pytest.param("h8", "", 2.5, id="open two against nothing"),
        pytest.param("h8 i9 g7", "l5 l6", 4.5 - 0.1 * 2.5, id="attack less a tenth of the defence"),
        pytest.param("g7 h7 i7", "f7 h10 i10 j10", 4.0 - 0.35, id="a four while the open three stands"),
        pytest.param("", "g7 h7 i7 g10 h10 i10", -4.0, id="one of two open threes stands"),
        pytest.param("", "g7 h7 i7 j7", -4.5, id="one end of an open four stands"),
        pytest.param("", "g7 h7 i7 j7 g10 h10 i10 j10", -5.0, id="an open four stands"),
    ],
)
def test_the_paper_mentor_values_its_move_by_the_rules_of_the_paper(
    colour: Colour, own: str, enemy: str, value: float
) -> None:
    decision = PaperMentor().choose_batch([position(colour, own, enemy)], seeds=[0])[0]
    assert decision.value == pytest.approx(value / 5)


@pytest.mark.parametrize("colour", [BLACK, WHITE])
class TestMentor:
    mentor = Mentor(Limit(nodes=400))

    def test_makes_two_fours_at_once(self, colour: Colour) -> None:
        # j7 makes blocked fours of g7 h7 i7 and of j4 j5 j6.
        board = position(colour, "g7 h7 i7 j4 j5 j6", "f7 j3 h10 c3 m12")
        assert moves_of(self.mentor, board) == {"j7"}
        assert self.mentor.choose_batch([board], seeds=[0])[0].value == 1.0

    def test_makes_two_open_threes_at_once(self, colour: Colour) -> None:
        board = position(colour, "f8 g8 h6 h7", "c12 l3 m11")
        move = self.mentor.choose_batch([board], seeds=[0])[0]
        board.push(move.move)
        # Whatever is answered, the next decision knows a proven win.
        reply = self.mentor.choose_batch([board], seeds=[0])[0]
        board.push(reply.move)
        assert move.value is not None
        assert move.value > 0.5
        assert self.mentor.choose_batch([board], seeds=[0])[0].value == 1.0

    def test_gives_five_priority_over_its_own_open_four(self, colour: Colour) -> None:
        assert moves_of(self.mentor, position(colour, "g10 h10 i10 d5", "e5 f5 g5 h5")) == {"i5"}

    def test_sees_a_win_by_a_row_of_fours(self, colour: Colour) -> None:
        # A four at j7 (answered at k7) leaves a four and an open three at j10.
        board = position(colour, "g7 h7 i7 j8 j9 h10 i10", "f7 g10 m3 c3 d12 b8")
        decision = self.mentor.choose_batch([board], seeds=[0])[0]
        assert decision.value == 1.0

    def test_knows_when_it_is_lost(self, colour: Colour) -> None:
        decision = self.mentor.choose_batch([position(colour, "c3 m3", "e5 f5 g5 h5")], seeds=[0])[0]
        assert decision.value == -1.0
        assert cell_name(decision.move, 15) in {"d5", "i5"}


class ColoursSwapped(Position):
    """The same board seen by the other colour: every stone and the side to move changed."""

    def __init__(self, original: Position) -> None:
        super().__init__(original.rules)
        self.stones = -original.stones
        self.moves = original.moves.copy()

    @property
    def side_to_move(self) -> Colour:
        return -super().side_to_move


@pytest.mark.parametrize("player", MENTORS)
def test_decides_alike_with_the_colours_swapped(player: Player) -> None:
    rng = np.random.default_rng(2)
    for seed in range(10):
        middle = [row * 15 + column for row in range(4, 11) for column in range(4, 11)]
        board = Position.from_moves(RULES, (int(cell) for cell in rng.permutation(middle)[: 4 + seed]))
        original, swapped = (player.choose_batch([each], seeds=[seed])[0] for each in (board, ColoursSwapped(board)))
        assert (original.move, original.value) == (swapped.move, swapped.value)


@pytest.mark.parametrize("player", MENTORS)
@pytest.mark.parametrize(("size", "connect"), [(3, 3), (4, 3), (4, 4), (5, 5), (6, 4), (6, 6), (7, 5), (9, 5)])
def test_plays_whole_games_on_any_board(player: Player, size: int, connect: int) -> None:
    rules = Rules(size, connect)
    for seed in range(2):
        board = play(player, player, rules, seed)
        assert board.is_game_over()


def solve(board: Position, known: dict[bytes, int]) -> int:
    """The result for the side to move with best play, by trying everything."""
    outcome = board.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else -1
    key = board.stones.tobytes()
    if key not in known:
        best = -1
        for cell in board.legal_moves():
            board.push(int(cell))
            best = max(best, -solve(board, known))
            board.pop()
            if best == 1:
                break
        known[key] = best
    return known[key]


@pytest.mark.parametrize(("size", "connect", "empties"), [(4, 3, 8), (4, 4, 8), (5, 4, 8), (5, 5, 8), (6, 5, 8)])
def test_what_the_mentor_calls_proven_is_true(size: int, connect: int, empties: int) -> None:
    rng = np.random.default_rng(size * connect)
    rules = Rules(size, connect)
    mentors = [Mentor(Limit(nodes=100 if KERNELS_ARE_PYTHON else 2000)), Mentor(Limit(nodes=60), variety=0)]
    checked = proven = 0
    while checked < (2 if KERNELS_ARE_PYTHON else 12):
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


@pytest.mark.parametrize(("size", "connect"), [(3, 3), (6, 4), (9, 5), (15, 5), (25, 6)])
def test_the_evaluation_follows_stones_that_come_and_go(size: int, connect: int) -> None:
    rng = np.random.default_rng(size)
    rules = Rules(size, connect)
    board, followed = new_threat_board(rules), new_evaluation(rules, built_in_network())
    start(followed, board)
    for step in range(30 if KERNELS_ARE_PYTHON else 200):
        stones = np.flatnonzero(board.stones)
        if len(stones) and rng.random() < len(stones) / rules.cells:
            cell = int(rng.choice(stones))
            remove(board, cell)
        else:
            # Close together, so that lines come about.
            cell = int(
                min(rng.choice(np.flatnonzero(board.stones == EMPTY), 3), key=lambda at: abs(at - rules.cells // 2))
            )
            place(board, cell, colour_of(step % 2))
        follow(followed, board, cell)
        for side in (0, 1):
            assert score(followed, side) == pytest.approx(evaluation(board, side), abs=1)
            empty = np.flatnonzero(board.stones == EMPTY).tolist()
            assert followed.wins[side] == sum(wins_at_once(board, side, at) for at in empty)


@pytest.mark.parametrize(("size", "connect", "depth"), [(4, 3, 2), (5, 4, 2), (7, 5, 1), (9, 5, 1), (6, 6, 1)])
def test_without_reductions_the_score_is_that_of_the_naive_search(size: int, connect: int, depth: int) -> None:
    rng = np.random.default_rng(size)
    rules = Rules(size, connect)
    board, state, vcf = (
        new_threat_board(rules),
        new_search_state(rules, built_in_network(), 1 << 12),
        new_vcf_work(rules, 4),
    )
    state.reductions[:], state.widths[:], state.margins[:] = 0, rules.cells, 2 * INFINITY
    checked = 0
    while checked < (1 if KERNELS_ARE_PYTHON else 4):
        position = Position(rules)
        stones = rng.integers(2, max(3, rules.cells // 2))
        while not position.is_game_over() and position.ply < stones:
            near = [
                cell for cell in position.legal_moves() if position.ply == 0 or is_near(position.stones, cell, size)
            ]
            position.push(int(rng.choice(near)))
        if position.is_game_over():
            continue
        checked += 1
        count = set_up(board, state, position.stones, position.side_to_move, 0, len(state.table), False, 0)
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
        if not root_is_complete(state):
            expected = [score + WIN - LIKELY if score <= -PROVEN else score for score in expected]
        # Single precision may round to the next number.
        assert max(state.root_scores[:count]) == pytest.approx(max(expected), abs=1)


@pytest.mark.parametrize("player", MENTORS)
def test_finds_the_last_cells_of_a_nearly_full_board(player: Player) -> None:
    rng = np.random.default_rng(5)
    rules = Rules(6, 6)
    checked = 0
    while checked < 20:
        board = Position(rules)
        while not board.is_game_over() and board.ply < rules.cells - rng.integers(1, 4):
            board.push(int(rng.choice(board.legal_moves())))
        if board.is_game_over():
            continue
        decision = player.choose_batch([board], seeds=[checked])[0]
        assert board.is_legal(decision.move)
        checked += 1


def test_the_far_corner_board_is_no_trouble() -> None:
    board = Position.from_moves(Rules(25, 6), [0, 624])
    for player in (Mentor(Limit(nodes=100)), PaperMentor()):
        assert board.is_legal(player.choose_batch([board], seeds=[0])[0].move)


@pytest.mark.parametrize("player", MENTORS)
def test_the_same_seed_gives_the_same_decision_also_from_threads(player: Player) -> None:
    boards = [position(BLACK, "g7 h8", "h7 i9"), position(WHITE, "g7 h8 j7", "h7 i7 g9")] * 2
    seeds = range(4)
    alone = [player.choose_batch([board], seeds=[seed])[0] for board, seed in zip(boards, seeds, strict=True)]
    together = player.choose_batch(boards, seeds=seeds)
    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(lambda board, seed: player.choose_batch([board], seeds=[seed])[0], boards, seeds))
    for one, two, three in zip(alone, together, threaded, strict=True):
        assert (one.move, one.value, one.simulations) == (two.move, two.value, two.simulations)
        assert (one.move, one.value, one.simulations) == (three.move, three.value, three.simulations)


@pytest.mark.parametrize("player", [Mentor(Limit(depth=1)), PaperMentor()])
def test_equal_moves_vary_with_the_seed(player: Player) -> None:
    # Around a single stone all moves of one kind are equal by symmetry.
    board = Position.from_moves(RULES, [112])
    assert len(moves_of(player, board, seeds=16)) >= 4


@takes_many_nodes
def test_variety_widens_the_choice() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    narrow, wide = (moves_of(Mentor(Limit(nodes=1000), variety=variety), board, seeds=16) for variety in (0, 30))
    assert len(narrow) < len(wide)


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
    assert Mentor(Limit(nodes=4000)).analyse(board).value < -0.9
    assert moves_of(Mentor(Limit(nodes=4000)), board, seeds=8) == {longest}


def test_a_decision_says_what_it_rests_on() -> None:
    board = position(WHITE, "g7 h8 j7", "h7 i7 g9")
    for player in (Mentor(Limit(nodes=100)), PaperMentor()):
        decision = player.choose_batch([board], seeds=[1])[0]
        assert decision.policy is not None
        assert decision.policy.sum() == pytest.approx(1)
        assert decision.policy[decision.move] == decision.policy.max()
        assert decision.value is not None
        assert -1 < decision.value < 1
        assert decision.simulations > 0
    assert np.count_nonzero(board.stones != EMPTY) == board.ply


@takes_many_nodes
def test_more_nodes_are_spent_when_allowed_and_a_stop_is_heeded() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    few, many = (Mentor(Limit(nodes=nodes)).choose_batch([board], seeds=[0])[0].simulations for nodes in (1000, 20000))
    stopped = Mentor(Limit(nodes=20000)).choose_batch([board, board], seeds=[0, 1], stop=lambda: True)
    # Searches for fours at the last node may take some more.
    assert few <= 1100 < 10000 < many <= 20100
    assert len(stopped) == 2
    assert all(decision.simulations <= few and board.is_legal(decision.move) for decision in stopped)


@takes_many_nodes
def test_a_stop_in_the_midst_of_a_search_ends_it_with_what_was_found() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 4

    analysis = Mentor().analyse(board, Limit(nodes=10**9), stop=stop)
    assert analysis.nodes < 50_000
    assert board.is_legal(analysis.best_move)


def test_the_clock_ends_a_search() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    analysis = Mentor(Limit(seconds=0.05)).analyse(board)
    assert analysis.depth > 0
    assert analysis.seconds < 10


def test_a_search_without_end_is_ended_by_its_stop() -> None:
    analysis = Mentor(Limit(seconds=float("inf"))).analyse(position(BLACK, "g7 h8", "h7 i9"), stop=lambda: True)
    assert len(analysis.moves) > 0


def test_a_depth_ends_a_search() -> None:
    board = position(BLACK, "g7 h8", "h7 i9")
    for depth in (1, 2, 3):
        assert Mentor().analyse(board, Limit(depth=depth)).depth == depth


@takes_many_nodes
def test_what_one_search_left_in_the_table_does_not_tell_on_the_next() -> None:
    boards = [position(BLACK, "g7 h8", "h7 i9"), position(WHITE, "g7 h8 j7", "h7 i7 g9")]
    fresh = [Mentor(Limit(nodes=3000)).analyse(board) for board in boards]
    used = Mentor(Limit(nodes=3000))
    for board, expected in zip(boards * 3, fresh * 3, strict=True):
        analysis = used.analyse(board)
        assert (analysis.moves, analysis.score, analysis.nodes) == (expected.moves, expected.score, expected.nodes)


@takes_many_nodes
def test_by_the_clock_a_search_goes_on_from_what_the_last_one_found() -> None:
    mentor, limit = Mentor(Limit(nodes=3000)), Limit(depth=9, seconds=600.0)
    boards = [Position.from_moves(RULES, opening) for opening in load_openings("balanced", RULES)[:8]]
    first, again = (sum(mentor.analyse(board, limit).nodes for board in boards) for _ in range(2))
    assert again < first / 2
    fresh = Mentor().analyse(boards[0], Limit(nodes=3000))
    by_nodes = mentor.analyse(boards[0])
    assert (by_nodes.nodes, by_nodes.variation) == (fresh.nodes, fresh.variation), "where nodes count all is forgotten"


@takes_many_nodes
def test_the_variation_is_a_game_that_goes_on() -> None:
    for board in (position(BLACK, "g7 h8", "h7 i9"), position(WHITE, "g7 h8 j7", "h7 i7 g9")):
        analysis = Mentor().analyse(board, Limit(nodes=5000))
        assert analysis.variation[0] == analysis.best_move
        Position.from_moves(RULES, (*board.moves, *analysis.variation))


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_a_proven_win_says_when_and_how(colour: Colour) -> None:
    board = position(colour, "g7 h7 i7 j8 j9 h10 i10", "f7 g10 m3 c3 d12 b8")
    mentor = Mentor(Limit(nodes=400))
    analysis = mentor.analyse(board)
    assert analysis.value == 1.0
    assert mentor.choose(board).plies_to_end == analysis.plies_to_end
    assert analysis.plies_to_end == len(analysis.variation)
    assert WIN - analysis.score == len(analysis.variation)
    for cell in analysis.variation:
        board.push(cell)
    outcome = board.outcome()
    assert outcome is not None
    assert outcome.winner == colour


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Limit(depth=0), "depth is 0"),
        (lambda: Limit(nodes=-1), "nodes is -1"),
        (lambda: Limit(seconds=0.0), "seconds is 0.0"),
        (lambda: Limit(), "at least one"),
        (lambda: Mentor(variety=-1), "variety"),
        (lambda: Mentor(memory_bytes=0), "memory_bytes"),
    ],
)
def test_numbers_out_of_range_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_higher_level_thinks_longer() -> None:
    budgets = [LEVELS[level] for level in range(1, 6)]
    assert budgets == sorted(budgets)


def test_levels_are_players_and_a_time_limits_them_too() -> None:
    for spec, nodes in (("mentor", None), *((f"mentor:{level}", LEVELS[level]) for level in LEVELS)):
        player = parse_player(spec, rules=RULES, settings=PlayerSettings())
        timed = parse_player(spec, rules=RULES, settings=PlayerSettings(seconds=0.5))
        assert isinstance(player, Mentor)
        assert isinstance(timed, Mentor)
        assert player.name == timed.name == spec
        assert player.limit == Limit(nodes=nodes or DEFAULT_LIMIT.nodes)
        assert timed.limit == Limit(nodes=nodes, seconds=0.5), "without a level the time alone limits it"
    sure = parse_player("mentor", rules=RULES, settings=PlayerSettings(policy=Policy.DETERMINISTIC))
    assert isinstance(sure, Mentor)
    assert sure.variety == 0
    with pytest.raises(PlayerSpecError, match="names no player"):
        parse_player("mentor:6", rules=RULES, settings=PlayerSettings())


@pytest.mark.skipif(KERNELS_ARE_PYTHON, reason="a match takes minutes in plain Python")
def test_mentor_beats_the_mentor_of_the_paper() -> None:
    rng = np.random.default_rng(11)
    mentor, paper = Mentor(Limit(nodes=600)), PaperMentor()
    won = 0
    for game in range(10):
        near_centre = rng.permutation([row * 15 + column for row in range(5, 10) for column in range(5, 10)])[:4]
        opening = tuple(int(cell) for cell in near_centre)
        for colour, black, white in ((BLACK, mentor, paper), (WHITE, paper, mentor)):
            outcome = play(black, white, RULES, game, opening).outcome()
            won += outcome is not None and outcome.winner == colour
    assert won >= 15
