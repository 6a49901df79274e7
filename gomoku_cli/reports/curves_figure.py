"""Figures of training: of `gomoku curves`, runs joined as in paper Y, Fig. 5, and of `gomoku strength`."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gomoku_cli.reports.curves import run_names
from gomoku_cli.reports.panels import Curve, columns, panels, strength_panel
from gomoku_cli.reports.plots import BLUE, GREY, HEIGHT, WIDTH, count_on, drawn
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import phase_starts
from gomoku_cli.reports.training.outlook import phase_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS_A_ROW = 4
_RUN_LINE = "#3b4048"
_STRENGTH_COLOURS = (BLUE, "#e08214", "#2f9e62", "#8250df")


def draw_curves(runs: Sequence[Json], path: Path) -> None:
    """Draw the curves of the runs, joined one after the other, in a panel each. Raises `ValueError` without any."""
    found = panels(list(_joined(runs)))
    if not found:
        raise ValueError("there is nothing to draw: the runs have no metrics yet")
    wide = min(_PANELS_A_ROW, len(found))
    high = math.ceil(len(found) / wide)
    title = textwrap.fill(", then ".join(run_names(runs)), 160)
    with drawn(path, title, width=wide * WIDTH, height=high * HEIGHT + 0.5) as figure:
        places = figure.subplots(high, wide, squeeze=False).ravel()
        for axes, panel in zip(places, found, strict=False):
            right, bottom, top = panel.ends
            axes.set(title=panel.title, xlabel=panel.note, xlim=(0, right), ylim=(bottom, top))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            count_on(axes.xaxis)
            if panel.key == "black_share":
                axes.axhline(0.5, color=GREY, linestyle="--", linewidth=1)
            for curve in panel.curves:
                _draw(axes, curve, BLUE)
            _mark_beginnings(axes, runs, is_in_rounds=panel.counts)
        for axes in places[len(found) :]:
            axes.set_axis_off()


def _joined(runs: Sequence[Json]) -> Iterator[Json]:
    """Yield the curves of each run as if it went on where the one before has ended."""
    steps = rounds = 0
    for run in runs:
        training, measures = (
            [{**row, "step": row["step"] + steps} for row in run[key]] for key in ("training", "measures")
        )
        played = [{**row, "round": row["round"] + rounds} for row in run["rounds"]]
        steps, rounds = _last(training, "step", steps), _last(played, "round", rounds)
        yield {**run, "training": training, "measures": measures, "rounds": played, "strength": []}


def _last(rows: Sequence[Json], place: str, before: int) -> int:
    return int(rows[-1][place]) if rows else before


def _mark_beginnings(axes: "Axes", runs: Sequence[Json], *, is_in_rounds: bool) -> None:
    """Draw a line with a name where each run begins, if there are several, and one where a phase does."""
    begin = 0
    for run, name in zip(runs, run_names(runs), strict=True):
        rows = run["rounds"] if is_in_rounds else run["training"]
        phases = {} if is_in_rounds else phase_starts(rows)
        if len(runs) > 1:
            _mark(axes, begin + 0.5 if begin and is_in_rounds else begin, name, _RUN_LINE, "--")
        elif phases:
            _mark(axes, 0, phase_name(rows[0]["phase"]), GREY, ":")
        for step, phase in phases.items():
            _mark(axes, begin + step, phase_name(phase), GREY, ":")
        begin += _last(rows, "round" if is_in_rounds else "step", 0)


def _mark(axes: "Axes", x: float, name: str, colour: str, line: str) -> None:
    """Draw a line at `x`, and a name upwards along it, from the bottom of the panel, where curves are rare."""
    if x > axes.get_xlim()[1]:
        return
    if x:
        axes.axvline(x, color=colour, linestyle=line, linewidth=1)
    look: dict[str, Any] = {"rotation": 90, "ha": "left", "va": "bottom", "fontsize": 7, "color": colour}
    axes.annotate(name, (x, 0), (2, 3), xycoords=("data", "axes fraction"), textcoords="offset points", **look)


def _draw(axes: "Axes", curve: Curve, colour: str, name: str | None = None) -> None:
    axes.plot(*columns(curve.line), "-", linewidth=1.2, color=colour, label=name)
    for points, fill in ((curve.marks, colour), (curve.empty_marks, "white")):
        axes.plot(*columns(points), "o", markersize=4, color=colour, markerfacecolor=fill)
    for x, low, high in curve.intervals:
        axes.plot((x, x), (low, high), "_-", color=colour, linewidth=1.2)


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
        panel = strength_panel([ratings["models"] for _, ratings in runs])
        for (name, _), curve, colour in zip(runs, panel.curves, cycle(_STRENGTH_COLOURS), strict=False):
            _draw(axes, curve, colour, name)
        axes.legend(loc="center right", bbox_to_anchor=(0.97, 0.3))
