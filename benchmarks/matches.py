"""Matches of a player with itself under other settings: `python -m benchmarks.matches search|mentor ...`.

`search` plays the search of `--model` (the built-in one by default) with the settings WORD ... against the same, or
`--opponent-model`, with those of `--opponent`: `all` tactics, `none`, or settings such as `forced_moves=1
vcf_leaf_nodes=100`. `all c_puct=1.5` is all tactics and another setting. Both play deterministically, by the rules of
`--model`. `--seconds` gives both the same time a move; without it `--simulations` is for both. `mentor` plays the
mentor with `--nodes` against the mentor with `--against` nodes. The result is shown as `gomoku evaluate` shows it; with
`--run` a stopped match goes on.
"""

import argparse
import hashlib
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.measuring import again, exit_code_of, model_file, parser_of
from core.evaluation import Evaluator
from core.position import Position
from core.rules import Rules
from core.setting_bounds import from_json
from curriculum.arena.fixtures import fixtures
from curriculum.arena.folder import MatchFolder
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.tournament import play_tournament
from gomoku_cli.interruption import interruptible
from gomoku_cli.printable import print_result
from gomoku_cli.reports.terminal import show_match
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.limit import Limit
from search.mentor.player import Mentor
from search.players import Player
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings


def settings_of(model: Path) -> SearchSettings:
    """Return the search of a model's training."""
    return from_json(SearchSettings, read_info(model).made.get("search", {}))


def with_words(plain: SearchSettings, words: Sequence[str]) -> SearchSettings:
    """Return the settings that the words name."""
    settings = plain.with_tactics() if "all" in words else plain
    named = dict(word.split("=") for word in words if "=" in word)
    return replace(settings, **{name: type(getattr(plain, name))(float(value)) for name, value in named.items()})


def searcher(net: Evaluator, rules: Rules, settings: SearchSettings, seconds: float | None, name: str) -> MctsPlayer:
    """Return a player of the best moves; its kernels are compiled."""
    player = MctsPlayer(net, rules, settings, policy=Policy.DETERMINISTIC, seconds=seconds, name=name)
    player.choose(Position(rules), seed=0)
    return player


def players_of(arguments: argparse.Namespace, rules: Rules) -> list[Player]:
    """Return both players, for games by `rules`."""
    if arguments.what == "mentor":
        return [Mentor(Limit(nodes=nodes), name=f"{nodes} nodes") for nodes in (arguments.nodes, arguments.against)]
    plain = replace(settings_of(arguments.model), simulations=arguments.simulations, proven_nodes=True)
    own = open_model(arguments.model)
    other = open_model(arguments.opponent_model) if arguments.opponent_model else own
    sides = ((own, arguments.words or ["all"], "player"), (other, arguments.opponent, "opponent"))
    return [
        searcher(evaluator, rules, with_words(plain.without_tactics(), words), arguments.seconds, name)
        for evaluator, words, name in sides
    ]


def main() -> None:
    """Play a match from balanced openings and print its result."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("search", "mentor"))
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--opponent", nargs="*", default=["none"], metavar="WORD")
    parser.add_argument("--model", type=model_file, default=DEFAULT_MODEL)
    parser.add_argument("--opponent-model", type=model_file)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--against", type=int, default=2_000)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=Path, metavar="DIR", help="folder that keeps the games")
    arguments = parser.parse_args()
    plan = {name: str(value) for name, value in vars(arguments).items() if name not in ("games", "run", "json")}
    models = (path for path in (arguments.model, arguments.opponent_model) if path)
    plan["hashes"] = " ".join(hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in models)
    rules = read_info(arguments.model).rules
    games = fixtures(2, arguments.games, openings=load_openings("balanced", rules), seed=arguments.seed)
    resume = again() if arguments.run else None
    with interruptible(resume=resume) as context, ExitStack() as stack:
        players = players_of(arguments, rules)
        kept = None
        if arguments.run:
            names = [player.name for player in players]
            kept = stack.enter_context(MatchFolder(arguments.run, plan, games, rules=rules, names=names))
        width = 2 if arguments.seconds else None  # timed searches run one after the other, for any number of games
        tournament = play_tournament(players, games, rules=rules, context=context, folder=kept, side_by_side=width)
        result = tournament.matches[0, 1].to_json()
        print_result(result, lambda: show_match(result), as_json=arguments.json)


if __name__ == "__main__":
    sys.exit(exit_code_of(main))
