"""Speed of what `gomoku bench` does not measure: `python -m benchmarks.speed selfplay|position|training`.

`selfplay` plays with a preset's settings, tactics included; each SETTING (`KEY=VALUE ...` in one argument, "" for the
preset's own) takes its turn in each round, in the other order every second time. `position` searches one position with
settings LEAVES,BATCHES,VISITS (`search.leaves_in_flight`, `search.batches_in_flight`, `search.visits_per_leaf`). `lost`
and `size` compare the most visited move of a search with one leaf in flight: the points of all visits that it loses,
and their mean size. `training` trains new nets of a preset alone and beside busy loops.
"""

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.campaigns.load import busy_loops
from benchmarks.measuring import model_file, parser_of, show
from core.position import Position
from core.rules import Rules
from curriculum.arena.opening_sets import BALANCED, load_openings
from curriculum.arena.players import PlayerSettings, open_player
from curriculum.bench.positions import long_games
from curriculum.bench.selfplay import measure_selfplay
from curriculum.config import Config
from curriculum.games import basics
from curriculum.presets import resolve, with_assignments
from curriculum.reporting import Context
from curriculum.training.trainer import Trainer
from nets.checkpoint import load_model
from nets.runtimes.loading import open_model
from nets.runtimes.net_evaluator import NetEvaluator
from search.tree.mcts import ForestSearch

Rows = Iterator[dict[str, Any]]
_SETTINGS = ("8,1,12", "32,1,12", "64,3,12", "64,3,6", "96,3,6", "128,3,6", "96,3,3")
_STEPS, _POSITIONS = 20, 20_000
_GAMES_OF_PRESETS = 48


def selfplay(arguments: argparse.Namespace, model: Path) -> Rows:
    """Yield the rates of self-play with each setting."""
    preset = resolve(arguments.preset)
    evaluator = NetEvaluator(load_model(model)[0])
    games, texts = long_games(preset.rules, _GAMES_OF_PRESETS), arguments.settings or [""]
    found: dict[str, list[dict[str, Any]]] = {text: [] for text in texts}
    for number in range(arguments.rounds):
        for text in texts[:: -1 if number % 2 else 1]:
            config = with_assignments(preset, text.split(), ("search", "selfplay"), text)
            found[text].append(measure_selfplay(config, evaluator, games, arguments.seconds, Context()).figures())
    for text, figures in found.items():
        yield {
            "simulations/s": statistics.median(each["simulations_per_second"] for each in figures),
            "moves/s": statistics.median(each["moves_per_second"] for each in figures),
            "settings": text or "the preset's own",
        }


def start_positions(model: Path, rules: Rules, count: int, plies: int) -> list[Position]:
    """Return positions some `plies` of a model after openings, of games that are not over."""
    player, positions = open_player(str(model), PlayerSettings(simulations=100), rules=rules), []
    for seed, opening in enumerate(load_openings(BALANCED, rules)):
        position = Position.from_moves(rules, opening)
        while position.ply < len(opening) + plies and not position.is_game_over():
            position.push(player.choose(position, seed=seed).move)
        if not position.is_game_over():
            positions.append(position)
        if len(positions) == count:
            break
    return positions


def position(arguments: argparse.Namespace, model: Path) -> Rows:
    """Yield speed and dilution of one position's search with each setting."""
    rules, simulations = Rules(), arguments.simulations
    positions, evaluator = start_positions(model, rules, arguments.positions, arguments.plies), open_model(model)

    def search_of(text: str) -> ForestSearch:
        leaves, batches, visits = map(int, text.split(","))
        base = Config().search
        if arguments.tactics:
            base = replace(base.with_tactics(), transpositions=True)
        settings = replace(base, leaves_in_flight=leaves, batches_in_flight=batches, visits_per_leaf=visits)
        search = ForestSearch(rules, evaluator, settings, trees=1, capacity=2 * simulations + 1)
        run(search, positions[0], min(simulations, 1_000))  # a runtime prepares each size at its first use
        return search

    def run(search: ForestSearch, root: Position, count: int) -> float:
        search.set_root(0, root)
        search.begin(0, count)
        before, start = search.simulations, time.perf_counter()
        while not search.advance():
            pass
        return max(1, search.simulations - before) / (time.perf_counter() - start)

    one, alone = search_of("1,1,1"), []
    for root in positions:
        run(one, root, simulations)
        alone.append(one.visits(0))
    for text in arguments.settings or _SETTINGS:
        search = search_of(text)
        lost, rates, same = [], [], 0
        for root, visits in zip(positions, alone, strict=True):
            rates.append(run(search, root, simulations))
            found, top = search.visits(0), int(visits.argmax())
            lost.append(100 * float(visits[top] / visits.sum() - found[top] / found.sum()))
            same += int(found.argmax()) == top
        rate = statistics.median(rates)
        yield {
            "setting": text,
            "simulations/s": rate,
            "ms": 1000 * simulations / rate,
            "lost": statistics.mean(lost),
            "size": statistics.mean(map(abs, lost)),
            "same top move": f"{same} of {len(positions)}",
        }


def training(arguments: argparse.Namespace, model: Path) -> Rows:
    """Yield optimiser steps a second, alone and beside busy loops."""
    config = resolve(arguments.preset)
    kinds, stones = config.basics.kinds, config.basics.noise_stones
    samples = basics.draw(config.rules, kinds, _POSITIONS, stones, config.seed, Context())
    trainer = Trainer(config)
    source = trainer.batches(basics.with_colours_swapped(config.rules, samples), config.seed)
    for busy in (0, 1):
        seconds = []
        with busy_loops(busy, 0.0):
            for first in range(0, _STEPS * arguments.rounds, _STEPS):
                start = time.perf_counter()
                trainer.train(source, first, first + _STEPS, np.full(_STEPS, 1e-4))
                seconds.append(time.perf_counter() - start)
        yield {"busy loops": busy, "steps/s": _STEPS / statistics.median(seconds)}


_KINDS = {
    "selfplay": (selfplay, "strongest", "default"),
    "position": (position, "", "paper"),
    "training": (training, "hour", "default"),
}
"""Measurements by name, each with the preset and the model by default."""


def main() -> None:
    """Measure and print a row for each setting."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=_KINDS)
    parser.add_argument("settings", nargs="*", metavar="SETTING")
    parser.add_argument("--preset")
    parser.add_argument("--model", type=model_file, help="a model file, a run folder, default or paper")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=12.0, help="of a round")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--positions", type=int, default=40)
    parser.add_argument("--plies", type=int, default=0, help="moves of the model from an opening to a position")
    parser.add_argument("--tactics", action="store_true", help="search one position as models play")
    arguments = parser.parse_args()
    measure, preset, model = _KINDS[arguments.what]
    arguments.preset = arguments.preset or preset
    show(measure(arguments, arguments.model or model_file(model)), arguments.json)


if __name__ == "__main__":
    main()
