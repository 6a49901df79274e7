"""Speed of self-play with the settings of a preset: `python -m benchmarks.selfplay --preset strongest --model default`.

`gomoku bench` measures the search with the default settings; this program also counts the tactics of the tree search,
whose cost differs from tree to tree. It prints simulations and moves a second.
"""

import argparse

from curriculum.arena.players import model_path
from curriculum.bench.positions import long_games
from curriculum.bench.selfplay import measure_selfplay
from curriculum.presets import resolve
from curriculum.reporting import Conduct
from nets.checkpoint import load_model
from nets.runtimes.net_evaluator import NetEvaluator

_GAMES = 48
"""Games whose first moves are the openings."""


def main() -> None:
    """Play for some seconds and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="strongest")
    parser.add_argument("--model", default="default")
    parser.add_argument("--seconds", type=float, default=12.0)
    arguments = parser.parse_args()
    config = resolve(arguments.preset)
    path = model_path(arguments.model)
    if path is None:
        parser.error(f"{arguments.model} has no model file")
    evaluator = NetEvaluator(load_model(path)[0])
    games = long_games(config.rules, _GAMES)
    figures = measure_selfplay(config, evaluator, games, arguments.seconds, Conduct()).figures()
    evaluator.close()
    print(f"{figures['simulations_per_second']:,.0f} simulations/s, {figures['moves_per_second']:.0f} moves/s")


if __name__ == "__main__":
    main()
