"""Paper S, table V: seconds per move of each variant and of pure MCTS, one game at a time.

    python -m benchmarks.papers.move_times --runs runs/times

The nets are not trained: the time of a move does not depend on the weights, but for the positions that are reached.
Each variant plays the same opponent with the paper's 200 playouts; the ratio is that of the paper, ours over pure MCTS.
"""

import argparse
from pathlib import Path

from benchmarks.papers.commands import played, table, train
from benchmarks.papers.variants import VARIANTS

_PAPER = {
    "s-basic": (1.70, 1.41),
    "s-3rb": (1.20, 1.51),
    "s-4rb": (1.30, 1.50),
    "s-pcr": (1.67, 1.37),
    "s-gp": (1.66, 1.51),
    "s-2rb-gp": (2.01, 1.55),
    "s-4rb-gp": (1.52, 1.35),
    "s-pcr-gp": (1.81, 1.37),
}
"""Seconds per move of the variant and of pure MCTS in table V, whose opponents had different numbers of playouts."""


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the untrained models and the matches")
    parser.add_argument("--presets", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="PRESET")
    parser.add_argument("--games", type=int, default=20)
    arguments = parser.parse_args()
    rows = []
    for preset in arguments.presets:
        folder = arguments.runs / preset
        train(preset, folder, ("selfplay.iterations=0", "evaluation.final_games=0"))
        options = ("--simulations", "200", "--concurrency", "1", "--openings", "empty", "--seed", "42")
        match = played(folder, "times", "pure-mcts:1000", arguments.games, *options)
        ours, pure = match["mean_move_seconds"]
        paper = _PAPER.get(preset)
        cells = ["", "", ""] if paper is None else [f"{paper[0]:.2f}", f"{paper[1]:.2f}", f"{paper[0] / paper[1]:.2f}"]
        rows.append([preset, *cells, f"{ours:.4f}", f"{pure:.4f}", f"{ours / pure:.2f}"])
    print(table(["preset", "paper: ours", "pure MCTS", "ratio", "here: ours", "pure MCTS", "ratio"], rows))


if __name__ == "__main__":
    main()
