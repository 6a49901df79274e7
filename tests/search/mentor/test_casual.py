"""The casual player: sensible moves alone, and threats that it overlooks as often as its habits say."""

import numpy as np
import pytest

from core.position import Position
from core.rules import BLACK, WHITE, Colour, Rules
from search.mentor.casual import CasualPlayer, Habits
from tests.support.mentor_positions import moves_of, position

SHARP = CasualPlayer(Habits())
BLIND = CasualPlayer(Habits(sees_four=0.0, sees_three=0.0, softness=0.5))


def share_of(player: CasualPlayer, board: Position, names: str) -> float:
    """Share of the moves over some seeds that are among `names`."""
    decisions = player.choose_batch([board] * 60, seeds=range(60))
    return sum(board.name_of(decision.move) in names.split() for decision in decisions) / 60


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_it_takes_a_five_stops_a_four_and_answers_an_open_three(colour: Colour) -> None:
    assert moves_of(SHARP, position(colour, "e5 f5 g5 h5", "d5 e8 f8 g8 h8")) == {"i5"}
    assert moves_of(SHARP, position(colour, "d5 c9", "e5 f5 g5 h5")) == {"i5"}
    assert moves_of(SHARP, position(colour, "k3 m5", "g7 h7 i7")) <= {"f7", "j7"}
    assert moves_of(SHARP, position(colour, "c4 d4 e4", "g7 h7 i7")) <= {"b4", "f4"}, "its own open three comes first"


def test_it_overlooks_threats_as_often_as_its_habits_say() -> None:
    four, three = position(BLACK, "d5 c9", "e5 f5 g5 h5"), position(BLACK, "k3 m5", "g7 h7 i7")
    assert share_of(BLIND, four, "i5") < 0.4
    assert share_of(BLIND, three, "f7 j7") < 0.6
    half = CasualPlayer(Habits(sees_four=0.5, sees_three=0.5, softness=0.5))
    assert share_of(BLIND, four, "i5") < share_of(half, four, "i5") < 1
    assert share_of(BLIND, three, "f7 j7") < share_of(half, three, "f7 j7") < 1


@pytest.mark.parametrize("softness", [0.01, 0.3, 1.0])
def test_its_moves_are_near_stones_and_a_distribution(softness: float) -> None:
    player = CasualPlayer(Habits(sees_three=0.5, softness=softness))
    board = position(BLACK, "h8 h9", "i9 g7")
    decision = player.choose(board, seed=3)
    assert decision.policy.sum() == pytest.approx(1)
    rows, columns = np.divmod(np.flatnonzero(decision.policy), 15)
    stones = np.divmod(np.flatnonzero(board.stones), 15)
    distances = [
        min(max(abs(row - r), abs(column - c)) for r, c in zip(*stones, strict=True))
        for row, column in zip(rows, columns, strict=True)
    ]
    assert max(distances) <= 2


def test_softness_spreads_its_moves() -> None:
    board = position(BLACK, "h8 h9", "i9 g7")
    spread = [len(moves_of(CasualPlayer(Habits(softness=soft)), board, seeds=40)) for soft in (0.01, 0.3, 1.0)]
    assert spread == sorted(spread)
    assert spread[0] < spread[-1]


def test_a_seed_decides_and_the_first_move_is_the_centre() -> None:
    board = position(BLACK, "h8 h9", "i9 g7")
    player = CasualPlayer(Habits(softness=1.0, looks_ahead=0.5))
    assert player.choose(board, seed=5).move == player.choose(board, seed=5).move
    assert player.choose(Position(Rules(9, 5))).move == 40


def test_it_looks_ahead_as_often_as_its_habits_say() -> None:
    board = position(BLACK, "h8 h9", "i9 g7")
    ahead = CasualPlayer(Habits(looks_ahead=0.5))
    values = [ahead.choose(board, seed=seed).value for seed in range(40)]
    assert 5 < sum(value is not None for value in values) < 35
    assert {SHARP.choose(board, seed=seed).value for seed in range(10)} == {None}


def test_it_plays_on_any_board_to_the_end() -> None:
    board = Position(Rules(4, 3))
    while not board.is_game_over():
        board.push(BLIND.choose(board, seed=board.ply).move)


@pytest.mark.parametrize("habits", [{"sees_four": 1.5}, {"sees_three": -0.1}, {"softness": 0.0}, {"nodes": 0}])
def test_habits_out_of_range_are_refused(habits: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(habits))):
        Habits(**habits)  # type: ignore[arg-type]
