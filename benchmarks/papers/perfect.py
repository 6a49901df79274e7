"""Paper Y on 3x3: games of a model against perfect play, `python -m benchmarks.papers.perfect runs/y-3x3`.

The perfect player solves every position of three in a row on 3x3 by brute force, and chooses at random among the moves
that keep the result. After the games, every line of play: all moves of the opponent, at each turn, against the move of
the model. Exits with 4 if the model loses a game or a line.
"""

import argparse
import functools
import json
import random
import sys
from collections.abc import Sequence

from benchmarks.papers.models import trained_player
from core.position import Position
from core.rules import BLACK, WHITE, Cell, Colour, Rules
from curriculum.arena.tournament import play_match
from curriculum.reporting import Context
from gomoku_cli.exit_codes import ExitCode
from search.players import FunctionPlayer, Player

RULES = Rules(3, 3)


def result_of(moves: Sequence[int]) -> int:
    """Return the result of perfect play after some moves, for the side to move: 1, 0 or -1."""
    # In any order the moves of a side lead to the same position.
    return _solved(tuple(sorted(moves[::2])), tuple(sorted(moves[1::2])))


@functools.cache
def _solved(black: tuple[int, ...], white: tuple[int, ...]) -> int:
    position = Position(RULES)
    for number in range(len(black) + len(white)):
        position.push((black, white)[number % 2][number // 2])
        if position.is_game_over():
            break
    outcome = position.outcome()
    if outcome is not None:
        return 0 if outcome.winner is None else -1
    moves = position.moves
    return max(-result_of((*moves, move)) for move in position.legal_moves())


def perfect_player() -> Player:
    """Return a player of a random one of the moves that keep the best result."""
    draw = random.Random(1)

    def choose(position: Position) -> Cell:
        moves, legal = position.moves, position.legal_moves()
        return draw.choice([move for move in legal if -result_of((*moves, move)) == result_of(moves)])

    return FunctionPlayer("perfect", choose)


def lines_of_play(player: Player, colour: Colour, seed: int) -> list[int]:
    """Return the results, 1, 0 or -1 for a player, of all games against it: the opponent tries every move."""
    results: list[int] = []
    positions = [Position(RULES)]
    while positions:
        for position in positions:
            if (outcome := position.outcome()) is not None:
                results.append(0 if outcome.winner is None else 1 if outcome.winner == colour else -1)
        going = [position for position in positions if not position.is_game_over()]
        own = [position for position in going if position.side_to_move == colour]
        choices = player.choose_batch(own, seeds=[seed] * len(own)) if own else []
        moves = [(position, decision.move) for position, decision in zip(own, choices, strict=True)]
        others = [position for position in going if position.side_to_move != colour]
        moves += [(position, move) for position in others for move in position.legal_moves()]
        positions = [Position.from_moves(RULES, (*position.moves, move)) for position, move in moves]
    return results


def main() -> None:
    """Play and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a run folder or a model file")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=100)
    arguments = parser.parse_args()
    player = trained_player(arguments.model, arguments.simulations, RULES)
    match = play_match(
        player, perfect_player(), rules=RULES, openings=[()], games=arguments.games, seed=42, context=Context()
    )
    lines = {}
    for colour, name in ((BLACK, "as_black"), (WHITE, "as_white")):
        results = lines_of_play(player, colour, seed=42)
        lines[name] = {"wins": results.count(1), "draws": results.count(0), "losses": results.count(-1)}
    print(json.dumps(match.to_json() | {"every_line": lines}))
    lost = match.total.losses + sum(counts["losses"] for counts in lines.values())
    sys.exit(ExitCode.BAR_NOT_MET if lost else 0)


if __name__ == "__main__":
    main()
