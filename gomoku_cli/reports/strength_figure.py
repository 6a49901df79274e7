"""The figure of strength over the time of training."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from gomoku_cli.reports.plots import BLUE, GREY, WIDTH, drawn, label
from gomoku_cli.reports.texts import Json

_COLOURS = (BLUE, "#e08214", "#2f9e62", "#8250df")


def draw_strength(runs: Sequence[tuple[str, Json]], path: Path) -> None:
    """Draw the ratings of each run, given with its name, over its minutes of work, and the pool as lines."""
    first = runs[0][1]
    title = f"Strength by training time, {first['simulations']} simulations a move"
    with drawn(path, title, width=1.9 * WIDTH, height=4.2) as figure:
        axes = figure.add_subplot()
        label(axes, "", "minutes of work", f"Elo, {first['zero']} is 0")
        for player in first["pool"]:
            axes.axhline(player["elo"], color=GREY, linewidth=0.8, linestyle=":")
            at = (1, player["elo"])
            axes.annotate(player["player"], at, xycoords=("axes fraction", "data"), fontsize=8, color=GREY, va="center")
        for (name, ratings), colour in zip(runs, cycle(_COLOURS), strict=False):
            models = ratings["models"]
            elo = [model["elo"] for model in models]
            ends = [model["elo_interval"] for model in models]
            reach = [
                [at - low for at, (low, _) in zip(elo, ends, strict=True)],
                [high - at for at, (_, high) in zip(elo, ends, strict=True)],
            ]
            minutes = [model["minutes"] for model in models]
            axes.errorbar(
                minutes, elo, reach, fmt="o-", markersize=4, linewidth=1.2, capsize=2, color=colour, label=name
            )
        axes.legend(loc="center right", bbox_to_anchor=(0.97, 0.3), frameon=False, fontsize=8)
