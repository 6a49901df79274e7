"""Paper A's ablations: `python -m benchmarks.papers.ablations --runs runs/a --scale 0.1`.

Trains the full system and the same without double nets, winning-value decay, curriculum or virtual loss, and without
the first three (`plain`), all at one budget, and prints two tables: each against the full system and against the
paper's mentor, from balanced openings, without tactics; and the self-play of each, first and last round. The same
command continues after a stop.
"""

import argparse
from pathlib import Path
from typing import Any

from benchmarks.papers.commands import played, table, train, training_seconds
from curriculum.run.folder import read_metrics
from gomoku_cli.reports import texts

FULL = "alphagomoku"
_WITHOUT_CURRICULUM = (f"{FULL}-no-curriculum", f"{FULL}-plain")
ABLATIONS = (f"{FULL}-one-net", f"{FULL}-no-decay", *_WITHOUT_CURRICULUM, f"{FULL}-no-virtual-loss")
_MENTOR = "mentor:paper"


def result(match: dict[str, Any]) -> list[str]:
    """Return the cells of a match: wins, draws and losses, and the Elo difference with its interval."""
    return [texts.result_counts(match), f"{texts.elo_text(match, '∞')} ({texts.elo_interval(match, '∞')})"]


def selfplay(folder: Path) -> list[str]:
    """Return the cells of a run's self-play: each of its first and of its last round.

    A round has several records, and its short games end first, so all of them count.
    """
    parts = [
        record | {"game_seconds": record["seconds"] / max(1, record["games"])}
        for record in read_metrics(folder)
        if record["event"] == "games" and record["phase"] == "selfplay"
    ]
    ends = [[part for part in parts if part["iteration"] == end["iteration"]] for end in (parts[0], parts[-1])]
    formats = {"game_length": ".0f", "game_seconds": ".2f", "black_share": ".0%", "white_value": "+.2f"}
    return [" → ".join(f"{_mean(end, key):{form}}" for end in ends) for key, form in formats.items()]


def _mean(parts: list[dict[str, Any]], key: str) -> float:
    """Return the mean of a round's records, weighted by their games."""
    known = [part for part in parts if part[key] is not None]
    return float(sum(part[key] * part["games"] for part in known) / max(1, sum(part["games"] for part in known)))


def main() -> None:
    """Train, measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--scale", default="0.1", help="share of the paper's budget")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of all trainings")
    parser.add_argument("--rounds-without-curriculum", metavar="N", help="so many that all take the same time")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--simulations", type=int, default=400)
    arguments = parser.parse_args()
    rows, games_rows = [], []
    for preset in (FULL, *ABLATIONS):
        folder = arguments.runs / preset
        settings = list(arguments.set)
        if preset in _WITHOUT_CURRICULUM and arguments.rounds_without_curriculum:
            settings.append(f"selfplay.iterations={arguments.rounds_without_curriculum}")
        train(preset, folder, settings, "--scale", arguments.scale)
        against = ["-", "-"]
        games, options = arguments.games, ("--simulations", str(arguments.simulations), "--seed", "42")
        if preset != FULL:
            against = result(played(folder, "against-full", str(arguments.runs / FULL), games, *options))
        against += result(played(folder, "against-mentor", _MENTOR, games, *options))
        rows.append([preset, *against, f"{training_seconds(folder) / 60:.0f}"])
        games_rows.append([preset, *selfplay(folder)])
    print(table(["preset", "against the full system", "Elo", f"against {_MENTOR}", "Elo", "minutes of training"], rows))
    columns = ["preset", "plies of a game", "seconds of a game", "Black's share of wins", "White's value"]
    print(f"\n{table(columns, games_rows)}")


if __name__ == "__main__":
    main()
