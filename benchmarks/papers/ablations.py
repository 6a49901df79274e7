"""Paper A's ablations: `python -m benchmarks.papers.ablations --runs runs/a --scale 0.1`.

Trains the full system and the same without double nets, winning-value decay, curriculum or virtual loss, all at one
budget, and prints one table: each against the full system and against the paper's mentor, from balanced openings,
without tactics. The same command continues after a stop.
"""

import argparse
from pathlib import Path

from benchmarks.papers.commands import measured, table, train, training_seconds

FULL = "alphagomoku"
ABLATIONS = tuple(f"{FULL}-{name}" for name in ("one-net", "no-decay", "no-curriculum", "no-virtual-loss"))
_MENTOR = "mentor:paper"


def result(folder: Path, against: str, name: str, games: int, simulations: int) -> list[str]:
    """Return the cells of a match: wins, draws and losses, and the Elo difference with its interval."""
    match = measured(
        folder / f"{name}.json",
        *("evaluate", str(folder), "--against", against, "--games", str(games), "--simulations", str(simulations)),
        *("--no-tactics", "--seed", "42", "--run", str(folder / name)),
    )
    counts = f"{match['wins']}-{match['draws']}-{match['losses']}"
    if match["elo"] is None:
        return [counts, "-"]
    low, high = (f"{end:+.0f}" if end is not None else "?" for end in match["elo_interval"])
    return [counts, f"{match['elo']:+.0f} ({low} to {high})"]


def main() -> None:
    """Train, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--scale", default="0.1", help="share of the paper's budget")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of all trainings")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=400)
    arguments = parser.parse_args()
    settings = [word for text in arguments.set for word in ("--set", text)]
    rows = []
    for preset in (FULL, *ABLATIONS):
        folder = arguments.runs / preset
        train(preset, folder, ("--scale", arguments.scale, *settings))
        games, simulations = arguments.games, arguments.simulations
        against_full = ["-", "-"]
        if preset != FULL:
            against_full = result(folder, str(arguments.runs / FULL), "against-full", games, simulations)
        against_mentor = result(folder, _MENTOR, "against-mentor", games, simulations)
        rows.append([preset, *against_full, *against_mentor, f"{training_seconds(folder) / 60:.0f}"])
    print(table(["preset", "against the full system", "Elo", f"against {_MENTOR}", "Elo", "minutes of training"], rows))


if __name__ == "__main__":
    main()
