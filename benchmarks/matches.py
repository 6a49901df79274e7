"""Matches of a player with itself under other settings: `python -m benchmarks.matches search|mentor|threads ...`.

`search` plays the search of `--model` (the built-in one by default) with the settings WORD ... against the same, or
`--opponent-model`, with those of `--opponent`: `all` tactics, `none`, or settings such as `forced_moves=1
vcf_leaf_nodes=100`. `all c_puct=1.5` is all tactics and another setting. Both play deterministically. `--seconds` gives
both the same time a move; without it `--simulations` is for both. `mentor` plays the mentor with `--nodes` against the
mentor with `--against` nodes. `threads` plays the mentor on all cores against one thread, one game at a time; each move
ends after the same `--nodes` of the first thread, which is equal time where each thread has a core.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.measuring import parser_of, show
from core.cores import cores
from core.position import Position
from core.rules import Rules
from curriculum.arena.fixtures import fixtures
from curriculum.arena.opening_sets import load_openings
from curriculum.arena.tournament import play_tournament
from curriculum.reporting import Conduct
from nets.checkpoint import DEFAULT_MODEL, read_info
from nets.runtimes.loading import open_model
from search.limits import Limit
from search.mentor.deepening import SLICE
from search.mentor.player import Mentor
from search.players import Decision, Player, decide_each, never
from search.tree.player import MctsPlayer
from search.tree.settings import Policy, SearchSettings

RULES = Rules()


def with_words(plain: SearchSettings, words: Sequence[str]) -> SearchSettings:
    """Return the settings that the words name."""
    settings = plain.with_tactics() if "all" in words else plain
    named = dict(word.split("=") for word in words if "=" in word)
    return replace(settings, **{name: type(getattr(plain, name))(float(value)) for name, value in named.items()})


def searches(arguments: argparse.Namespace) -> tuple[Player, Player]:
    """Return the players of `search`; their kernels are compiled."""
    plain = SearchSettings.from_mapping(read_info(arguments.model).made.get("search", {}))
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


class _Counted(Player):
    """The mentor with a number of nodes of its first thread a move, searched as by the clock."""

    def __init__(self, nodes: int, threads: int) -> None:
        self.name = f"{threads} threads"
        self._checks = max(nodes // SLICE, 1)
        self._mentor = Mentor(Limit(seconds=math.inf), variety=0, threads=threads)

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        return decide_each(self._choose, positions, seeds)

    def _choose(self, position: Position, seed: int) -> Decision:
        checks = iter(range(self._checks))
        return self._mentor.choose(position, seed=seed, stop=lambda: next(checks, None) is None)


def main() -> None:
    """Play a match from balanced openings and print its result."""
    parser = parser_of(__doc__)
    parser.add_argument("what", choices=("search", "mentor", "threads"))
    parser.add_argument("words", nargs="*", metavar="WORD")
    parser.add_argument("--opponent", nargs="*", default=["none"], metavar="WORD")
    parser.add_argument("--model", type=Path, default=DEFAULT_MODEL)
    parser.add_argument("--opponent-model", type=Path)
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
    elif arguments.what == "threads":
        players = _Counted(arguments.nodes, cores()), _Counted(arguments.nodes, 1)
    else:
        sides = (arguments.nodes, arguments.against)
        one, two = (Mentor(Limit(nodes=nodes), name=f"{nodes} nodes") for nodes in sides)
        players = one, two
    schedule = fixtures(2, arguments.games, openings=load_openings("balanced", RULES), seed=arguments.seed)
    alone = {"side_by_side": 1} if arguments.what == "threads" else {}
    match = play_tournament(players, schedule, rules=RULES, conduct=Conduct(), **alone).matches[0, 1]
    total, elo = match.total, match.estimate
    show(
        [
            {
                "player": players[0].name,
                "opponent": players[1].name,
                "wins": total.wins,
                "draws": total.draws,
                "losses": total.losses,
                "score": total.score,
                "elo": elo.elo,
                "from": elo.low,
                "to": elo.high,
            }
        ],
        arguments.json,
    )


if __name__ == "__main__":
    main()
