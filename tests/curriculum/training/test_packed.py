"""Packed samples: what was packed comes back in any order, in few bytes."""

import numpy as np
import pytest

from core.position import Position
from core.rules import Rules
from curriculum.games.mentor_games import random_move, replay_positions
from curriculum.training import packed as packing
from curriculum.training.packed import FIRST, Packed, pack
from curriculum.training.samples import Samples


def games(rules: Rules, count: int, seed: int = 1) -> Samples:
    """Samples of random games with policies of 400 visits; every other game lacks most of its positions."""
    chance = np.random.default_rng(seed)
    parts: list[Samples] = []
    for game in range(count):
        position = Position(rules)
        while not position.is_game_over() and position.ply < 40:
            position.push(random_move(position, chance))
        batch = replay_positions(position, 4)
        policies = np.zeros((len(batch), rules.cells), np.float32)
        for row, policy in enumerate(policies):
            free = chance.permutation(np.flatnonzero(batch.stones[row] == 0))[: chance.integers(1, 25)]
            policy[free] = chance.multinomial(400, chance.dirichlet(np.full(len(free), 0.5))) / 400
        samples = Samples.plain(batch, policies, chance.uniform(-1, 1, len(batch)).astype(np.float32))
        parts.append(samples.rows(np.arange(game % 3, len(samples), 1 + game % 2 * 4)))
    return Samples.concatenate(parts)


def assert_equal(packed: Samples, plain: Samples) -> None:
    """Check that samples are those that were packed, within the units of policies and values."""
    assert np.array_equal(packed.positions.stones, plain.positions.stones)
    assert np.array_equal(packed.positions.to_move, plain.positions.to_move)
    assert np.array_equal(packed.positions.last_moves, plain.positions.last_moves)
    assert np.abs(packed.policies - plain.policies).max() < 1 / 250
    assert np.allclose(packed.policies.sum(axis=1), 1, atol=1e-5)
    assert np.abs(packed.values - plain.values).max() < 1 / 60_000


@pytest.mark.parametrize("size", [3, 15, 25])
def test_samples_come_back_in_any_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = games(Rules(size, 3 if size == 3 else 5), 12)
    packed, order = pack(plain), np.random.default_rng(2).permutation(len(plain))
    assert_equal(packed.all, plain)
    assert_equal(packed.rows(order), plain.rows(order))
    assert_equal(packed.take(order).all, plain.rows(order))
    assert_equal(packed.take(slice(5, 20)).all, plain.rows(slice(5, 20)))
    same = packed.take(slice(None))
    assert all(np.array_equal(array, same.arrays[name]) for name, array in packed.arrays.items()), "one line a game"
    twice = Packed.concatenate([packed, packed.take(order)])
    assert_equal(twice.all, Samples.concatenate([plain, plain.rows(order)]))
    for chunk in (7, len(plain)):
        monkeypatch.setattr(packing, "_CHUNK", chunk)
        assert_equal(pack(plain).all, plain)


def test_a_game_is_one_line_and_a_position_takes_some_thirty_bytes() -> None:
    plain = games(Rules(), 30)
    packed = pack(plain)
    assert len(packed.arrays["lines"]) < 3.5 * len(plain)
    assert np.count_nonzero(packed.arrays["facts"] & FIRST) == 30
    assert sum(array.nbytes for array in packed.arrays.values()) < 45 * len(plain)
