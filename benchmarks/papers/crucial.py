"""Paper Y, figures 4 and 7: crucial moves that a net misses alone and finds with playouts.

    python -m benchmarks.papers.crucial runs/8x8 --playouts 0 200 1000

A move is crucial where at most one other does as well, which the prover of the suites proves: it wins by force, or it
is one of those that do not lose by force. The positions are those of random games in which both sides mind fives; all
models of a board get the same ones. `example` is a position that the fewest playouts miss and the most find, for
`gomoku analyze MOVES --player MODEL --simulations K --figure FILE`.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence

from benchmarks.papers.models import first_learnt, right_moves, shares
from benchmarks.suites.prover import Prover
from core.records.openings import format_opening
from core.rules import Cell, Rules
from curriculum.arena.players import resolve_rules
from curriculum.arena.suite import Puzzle
from curriculum.bench.positions import long_games

_LEVEL = 1
"""Quiet moves on a line of a proof, at most."""
_MOST_ANSWERS = 2
_KINDS = ("win", "defence")
_GAMES = 2_000
_PLIES = 12
"""Positions of a game that are tried."""


def crucial_moves(prover: Prover, moves: Sequence[Cell]) -> Puzzle | None:
    """Return the crucial moves after `moves`; None for too many, and where a five can be made or stopped."""
    side = len(moves) % 2
    prover.show(moves)
    if prover.five_cells(0) or prover.five_cells(1):
        return None
    cells = prover.free_cells()
    if prover.win(side, _LEVEL):
        kind, answers = "win", [cell for cell in cells if prover.move_wins(cell, side, _LEVEL)]
    elif prover.win(1 - side, _LEVEL):
        kind, answers = "defence", [cell for cell in cells if not prover.move_loses(cell, side, _LEVEL)]
    else:
        return None
    return Puzzle(kind, tuple(moves), tuple(answers), "") if 0 < len(answers) <= _MOST_ANSWERS else None


def crucial_positions(rules: Rules, count: int) -> Iterator[Puzzle]:
    """Yield positions of random games, `count` of each kind, one of a game at most."""
    prover, draw = Prover(rules.size, rules.connect, budget=20_000), random.Random(1)
    left = dict.fromkeys(_KINDS, count)
    for game in long_games(rules, _GAMES):
        for ply in draw.sample(range(6, len(game.moves)), min(_PLIES, max(0, len(game.moves) - 6))):
            found = crucial_moves(prover, game.moves[:ply])
            if found is not None and left[found.kind]:
                left[found.kind] -= 1
                yield found
                break
        if not any(left.values()):
            return


def main() -> None:
    """Find the positions, let the model play them, and print the shares of right moves as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a run folder or a model file")
    parser.add_argument("--playouts", type=int, nargs="+", default=[0, 200, 1000])
    parser.add_argument("--count", type=int, default=50, help="positions of each kind")
    arguments = parser.parse_args()
    rules = resolve_rules([arguments.model])
    found = list(crucial_positions(rules, arguments.count))
    right = {playouts: right_moves(arguments.model, playouts, found, rules) for playouts in arguments.playouts}
    learnt = first_learnt(found, right[min(right)], right[max(right)])
    example = learnt and {
        "moves": format_opening(learnt.moves, rules.size),
        "answers": format_opening(learnt.answers, rules.size),
    }
    print(json.dumps({"board": rules.size, **shares(_KINDS, found, right), "example": example}))


if __name__ == "__main__":
    main()
