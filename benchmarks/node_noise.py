"""Speed of noise at every node against the usual selection, without a net: `python -m benchmarks.node_noise`.

Positions have random stones, with `--empty` cells left, and evaluations are drawn at random. Columns, medians of rounds
in which the kinds take turns, by the processor time of the thread, so that other processes count less:

- simulations a second of searches without noise and with it, and the ratio of the two; with noise the trees are wider
  and less deep;
- microseconds of a selection, without noise and with it, at the same nodes: those of the trees searched with noise,
  drawn by their visits;
- microseconds of one draw of the noise alone.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from core.compiled import stones_of
from core.position import Position
from core.rules import Rules
from curriculum.bench.search import FreeEvaluator
from search.tree.forest import OPEN, Forest
from search.tree.kernels import SearchParams, select, select_with_noise
from search.tree.mcts import ForestSearch, NodeNoise, kernel_params, search_all
from search.tree.noise import write_dirichlet
from search.tree.settings import SearchSettings
from search.tree.softmax import Scratch, make_scratch

_TREES = 256
_ROUND_S = 0.2
_CALLS = 5_000


def random_positions(rules: Rules, empty: int) -> list[Position]:
    """Return positions of random stones that are not over."""
    random = np.random.default_rng(0)
    found: list[Position] = []
    while len(found) < _TREES:
        position = Position(rules)
        for cell in random.permutation(rules.cells)[: rules.cells - empty]:
            position.push(int(cell))
            if position.is_game_over():
                break
        else:
            found.append(position)
    return found


class Searches:
    """Endless searches of many trees."""

    def __init__(self, positions: list[Position], simulations: int, noise: NodeNoise | None) -> None:
        self._positions, self._simulations, self._noise = positions, simulations, noise
        self.settings = SearchSettings(simulations=simulations)
        self.search = ForestSearch(positions[0].rules, FreeEvaluator(), self.settings, trees=len(positions), threads=1)
        search_all(self.search, positions, simulations)
        for tree in range(len(positions)):
            self._begin(tree)
        self.run(len(positions) * simulations)

    def _begin(self, tree: int) -> None:
        self.search.set_root(tree, self._positions[tree])
        self.search.begin(tree, self._simulations, noise=self._noise, key=tree)

    def run(self, simulations: int) -> None:
        """Make at least so many simulations."""
        last = self.search.simulations + simulations
        while self.search.simulations < last:
            for tree in self.search.advance():
                self._begin(tree)

    def rate(self) -> float:
        """Return simulations a second."""
        before, start = self.search.simulations, time.thread_time()
        while (spent := time.thread_time() - start) < _ROUND_S:
            self.run(1_000)
        return (self.search.simulations - before) / spent


@njit(nogil=True)
def _select_all(forest: Forest, places: NDArray[np.int64], params: SearchParams, noisy: bool, scratch: Scratch) -> int:
    total = 0
    for index in range(places.shape[0]):
        tree, node = places[index]
        if noisy:
            total += select_with_noise(forest, tree, node, forest.root_stones[tree], params, scratch)[1]
        else:
            total += select(forest, tree, node, params)[1]
    return total


@njit(nogil=True)
def _draw_all(stones: NDArray[np.int8], noise: NDArray[np.float32], alpha: float, count: int, scratch: Scratch) -> None:
    index = 0
    for _ in range(count):
        index = write_dirichlet(stones, noise, alpha, 1, index, scratch)


def places_by_visits(forest: Forest) -> NDArray[np.int64]:
    """Return `_CALLS` open nodes [_CALLS, 2], as (tree, node), each as likely as its selections are many."""
    used = np.arange(forest.capacity) < forest.trees["nodes"][:, None]
    is_open = used & (forest.nodes["state"] == OPEN) & (forest.nodes["proof"] == 0)
    weights = np.where(is_open, np.maximum(forest.nodes["visits"] - 1, 0), 0).ravel()
    chosen = np.random.default_rng(0).choice(len(weights), _CALLS, p=weights / weights.sum())
    return np.stack(np.divmod(chosen, forest.capacity), axis=1).astype(np.int64)


def microseconds(work: Callable[[], object]) -> float:
    """Return the processor time of one of the `_CALLS` calls that `work` makes."""
    start = time.thread_time()
    work()
    return 1e6 * (time.thread_time() - start) / _CALLS


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of a concentration."""

    usual: float
    noisy: float
    ratio: float
    selection: float
    noisy_selection: float
    draw: float


def measured(positions: list[Position], usual: Searches, alpha: float, share: float, rounds: int) -> Row:
    """Return the figures of a concentration."""
    noisy = Searches(positions, usual.settings.simulations, NodeNoise(alpha, share))
    rates = [(usual.rate(), noisy.rate()) for _ in range(rounds)]
    forest, params = noisy.search.forest, kernel_params(usual.settings)
    cells = positions[0].rules.cells
    places, noise, scratch = places_by_visits(forest), np.empty(cells, dtype=np.float32), make_scratch(cells)
    works: list[Callable[[], object]] = [
        lambda: _select_all(forest, places, params, False, scratch),
        lambda: _select_all(forest, places, params, True, scratch),
        lambda: _draw_all(stones_of(positions[0]), noise, alpha, _CALLS, scratch),
    ]
    for work in works:
        work()
    times = [[microseconds(work) for work in works] for _ in range(rounds)]
    plain, with_noise = zip(*rates, strict=True)
    ratio = statistics.median(b / a for a, b in rates)
    columns = [statistics.median(column) for column in zip(*times, strict=True)]
    return Row(statistics.median(plain), statistics.median(with_noise), ratio, *columns)


def main() -> None:
    """Print a row for each concentration."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--empty", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--alpha", type=float, nargs="*", default=[0.03, 0.06, 0.12, 0.3])
    parser.add_argument("--share", type=float, default=0.25)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    positions = random_positions(Rules(options.size, min(5, options.size)), options.empty)
    usual = Searches(positions, options.simulations, None)
    print(f"{options.empty} legal moves on {options.size}x{options.size}, {options.simulations} simulations")
    print("alpha  simulations/s  with noise  ratio  us a selection  with noise  us a draw")
    for alpha in options.alpha:
        row = measured(positions, usual, alpha, options.share, options.rounds)
        print(
            f"{alpha:5g} {row.usual:14,.0f} {row.noisy:11,.0f} {row.ratio:6.2f}"
            f" {row.selection:15.2f} {row.noisy_selection:11.2f} {row.draw:10.2f}"
        )


if __name__ == "__main__":
    main()
