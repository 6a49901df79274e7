"""Positions of the benchmark: all stages of undecided games, on every board."""

from collections import Counter

import numpy as np
import pytest

from core.compiled import stones_of
from core.compiled.rules import compile_rules
from core.compiled.tactics import QUIET, deciding_tactic
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from curriculum.bench.positions import long_games, mixed_positions, openings, positions_between
from curriculum.bench.selfplay import stage_shares


@pytest.fixture(scope="module")
def games() -> list[Position]:
    return long_games(Rules(), 6)


def test_games_reach_every_stage_undecided(games: list[Position]) -> None:
    assert {game.ply for game in games} == {80}
    counts = Counter(range(2, 81))
    assert min(stage_shares(counts, Rules()).values()) > 0.2
    reached = positions_between(games, 2, 80, 120)
    assert {position.ply for position in reached} == set(range(2, 81))
    quiet = [
        deciding_tactic(compile_rules(position.rules), stones_of(position), position.side_to_move) == QUIET
        for position in reached
    ]
    assert sum(quiet) > 0.9 * len(quiet)


@pytest.mark.parametrize("rules", [Rules(3, 3), Rules(5, 3), Rules(9, 5), Rules(20, 5)])
def test_there_are_games_on_every_board(rules: Rules) -> None:
    played = long_games(rules, 3)
    assert all(2 <= game.ply <= 80 and not game.is_game_over() for game in played)
    assert len(mixed_positions(played)) > 0


def test_positions_take_turns_and_are_those_of_the_games(games: list[Position]) -> None:
    batch = mixed_positions(games)
    assert batch.to_move.tolist() == [BLACK, WHITE] * (len(batch) // 2)
    assert len({row.tobytes() for row in batch.stones}) == len(batch) == 6 * 78
    stones = np.count_nonzero(batch.stones, axis=1)
    assert (stones.min(), stones.max()) == (2, 79)


def test_no_two_openings_are_the_same_game(games: list[Position]) -> None:
    starts = openings(games)
    assert len(starts) == 6 * 79 * 8
    assert len({tuple(moves) for moves in starts}) > 0.98 * len(starts)  # a few have a symmetry of their own
    for moves in starts[:: len(starts) // 40]:
        assert not Position.from_moves(Rules(), moves).is_game_over()
