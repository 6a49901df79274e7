"""Paper Y on 6x6, four in a row: the win of the first player, proven, and a model that has to play it.

    python -m benchmarks.papers.solved                  # the first moves that are proven to win
    python -m benchmarks.papers.solved runs/6x6-second  # the model as the first player, too

The prover of the suites answers each first move by every reply. The plies are those of the longest line of its proof: a
shorter win may exist. Against the model every reply to its first move begins a game, in which the other side always
chooses the reply that is proven to lose last. Exits with 4 if a game is not won.
"""

import argparse
import json
import sys

from benchmarks.papers.models import trained_player
from benchmarks.suites.prover import Prover
from core.compiled.symmetry import targets
from core.notation import cell_name
from core.position import Position
from core.rules import BLACK, WHITE, Cell, Rules
from gomoku_cli.exit_codes import ExitCode
from search.players import Player

RULES = Rules(6, 4)
MAX_LEVEL = 4
"""Quiet moves on a line of a proof, at most; each number is tried after the one before."""


def plies_after(prover: Prover, moves: tuple[Cell, ...]) -> int:
    """Return the plies of a proven win of black, who is to move after `moves`; 0 if none is proven."""
    prover.show(moves)
    return next((plies for level in range(2, MAX_LEVEL + 1) if (plies := prover.win(0, level))), 0)


def first_moves(prover: Prover) -> dict[Cell, int]:
    """Return the plies of the longest line after each first move, one of each symmetry; 0 if no win is proven."""
    found = {}
    for first in sorted(set(targets(RULES.size).min(axis=0).tolist())):
        replies = [cell for cell in range(RULES.cells) if cell != first]
        plies = [plies_after(prover, (first, reply)) for reply in replies]
        found[first] = max(plies) + 2 if all(plies) else 0
    return found


def play_out(prover: Prover, player: Player, position: Position) -> Position:
    """Return the end of a game in which the player has black, and white puts off its loss as long as it can."""
    position = position.copy()
    while not position.is_game_over():
        if position.side_to_move == WHITE:
            plies = {move: _after(prover, position, move) for move in position.legal_moves()}
            unproven = [move for move, count in plies.items() if not count]
            position.push(unproven[0] if unproven else max(plies, key=lambda move: plies[move]))
        else:
            position.push(player.choose_batch([position], seeds=[position.ply])[0].move)
    return position


def _after(prover: Prover, position: Position, move: Cell) -> int:
    after = Position.from_moves(RULES, (*position.moves, move))
    return 0 if after.is_game_over() else plies_after(prover, tuple(after.moves))


def main() -> None:
    """Prove, play and print the result as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", help="a run folder or a model file")
    parser.add_argument("--simulations", type=int, default=400)
    arguments = parser.parse_args()
    prover = Prover(RULES.size, RULES.connect, budget=20_000_000)
    proofs = {cell_name(first, RULES.size): plies for first, plies in first_moves(prover).items()}
    result: dict[str, object] = {"longest_line_of_first_move": proofs}
    lost = 0
    if arguments.model:
        player = trained_player(arguments.model, arguments.simulations, RULES)
        first = player.choose_batch([Position(RULES)], seeds=[0])[0].move
        starts = [Position.from_moves(RULES, (first, reply)) for reply in range(RULES.cells) if reply != first]
        ends = [play_out(prover, player, start) for start in starts]
        won = sum(outcome is not None and outcome.winner == BLACK for outcome in (end.outcome() for end in ends))
        lost = len(ends) - won
        result |= {"first_move": cell_name(first, RULES.size), "games": len(ends), "won": won}
        result["longest_game"] = max(end.ply for end in ends)
    print(json.dumps(result))
    sys.exit(ExitCode.BAR_NOT_MET if lost else 0)


if __name__ == "__main__":
    main()
