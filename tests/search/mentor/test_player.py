"""The mentors as players: moves that they must find, for both colours, on any board, and the choice among equals."""

from array import array
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from core.notation import cell_name
from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from search.limit import Limit
from search.mentor.paper import PaperMentor
from search.mentor.player import Mentor
from search.players import Player
from tests.support.cases import cases
from tests.support.mentor_positions import (
    KERNELS_ARE_PYTHON,
    RULES,
    moves_of,
    openings,
    play,
    position,
    takes_many_nodes,
)

MENTORS = [pytest.param(Mentor(Limit(nodes=150)), id="mentor"), pytest.param(PaperMentor(), id="paper")]


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("player", MENTORS)
def test_both_mentors_know_the_moves_of_every_player(player: Player, colour: Colour) -> None:
    for own, enemy, right in (
        ("e5 f5 g5 h5", "d5 e8 f8 g8 h8", "i5"),  # the win before anything else
        ("e5 f5 h5 i5", "e9 f10 g9", "g5"),
        ("d5 c9", "e5 f5 g5 h5", "i5"),
        ("g7 h7 i7", "h8 i9 k5", "f7 j7"),
        ("h9 j10", "g7 h7 i7", "e7 f7 j7 k7"),
        ("g7 h7 i7 j8 j9", "f7 k10 h10 c3", "j7"),  # a four of f7-i7 blocked at e7, and an open three of j8 j9
    ):
        assert moves_of(player, position(colour, own, enemy)) <= {*right.split()}
    for size in (3, 4, 10, 15, 25):
        assert player.choose(Position(Rules(size, 3)), seed=colour).move == size // 2 * size + size // 2


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
        assert move.value > 0.5
        assert self.mentor.choose_batch([board], seeds=[0])[0].value == 1.0

    def test_gives_five_priority_over_its_own_open_four(self, colour: Colour) -> None:
        assert moves_of(self.mentor, position(colour, "g10 h10 i10 d5", "e5 f5 g5 h5")) == {"i5"}

    def test_knows_a_lost_position(self, colour: Colour) -> None:
        decision = self.mentor.choose_batch([position(colour, "c3 m3", "e5 f5 g5 h5")], seeds=[0])[0]
        assert decision.value == -1.0
        assert cell_name(decision.move, 15) in {"d5", "i5"}


class ColoursSwapped(Position):
    """The same board seen by the other colour: every stone and the side to move changed."""

    def __init__(self, original: Position) -> None:
        super().__init__(original.rules)
        self.stones = array("b", [-stone for stone in original.stones])
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
    boards = openings()[:4]
    narrow, wide = (
        sum(len(moves_of(Mentor(Limit(nodes=1000), variety=variety), board, seeds=16)) for board in boards)
        for variety in (0, 30)
    )
    assert narrow < wide


def test_a_decision_has_its_policy_value_and_nodes() -> None:
    board = position(WHITE, "g7 h8 j7", "h7 i7 g9")
    for player in (Mentor(Limit(nodes=100)), PaperMentor()):
        decision = player.choose_batch([board], seeds=[1])[0]
        assert decision.policy.sum() == pytest.approx(1)
        assert decision.policy[decision.move] == decision.policy.max()
        assert -1 < decision.value < 1
        assert decision.simulations > 0
    assert np.count_nonzero(board.stones) == board.ply


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


# The values of the mentor of paper A.


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize(("own", "enemy", "value", "why"), cases("paper_values"))
def test_the_paper_mentor_values_its_move_by_the_rules_of_the_paper(
    colour: Colour, own: str, enemy: str, value: float, why: str
) -> None:
    decision = PaperMentor().choose_batch([position(colour, own, enemy)], seeds=[0])[0]
    assert decision.value == pytest.approx(value / 5), why
