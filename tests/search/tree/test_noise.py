"""Noise at every node: the sampler's statistics, and the searches with it."""

import math
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled import legal_moves_of
from core.position import Position
from core.rules import Rules
from core.streams import stream_key
from search.tree.cache import EvaluationCache
from search.tree.mcts import ForestSearch, NodeNoise
from search.tree.noise import random_share, random_word, write_dirichlet
from search.tree.settings import FirstPlay, SearchSettings
from search.tree.softmax import best_with_noise, make_scratch, priors_of
from tests.support.evaluators import ScriptedEvaluator
from tests.support.searches import (
    SMALL,
    assert_sound,
    finish,
    naive_twin,
    nodes_of,
    searched,
    start_position,
    statistics,
    visits_of,
)

KERNELS_ARE_PYTHON = os.environ.get("NUMBA_DISABLE_JIT") == "1"


def mask_with(legal: int, cells: int) -> NDArray[np.bool_]:
    """Return a mask with `legal` legal moves somewhere."""
    mask = np.zeros(cells, dtype=np.bool_)
    mask[np.random.default_rng(cells).permutation(cells)[:legal]] = True
    return mask


def draws(legal: NDArray[np.bool_], alpha: float, count: int, key: int = 7) -> NDArray[np.float64]:
    """Return draws [count, legal moves] of the kernel, one after the other from one stream."""
    rows = np.empty((count, len(legal)), dtype=np.float32)
    index, memory = 0, make_scratch(len(legal))
    for row in rows:
        index = write_dirichlet(legal, row, alpha, key, index, memory)
    assert not rows[:, ~legal].any()
    return rows[:, legal].astype(np.float64)


@pytest.mark.skipif(KERNELS_ARE_PYTHON, reason="many draws")
@pytest.mark.parametrize("alpha", [0.001, 0.03, 0.12, 0.3, 1.0])
@pytest.mark.parametrize(("empty", "cells"), [(100, 144), (6, 9), (2, 9)])
def test_noise_is_distributed_as_dirichlet(alpha: float, empty: int, cells: int) -> None:
    """Means, variances, the largest two and shares of small components are numpy's, and the components are alike."""
    count = 20_000
    found = draws(mask_with(empty, cells), alpha, count)
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (found >= 0).all()
    mean, variance = 1 / empty, (1 / empty) * (1 - 1 / empty) / (empty * alpha + 1)
    assert found.mean(axis=0) == pytest.approx(mean, abs=5 * (variance / count) ** 0.5)
    assert found.var(axis=0).mean() == pytest.approx(variance, rel=0.02)
    if alpha >= 0.03:  # numpy's own draws underflow where alpha is tiny
        other = np.random.default_rng(1).dirichlet(np.full(empty, alpha), count)
        for place in (-1, -2):
            ours, numpys = (np.sort(rows, axis=1)[:, place].mean() for rows in (found, other))
            assert ours == pytest.approx(numpys, abs=0.01)
        for size in (1e-2, 1e-5):
            assert (found > size).mean() == pytest.approx((other > size).mean(), abs=0.01)
    neighbours = np.corrcoef(found[:, :-1].ravel(), found[:, 1:].ravel())[0, 1]
    assert neighbours == pytest.approx(-1 / (empty - 1), abs=0.02), "components are independent up to their sum"


def naive_dirichlet(legal: NDArray[np.bool_], alpha: float, key: int, first: int) -> tuple[list[float], int]:
    """GS of Ahrens and Dieter with the logarithms of Gamma(alpha), a cell at a time; a draw, and the next index."""
    bound, cells, logs = 1 + alpha / math.e, len(legal), dict[int, float]()
    index = first + 2 * cells

    def first_try(index: int, scale: float) -> float:
        return float((np.float32(random_word(key, index) >> 1) + np.float32(0.5)) * np.float32(scale / 2**31))

    for cell in np.flatnonzero(legal).tolist():
        power, chance = first_try(first + cell, bound), first_try(first + cells + cell, 1)
        while True:
            if power <= 1:
                logs[cell] = math.log(power) / alpha
                is_taken = math.log(chance) <= -math.exp(logs[cell])
            else:
                weight = -math.log((bound - power) / alpha)
                logs[cell] = math.log(weight)
                is_taken = chance <= weight ** (alpha - 1)
            if is_taken:
                break
            power, chance = bound * random_share(key, index), random_share(key, index + 1)
            index += 2
    top = max(logs.values())
    weights = [math.exp(logs[cell] - top) if cell in logs else 0.0 for cell in range(cells)]
    return [weight / sum(weights) for weight in weights], index


@pytest.mark.parametrize(("legal", "cells"), [(1, 1), (2, 9), (6, 9), (25, 36)])
@pytest.mark.parametrize("alpha", [0.001, 0.03, 0.12, 0.3, 1.0])
def test_each_draw_is_the_naive_twins(alpha: float, legal: int, cells: int) -> None:
    """Tries that fail, sums that underflow and cells that are occupied are among them."""
    mask, noise, memory = mask_with(legal, cells), np.empty(cells, np.float32), make_scratch(cells)
    indices = 0
    for key in range(0, 400, 1 + cells // 4):
        found = write_dirichlet(mask, noise, alpha, key, 5 + indices, memory)
        expected, index = naive_dirichlet(mask, alpha, key, 5 + indices)
        assert found == index
        # An error of the power of a float32 is multiplied by 1 / alpha.
        assert noise == pytest.approx(expected, rel=1e-5 + 1e-6 / alpha, abs=2e-8)
        indices = found % 1000


def test_equal_keys_give_equal_streams_in_all_versions() -> None:
    """Games are repeated by their seeds."""
    words = [random_word(key, index) for key, index in ((0, 1), (1, 0), (7, 2**31), (2**32 - 1, 2**32 + 5), (99, -1))]
    assert words == [777_403_614, 824_515_495, 4_193_022_234, 2_570_993_904, 4_073_505_146]
    assert random_share(99, 3) == random_word(99, 3) / 2**32


def test_streams_of_other_keys_and_later_draws_differ() -> None:
    words = [[random_word(key, index) for index in range(1000)] for key in (0, 1, 2**31)]
    assert len({word for stream in words for word in stream}) > 2990
    for stream in words:
        assert np.mean(stream) == pytest.approx(2**31, rel=0.06)
        assert np.mean([word & 1 for word in stream]) == pytest.approx(0.5, abs=0.06)


@given(cells=st.integers(1, 60), seed=st.integers(0, 1000), share=st.sampled_from([0.0, 0.25, 1.0]))
def test_the_best_unvisited_move_is_the_one_with_the_largest_mixed_prior(cells: int, seed: int, share: float) -> None:
    random = np.random.default_rng(seed)
    row = random.integers(0, 0x3F80, cells).astype(np.int16)
    row[random.random(cells) < 0.3] = -1
    row[random.random(cells) < 0.3] = 0
    row[random.integers(cells)] = 0x3C00
    noise = np.where(random.random(cells) < 0.5, 0, random.random(cells)).astype(np.float32)
    mixed = np.float32(1 - share) * priors_of(row) + np.float32(share) * noise
    mixed[row < 0] = -1
    cell, prior = best_with_noise(row, noise, np.float32(share))
    assert (cell, prior) == (int(mixed.argmax()), mixed.max())


class _Stream:
    """The random numbers of a tree, as the kernels draw them."""

    def __init__(self, key: int, alpha: float) -> None:
        self._key, self._alpha, self._index = stream_key(key) & 0xFFFFFFFF, float(np.float32(alpha)), 0

    def noise(self, position: Position) -> NDArray[np.float32]:
        row = np.empty(position.rules.cells, dtype=np.float32)
        self._index = write_dirichlet(
            legal_moves_of(position), row, self._alpha, self._key, self._index, make_scratch(position.rules.cells)
        )
        return row


@settings(max_examples=30)
@given(
    size=st.integers(3, 6),
    stones=st.integers(0, 8),
    seed=st.integers(0, 1000),
    simulations=st.integers(1, 60),
    alpha=st.sampled_from([0.03, 0.3]),
    share=st.sampled_from([0.25, 0.5, 1.0]),
    first_play=st.sampled_from(FirstPlay),
    proofs=st.booleans(),
)
def test_a_search_with_noise_at_every_node_is_the_naive_twins(
    size: int, stones: int, seed: int, simulations: int, alpha: float, share: float, first_play: FirstPlay, proofs: bool
) -> None:
    """The twin gets the noise of each selection from the same stream, and looks at every legal move."""
    rules = Rules(size, min(size, 4))
    position = start_position(rules, min(stones, rules.cells - 4), seed)
    options = SearchSettings(
        simulations=simulations, first_play=first_play, leaves_in_flight=1, proven_nodes=proofs, value_decay=0.9
    )
    search = searched(position, options, begin={"noise": NodeNoise(alpha, share), "key": seed})
    twin = naive_twin(position, options, noise=_Stream(seed, alpha).noise, noise_share=share)
    assert visits_of(search) == twin.visits()
    assert_sound(search)


def certain(stones: NDArray[np.int8], to_move: int) -> tuple[NDArray[np.float32], float]:
    """Answer with priors of nearly nothing for all moves but one."""
    return np.linspace(0, -20 * len(stones), len(stones), dtype=np.float32), 0.0


def visited_moves(noise: NodeNoise | None) -> int:
    rules, begin = Rules(9, 5), {"noise": noise, "key": 3}
    options = SearchSettings(simulations=300, proven_nodes=False)
    return len(visits_of(searched(Position(rules), options, ScriptedEvaluator(rules, certain), begin=begin)))


def test_moves_without_a_prior_are_visited_with_noise_only() -> None:
    assert visited_moves(None) == 1
    assert visited_moves(NodeNoise(0.1, 0.0)) == 1
    assert visited_moves(NodeNoise(0.1, 0.25)) > 10


def test_noise_ends_with_its_search() -> None:
    """The next search of the same tree has none, and the priors are as the evaluator gave them."""
    begin = {"noise": NodeNoise(0.1, 0.25)}
    with_noise, without = (
        searched(Position(SMALL), SearchSettings(simulations=1), begin=each, capacity=500) for each in (begin, None)
    )
    for search in (with_noise, without):
        search.begin(0, 60)
        finish(search)
    assert with_noise.visits(0).tolist() == without.visits(0).tolist()
    assert with_noise.priors(0).tolist() == without.priors(0).tolist()


@pytest.mark.parametrize("batches", [1, 3])
@pytest.mark.parametrize("local", [0.0, 0.5])
def test_draws_depend_on_the_trees_own_key_alone(batches: int, local: float) -> None:
    """Games repeat to the bit for any number of threads, lanes and trees, and with a cache."""
    options = SearchSettings(
        simulations=120, leaves_in_flight=12, batches_in_flight=batches, visits_per_leaf=3, local_playouts=local
    )
    positions = [start_position(SMALL, tree % 7, tree) for tree in range(12)]

    def found(which: list[int], lanes: int = 1, threads: int = 1, cache: bool = False) -> list[tuple[object, ...]]:
        evaluator = ScriptedEvaluator(SMALL)
        evaluator.lanes = lanes
        known = EvaluationCache(SMALL.cells, 4) if cache else None
        search = ForestSearch(SMALL, evaluator, options, trees=len(which), threads=threads, cache=known)
        for tree, number in enumerate(which):
            search.set_root(tree, positions[number])
            search.begin(tree, 120, noise=NodeNoise(0.06, 0.25), key=number)
        finish(search, len(which))
        assert not any(nodes_of(search, tree)["in_flight"].any() for tree in range(len(which)))
        return [statistics(search, tree) for tree in range(len(which))]

    alone = found(list(range(12)))
    assert found(list(range(12)), lanes=5) == alone
    assert found(list(range(12)), lanes=2, threads=3, cache=True) == alone
    assert found([5, 2]) == [alone[5], alone[2]]
    assert found([5]) == [alone[5]]


def test_other_keys_search_otherwise() -> None:
    options, noise = SearchSettings(simulations=100), NodeNoise(0.1, 0.25)
    begins = ({"noise": noise, "key": key} for key in (1, 1, 2))
    visits = [visits_of(searched(Position(SMALL), options, begin=begin)) for begin in begins]
    assert visits[0] == visits[1] != visits[2]
