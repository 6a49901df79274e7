"""Figures of training: of `gomoku curves`, paper Y, Fig. 5, with games and gates below, and of `gomoku strength`."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gomoku_cli.reports.curves import run_name
from gomoku_cli.reports.plots import BLUE, GREY, HEIGHT, WIDTH, count_on, drawn, legend_above
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import LOSSES
from gomoku_cli.reports.training.outlook import phase_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TITLES = {"policy_loss": "Policy loss", "value_loss": "Value loss", "policy_entropy": "Entropy of the policy"}
_ROUNDS = {
    "game_length": ("Length of a game", "moves"),
    "black_share": ("Black's share of the decided games", ""),
    "game_seconds": ("Self-play time of a game", "seconds"),
}
"""Title and unit of each curve over the rounds of self-play."""
_RUN_LINE = "#3b4048"
_ALONE = 3
"""A curve of no more points than this has a mark at each."""
_STRENGTH_COLOURS = (BLUE, "#e08214", "#2f9e62", "#8250df")


def draw_curves(runs: Sequence[Json], path: Path) -> None:
    """Draw the curves of the runs, joined one after the other; runs without rounds of self-play have the upper row."""
    has_rounds = any(run["rounds"] for run in runs)
    title = textwrap.fill(", then ".join(map(run_name, runs)), 160)
    height = HEIGHT + 0.5
    with drawn(path, title, width=3 * WIDTH, height=(2 if has_rounds else 1) * height) as figure:
        parts = figure.subfigures(2 if has_rounds else 1, 1, squeeze=False)[:, 0]
        for axes, key in zip(parts[0].subplots(1, 3), LOSSES, strict=True):
            _training(axes, runs, key)
        if has_rounds:
            has_gates = any(row["accepted"] is not None for run in runs for row in run["rounds"])
            panels = parts[1].subplots(1, len(_ROUNDS) + has_gates)
            for axes, (key, (name, unit)) in zip(panels, _ROUNDS.items(), strict=False):
                _rounds(axes, runs, key, name, unit)
            if has_gates:
                _gates(panels[-1], runs)


def _joined(runs: Sequence[Json], key: str, place: str) -> Iterator[tuple[Json, int, list[Any]]]:
    """Yield each run with the place at which it begins and its rows, whose `place` counts from the run's begin."""
    begin = 0
    for run in runs:
        yield run, begin, run[key]
        begin += run[key][-1][place] if run[key] else 0


def _training(axes: "Axes", runs: Sequence[Json], key: str) -> None:
    axes.set(title=_TITLES[key], xlabel="training steps")
    phases = {row["phase"] for run in runs for row in run["training"]}
    for run, begin, rows in _joined(runs, "training", "step"):
        _mark(axes, run, begin, runs)
        for number, phase in enumerate(dict.fromkeys(row["phase"] for row in rows)):
            part = [row for row in rows if row["phase"] == phase]
            if number or (len(phases) > 1 and len(runs) == 1):
                first = begin + rows[rows.index(part[0]) - 1]["step"] if number else begin
                if first:
                    axes.axvline(first, color=GREY, linestyle=":", linewidth=0.9)
                _name(axes, phase_name(phase), first, GREY)
            _line(axes, [begin + row["step"] for row in part], [row[key] for row in part])
    _from_zero(axes)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    count_on(axes.xaxis)


def _line(axes: "Axes", places: Sequence[float], values: Sequence[float | None]) -> None:
    """Draw a curve with gaps where a value is unknown."""
    known = [math.nan if value is None else value for value in values]
    axes.plot(places, known, "o-" if len(known) <= _ALONE else "-", markersize=3, linewidth=1.2, color=BLUE)


def _mark(axes: "Axes", run: Json, begin: float, runs: Sequence[Json]) -> None:
    """Draw the line at which a run begins, and its name; nothing for a single run."""
    if len(runs) == 1:
        return
    if begin:
        axes.axvline(begin, color=_RUN_LINE, linestyle="--", linewidth=1)
    _name(axes, run_name(run), begin, _RUN_LINE)


def _name(axes: "Axes", name: str, x: float, colour: str) -> None:
    """Write a name upwards along a line at `x`, from the bottom of the panel, where curves are rare."""
    axes.annotate(
        name,
        (x, 0),
        (2, 3),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        rotation=90,
        ha="left",
        va="bottom",
        fontsize=7,
        color=colour,
    )


def _from_zero(axes: "Axes") -> None:
    """Let a panel begin at 0, with room above its curve."""
    highest = axes.dataLim.ymax  # infinite without a curve
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1.08 * highest if 0 < highest < math.inf else 1)


def _rounds(axes: "Axes", runs: Sequence[Json], key: str, title: str, unit: str) -> None:
    """Draw a curve over the rounds of self-play; one without a unit is a share."""
    axes.set(title=title, xlabel="round of self-play", ylabel=unit)
    for run, begin, rows in _joined(runs, "rounds", "round"):
        if rows:
            _mark(axes, run, begin + 0.5 if begin else 0, runs)
            _line(axes, [begin + row["round"] for row in rows], [row[key] for row in rows])
    _from_zero(axes)
    count_on(axes.xaxis)
    if not unit:
        axes.axhline(0.5, color=GREY, linestyle="--", linewidth=1)
        axes.set_ylim(0, 1)


def _gates(axes: "Axes", runs: Sequence[Json]) -> None:
    axes.set(title="Gate: score of the candidate", xlabel="round of self-play")
    for accepted, name, fill in ((True, "accepted", BLUE), (False, "rejected", "white")):
        rows = [
            (begin + row["round"], row["gate_score"])
            for _, begin, rows in _joined(runs, "rounds", "round")
            for row in rows
            if row["accepted"] is accepted and row["gate_score"] is not None
        ]
        places, scores = [place for place, _ in rows], [score for _, score in rows]
        edge = BLUE if accepted else GREY
        axes.plot(places, scores, "o", markersize=4.5, markerfacecolor=fill, markeredgecolor=edge, label=name)
    for run, begin, _ in _joined(runs, "rounds", "round"):
        _mark(axes, run, begin + 0.5 if begin else 0, runs)
    axes.set_xlim(left=0)
    axes.set_ylim(0, 1)
    count_on(axes.xaxis)
    legend_above(axes)


def draw_strength(runs: Sequence[tuple[str, Json]], path: Path) -> None:
    """Draw the ratings of each run, given with its name, over its minutes of work, and the pool as lines."""
    first = runs[0][1]
    title = f"Strength by training time, {first['simulations']} simulations a move"
    with drawn(path, title, width=1.9 * WIDTH, height=4.2) as figure:
        axes = figure.add_subplot()
        axes.set(xlabel="minutes of work", ylabel=f"Elo, {first['zero']} is 0")
        for player in first["pool"]:
            axes.axhline(player["elo"], color=GREY, linewidth=0.8, linestyle=":")
            at = (1, player["elo"])
            axes.annotate(player["player"], at, xycoords=("axes fraction", "data"), fontsize=8, color=GREY, va="center")
        for (name, ratings), colour in zip(runs, cycle(_STRENGTH_COLOURS), strict=False):
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
        axes.legend(loc="center right", bbox_to_anchor=(0.97, 0.3))
