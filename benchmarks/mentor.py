"""Our mentor against the paper's: `python -m benchmarks.mentor OPENINGS [--games N]`."""

import argparse
import time
from collections import Counter
from pathlib import Path

from core.openings import read_openings
from core.position import Position
from core.rules import BLACK, WHITE, Rules
from core.streams import stream_key
from search.mentor import Mentor
from search.paper_mentor import PaperMentor
from search.players import Player


def main() -> None:
    """Plays each opening with both colours and prints the score, time a move and nodes a second of each player."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("openings", type=Path, help="opening file, one opening a line")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--size", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    rules = Rules(size=arguments.size)
    openings = read_openings(arguments.openings, rules)
    mentor: Player = Mentor()
    paper: Player = PaperMentor()
    for player in (mentor, paper):  # compiles the kernels
        player.choose([Position.from_moves(rules, openings[0])], seeds=[0])

    results: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    moves: Counter[str] = Counter()
    nodes: Counter[str] = Counter()
    games = set()
    for game in range(arguments.games):
        position = Position.from_moves(rules, openings[game // 2 % len(openings)])
        seats = {BLACK: mentor, WHITE: paper} if game % 2 == 0 else {BLACK: paper, WHITE: mentor}
        while not position.is_game_over():
            player = seats[position.side_to_move]
            started = time.thread_time()  # other work on the machine must not count
            decision = player.choose([position], seeds=[stream_key(arguments.seed, game, position.ply)])[0]
            elapsed = time.thread_time() - started
            seconds[player.name] += elapsed  # type: ignore[assignment]
            slowest[player.name] = max(elapsed, slowest.get(player.name, 0.0))
            moves[player.name] += 1
            nodes[player.name] += decision.simulations
            position.push(decision.move)
        games.add(tuple(position.moves))
        outcome = position.outcome()
        winner = outcome.winner if outcome else None
        colour = "black" if game % 2 == 0 else "white"
        results[f"{colour} {'drawn' if winner is None else 'won' if seats[winner] is mentor else 'lost'}"] += 1

    won, drawn = (sum(results[f"{colour} {how}"] for colour in ("black", "white")) for how in ("won", "drawn"))
    print(f"{mentor.name} against {paper.name}: {(won + drawn / 2) / arguments.games:.1%} of {arguments.games} games")
    print("  " + ", ".join(f"{how}: {count}" for how, count in sorted(results.items())) + f"; distinct: {len(games)}")
    for name in (mentor.name, paper.name):
        print(
            f"  {name}: {1000 * seconds[name] / moves[name]:.2f} ms of processor time a move "
            f"(slowest {1000 * slowest[name]:.1f}), {nodes[name] / moves[name]:.0f} nodes a move, "
            f"{nodes[name] / seconds[name]:,.0f} nodes a second"
        )


if __name__ == "__main__":
    main()
