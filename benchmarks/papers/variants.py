"""Paper S, table IV in small: `python -m benchmarks.papers.variants --runs runs/s --figure table-4.png`.

Trains every variant of paper S at one budget (`--scale`, `--set`), lets each climb the same ladder against pure MCTS,
and prints one table. The same command continues after a stop. A ladder ends at the first rung with 7 wins or fewer of
10; beyond the paper, each variant plays a longer match at two fixed numbers of playouts, since ten games decide little.
"""

import argparse
from pathlib import Path
from typing import Any

from benchmarks.papers.commands import measured, played, table, train, training_seconds
from gomoku_cli.reports import texts

VARIANTS = {
    "s-basic": "1,100",
    "s-1rb": "1,800",
    "s-2rb": "1,300",
    "s-3rb": "1,300",
    "s-4rb": "1,200",
    "s-pcr": "2,000",
    "s-pcr-katago": "",
    "s-gp": "3,200",
    "s-gp-be": "",
    "s-2rb-1garb": "300",
    "s-3rb-2garb": "200",
    "s-1rb-gp": "3,000",
    "s-2rb-gp": "1,000",
    "s-4rb-gp": "1,000",
    "s-pcr-gp": "1,300",
}
"""The presets, and the highest rung of each in the paper; none where it gives no figure."""


def settings_of(preset: str, settings: list[str]) -> list[str]:
    """Return the settings of one preset: those of all (`KEY=VALUE`), and its own (`PRESET:KEY=VALUE`)."""
    own = [text.removeprefix(f"{preset}:") for text in settings if text.startswith(f"{preset}:")]
    return [text for text in settings if text.split(":", 1)[0] not in VARIANTS] + own


def row_of(preset: str, folder: Path, fixed: list[int], games: int, seed: str) -> tuple[list[str], dict[str, Any]]:
    """Return the row of a trained variant, and its ladder."""
    options = ("--openings", "empty", "--seed", seed)
    ladder = measured(
        folder / "ladder.json",
        *("ladder", str(folder), "--from", "200", "--step", "100", "--games", "10", "--stop-at", "7"),
        *("--to", "4000", "--no-tactics", "--run", str(folder / "ladder"), *options),
    )
    matches = [played(folder, f"pure-mcts-{each}", f"pure-mcts:{each}", games, *options) for each in fixed]
    passed = "none" if ladder["passed"] is None else f"{ladder['passed']:,}"
    results = [f"{texts.result_counts(match)} ({texts.score_interval(match)})" for match in matches]
    return [preset, VARIANTS[preset] or "-", passed, *results, f"{training_seconds(folder) / 60:.0f}"], ladder


def draw(ladders: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw the wins of each variant over the playouts of its opponent."""
    from gomoku_cli.reports.plots import drawn

    with drawn(path, "Paper S, table IV in small: wins of 10 against pure MCTS", width=7.5, height=4.5) as figure:
        axes = figure.add_subplot()
        for number, (preset, ladder) in enumerate(ladders.items()):
            rungs = ladder["rungs"]
            style = "o-" if number < 10 else "s--"  # a plot has ten colours, which repeat then
            playouts, wins = [r["playouts"] for r in rungs], [r["wins"] for r in rungs]
            axes.plot(playouts, wins, style, markersize=4, linewidth=1, label=preset)
        axes.set(xlabel="playouts of pure MCTS", ylabel="wins of 10")
        axes.legend(fontsize=7, ncols=2)


def main() -> None:
    """Train, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--presets", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="PRESET")
    parser.add_argument("--scale", default="1", help="share of the paper's budget")
    parser.add_argument("--set", action="append", default=[], metavar="[PRESET:]KEY=VALUE", help="of all, or of one")
    parser.add_argument("--games", type=int, default=100, help="games of the matches at fixed playouts")
    parser.add_argument("--playouts", type=int, nargs="*", default=[1_000, 2_000], help="of pure MCTS in these matches")
    parser.add_argument("--seed", default="42")
    parser.add_argument("--figure", type=Path)
    arguments = parser.parse_args()
    rows, ladders = [], {}
    for preset in arguments.presets:
        folder = arguments.runs / preset
        train(preset, folder, settings_of(preset, arguments.set), "--scale", arguments.scale, "--seed", arguments.seed)
        row, ladders[preset] = row_of(preset, folder, arguments.playouts, arguments.games, arguments.seed)
        rows.append(row)
    fixed = [f"{playouts:,} playouts, {arguments.games} games" for playouts in arguments.playouts]
    print(table(["preset", "highest rung, paper", "here", *fixed, "minutes of training"], rows))
    if arguments.figure is not None:
        draw(ladders, arguments.figure)


if __name__ == "__main__":
    main()
