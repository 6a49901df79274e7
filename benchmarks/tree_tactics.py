"""Gain of tactics in the tree search: `python -m benchmarks.tree_tactics suite|speed|match [SETTING=VALUE …]`.

The player has the search of `--model` (the built-in one by default) with these tactics: `all`, `none`, or settings such
as `forced_moves=1 vcf_leaf_nodes=100`. Other settings of the search may follow: `all c_puct=1.5` against `all`. The
opponent of a match is `--opponent-model`, by default the same model, with the tactics of `--opponent`, by default none.
Both play deterministically from balanced openings. `--seconds` gives both the same time a move; without it
`--simulations` and `--against` set the simulations of each.

    python -m benchmarks.tree_tactics match all --seconds 0.2 --games 200
"""

import argparse
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path

from core.evaluation import Evaluator
from core.position import Position
from core.rules import Rules
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.suite import load_suite, score_player
from curriculum.arena.tournament import play_match
from curriculum.reporting import Conduct
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings

RULES = Rules()


def main() -> None:
    """Measure one of the three and print it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("suite", "speed", "match"))
    parser.add_argument("tactics", nargs="*", default=["all"], help="all, none, or settings as NAME=VALUE")
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--opponent", nargs="*", default=["none"], help="the opponent's tactics, likewise")
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--opponent-model", type=Path, help="the same as --model by default")
    parser.add_argument("--against", type=int, help="simulations of the opponent; as many by default")
    parser.add_argument("--seconds", type=float, help="time a move of both players of a match, for any simulations")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    evaluator = open_model(arguments.model)
    plain = SearchSettings.from_mapping(read_info(arguments.model).made.get("search", {}))
    plain = replace(plain, simulations=arguments.simulations, proven_nodes=True).without_tactics()
    seeing = with_tactics(plain, arguments.tactics)
    if arguments.what == "suite":
        found = score_player(player(evaluator, seeing, "suite"), load_suite("tactics"), conduct=Conduct())
        figures = found.to_json()
    elif arguments.what == "speed":
        figures = {name: speed(evaluator, search) for name, search in (("plain", plain), ("seeing", seeing))}
    else:
        other = with_tactics(plain, arguments.opponent)
        other = replace(other, simulations=arguments.against or arguments.simulations)
        opponent = open_model(arguments.opponent_model) if arguments.opponent_model else evaluator
        seconds = arguments.seconds
        players = player(evaluator, seeing, "player", seconds), player(opponent, other, "opponent", seconds)
        for who in players:  # compiles the kernels before the match
            who.choose_batch([Position(RULES)], seeds=[0])
        result = play_match(
            *players,
            rules=RULES,
            openings=load_openings("balanced", RULES),
            games=arguments.games,
            seed=arguments.seed,
            conduct=Conduct(),
        )
        found_elo = result.estimate
        figures = {**result.to_json(), "elo": [found_elo.low, found_elo.elo, found_elo.high]}
    print(
        json.dumps(
            {
                "tactics": arguments.tactics,
                "simulations": arguments.simulations,
                "seconds_a_move": arguments.seconds,
                **figures,
            }
        )
    )


def with_tactics(plain: SearchSettings, words: list[str]) -> SearchSettings:
    """Return the settings that the words name."""
    settings = plain.with_tactics() if "all" in words else plain
    named = dict(word.split("=") for word in words if "=" in word)
    return replace(settings, **{name: type(getattr(plain, name))(float(value)) for name, value in named.items()})


def player(evaluator: Evaluator, search: SearchSettings, name: str, seconds: float | None = None) -> MctsPlayer:
    """Return a player that always takes the best move."""
    return MctsPlayer(evaluator, RULES, search, policy=Policy.DETERMINISTIC, seconds=seconds, name=name)


def speed(evaluator: Evaluator, search: SearchSettings) -> dict[str, float]:
    """Return the times of searches of quiet positions: one by one, 64 side by side, and of a simulation."""
    search = replace(search, vcf_root_nodes=0)  # no proof at the root may end a search
    openings = load_openings("balanced", RULES)
    positions = [Position.from_moves(RULES, openings[index % len(openings)]) for index in range(64)]
    who = player(evaluator, search, "speed")
    alone, together, spent = [], [], 0
    who.choose_batch(positions[:1], seeds=[0])
    for position in positions[:15]:
        start = time.perf_counter()
        who.choose_batch([position], seeds=[0])
        alone.append(time.perf_counter() - start)
    for _ in range(3):
        start = time.perf_counter()
        spent = sum(decision.simulations for decision in who.choose_batch(positions, seeds=[0] * len(positions)))
        together.append(time.perf_counter() - start)
    return {
        "alone_ms": 1000 * statistics.median(alone),
        "together_ms": 1000 * statistics.median(together),
        "simulation_us": 1e6 * statistics.median(together) / spent,
    }


if __name__ == "__main__":
    main()
