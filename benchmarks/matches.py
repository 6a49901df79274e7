"""Matches of a player with itself under other settings: `python -m benchmarks.matches search|mentor ...`.

`search` plays the search of `--model` (the built-in one by default) with the settings WORD ... against the same, or
`--opponent-model`, with those of `--opponent`: `all` tactics, `none`, or settings such as `forced_moves=1
vcf_leaf_nodes=100`. `all c_puct=1.5` is all tactics and another setting. Both play deterministically. `--seconds` gives
both the same time a move; without it `--simulations` is for both. `mentor` plays the mentor with `--nodes` against the
mentor with `--against` nodes.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measuring import parser_of, show
from core.errors import UserError
from core.position import Position
from core.rules import Rules
from core.setting_bounds import from_json
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.players import model_path
from curriculum.arena.tournament import play_match
from curriculum.reporting import Context
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.limit import Limit
from search.mentor.player import Mentor
from search.players import Player
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings

RULES = Rules()


def model(spec: str) -> Path:
    """Return the file of a model that an option names. Raises `ArgumentTypeError`."""
    try:
        path = model_path(spec, RULES) or Path(spec)
        read_info(path)
    except (UserError, OSError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return path


def with_words(plain: SearchSettings, words: Sequence[str]) -> SearchSettings:
    """Return the settings that the words name."""
    settings = plain.with_tactics() if "all" in words else plain
    named = dict(word.split("=") for word in words if "=" in word)
    return replace(settings, **{name: type(getattr(plain, name))(float(value)) for name, value in named.items()})


def searches(arguments: argparse.Namespace) -> tuple[Player, Player]:
    """Return the players of `search`; their kernels are compiled."""
    plain = from_json(SearchSettings, read_info(arguments.model).made.get("search", {}))
    plain = replace(plain, simulations=arguments.simulations, proven_nodes=True).without_tactics()
    own = open_model(arguments.model)
    other = open_model(arguments.opponent_model) if arguments.opponent_model else own
    sides = ((own, arguments.words or ["all"], "player"), (other, arguments.opponent, "opponent"))
    one, two = (
        MctsPlayer(
            evaluator,
            RULES,
            with_words(plain, words),
            policy=Policy.DETERMINISTIC,
            seconds=arguments.seconds,
            name=name,
        )
        for evaluator, words, name in sides
    )
    for player in (one, two):
        player.choose(Position(RULES), seed=0)
    return one, two


def main() -> None:
    """Play a match from balanced openings and print its result."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("search", "mentor"))
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--opponent", nargs="*", default=["none"], metavar="WORD")
    parser.add_argument("--model", type=model, default=DEFAULT_MODEL)
    parser.add_argument("--opponent-model", type=model)
    parser.add_argument("--simulations", type=int, default=400)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--against", type=int, default=2_000)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    players: tuple[Player, Player]
    if arguments.what == "search":
        players = searches(arguments)
    else:
        sides = (arguments.nodes, arguments.against)
        one, two = (Mentor(Limit(nodes=nodes), name=f"{nodes} nodes") for nodes in sides)
        players = one, two
    match = play_match(
        *players,
        rules=RULES,
        openings=load_openings("balanced", RULES),
        games=arguments.games,
        seed=arguments.seed,
        context=Context(),
    )
    total, elo = match.total, match.estimate
    names = {"player": players[0].name, "opponent": players[1].name}
    counts = {"wins": total.wins, "draws": total.draws, "losses": total.losses, "score": total.score}
    show([names | counts | {"elo": elo.elo, "from": elo.low, "to": elo.high}], arguments.json)


if __name__ == "__main__":
    main()
