"""Speed of self-play with the settings of a preset: `python -m benchmarks.selfplay --preset strongest --model default`.

`gomoku bench` measures the search with the default settings; this program also counts the tactics of the tree search,
whose cost differs from tree to tree. It prints simulations and moves a second.

Other settings take turns with the preset's own, `--rounds` times each; the figures are medians:

    python -m benchmarks.selfplay "" search.transpositions=true --rounds 5
"""

import argparse
import statistics
from typing import Any

from curriculum.arena.players import model_path
from curriculum.bench.positions import long_games
from curriculum.bench.selfplay import measure_selfplay
from curriculum.presets import resolve, with_assignments
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
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("settings", nargs="*", default=[""], metavar="KEY=VALUE ...", help="settings in one argument")
    arguments = parser.parse_args()
    preset = resolve(arguments.preset)
    configs = {
        settings: with_assignments(preset, settings.split(), ("search", "selfplay"), settings)
        for settings in arguments.settings
    }
    path = model_path(arguments.model)
    if path is None:
        parser.error(f"{arguments.model} has no model file")
    evaluator = NetEvaluator(load_model(path)[0])
    games = long_games(preset.rules, _GAMES)
    found: dict[str, list[dict[str, Any]]] = {settings: [] for settings in configs}
    for _ in range(arguments.rounds):
        for settings, config in configs.items():
            found[settings].append(measure_selfplay(config, evaluator, games, arguments.seconds, Conduct()).figures())
    evaluator.close()
    for settings, figures in found.items():
        simulations, moves = (
            statistics.median(each[f"{name}_per_second"] for each in figures) for name in ("simulations", "moves")
        )
        print(f"{simulations:,.0f} simulations/s, {moves:.1f} moves/s {settings}".rstrip())


if __name__ == "__main__":
    main()
