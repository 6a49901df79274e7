"""Cost of repeatable evaluation in self-play: `python -m benchmarks.repeatable`.

Self-play with a repeatable evaluator and with one that joins rows of several submissions play in turn, a slice each, in
one process. Each slice starts new games from balanced openings. Prints simulations a second of both and the ratio of
neighbouring slices.
"""

import argparse
import statistics
import time
from dataclasses import replace

from curriculum.arena.opening_sets import BALANCED, load_openings
from curriculum.config import Config
from curriculum.games.selfplay_games import SelfPlay
from curriculum.presets import resolve
from nets.checkpoint import BUILT_IN, load_model
from nets.dual import DualNet
from nets.runtimes.net_evaluator import NetEvaluator


def self_play(config: Config, model: DualNet, *, repeatable: bool) -> SelfPlay:
    """Return self-play of `model` from balanced openings."""
    openings = load_openings(BALANCED, config.rules, for_training=True)
    return SelfPlay(config, NetEvaluator(model, repeatable=repeatable), iteration=0, balanced=openings)


def rate(player: SelfPlay, seconds: float) -> float:
    """Return the simulations a second of a slice."""
    before = player.progress
    player.play(range(100_000), lambda game: None, lambda: time.perf_counter() - before.seconds > seconds)
    after = player.progress
    return (after.simulations - before.simulations) / (after.seconds - before.seconds)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slices", type=int, default=20, help="slices of each (default: 20)")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a slice (default: 3)")
    options = parser.parse_args()
    config = resolve("quick")
    # Without the cache every leaf goes to the evaluator.
    config = replace(config, selfplay=replace(config.selfplay, balanced_share=1.0, random_share=0.0, cache_megabytes=0))
    model, _ = load_model(BUILT_IN["paper"])
    players = {repeatable: self_play(config, model, repeatable=repeatable) for repeatable in (True, False)}
    rates: dict[bool, list[float]] = {True: [], False: []}
    for player in players.values():
        rate(player, options.seconds)
    for number in range(options.slices):
        for repeatable in (True, False) if number % 2 else (False, True):
            rates[repeatable].append(rate(players[repeatable], options.seconds))
    ratios = [with_it / without for with_it, without in zip(rates[True], rates[False], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"repeatable {statistics.median(rates[True]):,.0f} simulations/s", end=", ")
    print(f"not repeatable {statistics.median(rates[False]):,.0f} simulations/s")
    print(f"ratio {middle:.3f} (quartiles {low:.3f} to {high:.3f}, {options.slices} pairs of slices)")


if __name__ == "__main__":
    main()
