"""Self-play's speed beside the most that the net alone could judge, in one run.

    python -m benchmarks.selfplay_throughput [--model PLAYER] [--games 64] [--simulations 400] [--seconds 20]

Prints the forward ceiling (positions a second at the best batch), self-play's simulations and net evaluations a second,
and the ratio of evaluations to the ceiling; medians of several slices of time. The games are a mix of openings, middle
games and endings, as self-play makes them.
"""

import argparse
import itertools
import statistics
import time
from dataclasses import replace

import numpy as np

from core.batch import PositionBatch
from core.rules import Rules
from core.streams import generator
from curriculum.arena import load_openings
from curriculum.config import Config
from curriculum.player_specs import model_path
from curriculum.selfplay import PlayedGame, SelfPlay
from curriculum.teaching import random_opening
from nets.checkpoint import load_model
from nets.config import NetConfig
from nets.dual import make_model
from nets.evaluator import NetEvaluator

_BATCHES = (64, 128, 256, 512, 1024)
_SLICES = 5


def ceiling(evaluator: NetEvaluator, rules: Rules, seconds: float) -> tuple[float, int]:
    """The most positions a second that the evaluator judges, and the batch at which it does; medians of slices."""
    random = generator(1)
    openings = [random_opening(rules, (2, 40), random) for _ in range(max(_BATCHES))]
    positions = PositionBatch.from_positions(openings, rules)
    rates = {}
    for batch in _BATCHES:
        chunk = positions.rows(slice(batch))
        evaluator.judge(chunk)
        slices = []
        for _ in range(_SLICES):
            start, judged = time.perf_counter(), 0
            while time.perf_counter() - start < seconds / _SLICES / len(_BATCHES):
                evaluator.judge(chunk)
                judged += batch
            slices.append(judged / (time.perf_counter() - start))
        rates[batch] = statistics.median(slices)
    best = max(rates, key=lambda batch: rates[batch])
    return rates[best], best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model file or run folder; by default random weights of paper A's nets")
    parser.add_argument("--games", type=int, default=64, help="games side by side")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()

    if options.model and (path := model_path(options.model)):
        model = load_model(path)[0]
    else:
        model = make_model(NetConfig(), Rules(), 1)
    base = Config(rules=model.rules, net=model.config)
    config = replace(
        base,
        search=replace(base.search, simulations=options.simulations),
        selfplay=replace(base.selfplay, concurrent_games=options.games),
    )
    evaluator = NetEvaluator(model)
    best, batch = ceiling(evaluator, config.rules, options.seconds / 2)
    player = SelfPlay(config, evaluator, iteration=0, balanced=load_openings("balanced", config.rules))
    marks = [(time.perf_counter(), 0, 0)]
    end = marks[0][0] + options.seconds
    lengths: list[int] = []

    def stop() -> bool:
        now = time.perf_counter()
        if now - marks[-1][0] >= options.seconds / _SLICES:
            marks.append((now, player.simulations_done, player.evaluations))
        return now >= end

    def finished(game: PlayedGame) -> None:
        lengths.append(len(game.record.moves))

    player.play(range(1_000_000), finished, stop)
    evaluator.close()
    rows = list(itertools.pairwise(marks))
    simulations = statistics.median((b[1] - a[1]) / (b[0] - a[0]) for a, b in rows)
    evaluations = statistics.median((b[2] - a[2]) / (b[0] - a[0]) for a, b in rows)
    print(f"ceiling                {best:10,.0f} positions/s at batch {batch}")
    print(f"self-play evaluations  {evaluations:10,.0f} positions/s, {evaluations / best:.2f} of the ceiling")
    print(f"self-play simulations  {simulations:10,.0f} /s with {options.games} games side by side")
    if lengths:
        print(f"games finished         {len(lengths):10,} with {np.mean(lengths):.1f} moves on average")


if __name__ == "__main__":
    main()
