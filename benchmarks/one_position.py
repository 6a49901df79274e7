"""Speed and dilution of one position's search by its leaves in flight: `python -m benchmarks.one_position 96,3,6`.

Each argument is a setting: `search.leaves_in_flight`, `search.batches_in_flight` and `search.visits_per_leaf`. The
searches start from balanced openings, or some moves of the model later, where fours abound. Dilution compares the most
visited move of a search with one leaf in flight: the points of all visits that it loses, and their mean size.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from core.position import Position
from core.rules import Rules
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.players import PlayerSettings, open_player
from curriculum.bench.machine import machine
from curriculum.config import Config
from nets.checkpoint import BUILT_IN
from nets.runtimes.loading import open_model
from search.tree.mcts import ForestSearch
from search.tree.settings import SearchSettings

_SIMULATIONS_BEFORE = 100
"""Simulations of the moves from an opening to a position."""
_DEFAULTS = ("8,1,12", "32,1,12", "64,3,12", "64,3,6", "96,3,6", "128,3,6", "96,3,3")


def settings_of(text: str) -> SearchSettings:
    """Return the settings of an argument. Raises `ValueError`."""
    leaves, batches, visits = map(int, text.split(","))
    return replace(Config().search, leaves_in_flight=leaves, batches_in_flight=batches, visits_per_leaf=visits)


def searched(search: ForestSearch, position: Position, simulations: int) -> tuple[NDArray[np.int32], float]:
    """Return the visits [A] of a search and its simulations a second."""
    search.set_root(0, position)
    search.begin(0, simulations)
    before, started = search.simulations, time.perf_counter()
    while not search.advance():
        pass
    return search.visits(0), max(1, search.simulations - before) / (time.perf_counter() - started)


def start_positions(model: Path, rules: Rules, count: int, plies: int) -> list[Position]:
    """Return positions some `plies` of a model after openings, of games that are not over."""
    player = open_player(str(model), PlayerSettings(simulations=_SIMULATIONS_BEFORE), rules=rules)
    positions = []
    for seed, opening in enumerate(load_openings("balanced", rules)):
        position = Position.from_moves(rules, opening)
        for _ in range(plies):
            if not position.is_game_over():
                position.push(player.choose(position, seed=seed).move)
        if not position.is_game_over():
            positions.append(position)
        if len(positions) == count:
            break
    return positions


def rows(model: Path, texts: Sequence[str], simulations: int, count: int, plies: int, tactics: bool) -> Iterator[str]:
    """Yield a line a setting."""
    rules = Rules()
    positions = start_positions(model, rules, count, plies)
    evaluator = open_model(model)

    def search_of(settings: SearchSettings) -> ForestSearch:
        settings = replace(settings.with_tactics(), transpositions=True) if tactics else settings
        search = ForestSearch(rules, evaluator, settings, trees=1, capacity=2 * simulations + 1)
        searched(search, positions[0], min(simulations, 1_000))  # a runtime prepares each size at its first use
        return search

    one = search_of(settings_of("1,1,1"))
    alone = [searched(one, position, simulations)[0] for position in positions]
    for text in texts:
        search = search_of(settings_of(text))
        lost, rates, same = [], [], 0
        for position, visits in zip(positions, alone, strict=True):
            found, rate = searched(search, position, simulations)
            top = int(visits.argmax())
            lost.append(100 * float(visits[top] / visits.sum() - found[top] / found.sum()))
            rates.append(rate)
            same += int(found.argmax()) == top
        yield (
            f"{text:>10} {statistics.median(rates):10,.0f} {1000 * simulations / statistics.median(rates):8.1f}"
            f" {statistics.mean(lost):8.2f} {statistics.mean(map(abs, lost)):6.2f} {same:6} of {count}"
        )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", default=_DEFAULTS, metavar="LEAVES,BATCHES,VISITS")
    parser.add_argument(
        "--model", type=Path, default=BUILT_IN["paper"], help="a model file; default: the built-in paper"
    )
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--positions", type=int, default=40)
    parser.add_argument("--plies", type=int, default=0, help="moves of the model from an opening to a position")
    parser.add_argument("--tactics", action="store_true", help="search as models play")
    arguments = parser.parse_args()
    print(f"{machine()['processor']}; {arguments.simulations:,} simulations", file=sys.stderr)
    print(f"{'setting':>10} {'sims/s':>10} {'ms':>8} {'lost':>8} {'size':>6} {'same top move':>13}")
    texts, simulations, count = arguments.settings, arguments.simulations, arguments.positions
    for row in rows(arguments.model, texts, simulations, count, arguments.plies, arguments.tactics):
        print(row, flush=True)


if __name__ == "__main__":
    main()
