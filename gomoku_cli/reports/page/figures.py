"""Curves of runs as SVG inside a page, whose style sheet gives their colours in light and dark."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomoku_cli.reports.plots import count_on
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import LOSSES, phase_starts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, FAINT = "#010101", "#020202"
"""Stand-ins of colours, which the page replaces by those of its style sheet."""
_RUN_COLOURS = ("#010111", "#010112", "#010113", "#010114", "#010115", "#010116")
_VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)"} | {
    colour: f"var(--run{number})" for number, colour in enumerate(_RUN_COLOURS)
}
_SIZE = (4.6, 2.6)
_MAX_POINTS = 400


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure of the page."""

    title: str
    note: str
    svg: str


def run_variable(number: int) -> str:
    """Return the colour of a run in the style sheet."""
    return f"var(--run{number % len(_RUN_COLOURS)})"


def panels(runs: Sequence[Json]) -> list[Panel]:
    """Return the figures for which the runs have data; needs matplotlib."""
    found = []
    names = {name for run in runs for row in run["training"] for name in row if name.endswith("_loss")}
    further = [
        (f"Loss of {name.removesuffix('_loss')}", *_OF_STEPS, name, (0, None)) for name in sorted(names - {*LOSSES})
    ]
    for title, note, rows, x, y, limits in (*_CURVES, *further):
        series = [_points(run[rows], x, y) for run in runs]
        if any(points for points, _ in series):
            starts = phase_starts(runs[0]["training"]) if rows == "training" and len(runs) == 1 else []
            svg = _svg(_lines, series, limits, starts, x)
            found.append(Panel(title, note, svg))
    if any(run["strength"] for run in runs):
        found.append(Panel("Strength", _STRENGTH_NOTE, _svg(_strength, [run["strength"] for run in runs])))
    gates = [[row for row in run["rounds"] if row["gate_score"] is not None] for run in runs]
    if any(gates):
        found.append(Panel("Gate", "score of each candidate; filled: accepted", _svg(_gates, gates)))
    return found


_OF_STEPS = ("over training steps", "training", "step")
_CURVES: tuple[tuple[str, str, str, str, str, tuple[float, float | None]], ...] = (
    ("Policy loss", *_OF_STEPS, "policy_loss", (0, None)),
    ("Value loss", *_OF_STEPS, "value_loss", (0, None)),
    ("Entropy of the policy", *_OF_STEPS, "policy_entropy", (0, None)),
    ("Agreement with the teacher", "held-out positions, over training steps", "measures", "step", "agreement", (0, 1)),
    ("Length of a game", "moves, over rounds of self-play", "rounds", "round", "game_length", (0, None)),
    ("Black's share of decided games", "over rounds of self-play", "rounds", "round", "black_share", (0, 1)),
    ("Simulations a second", "over rounds of self-play", "rounds", "round", "simulations_per_second", (0, None)),
    ("Elo of the accepted candidates", "sum of their gates, over rounds", "rounds", "round", "elo", (0, None)),
)


_STRENGTH_NOTE = "Elo of each kept model against a fixed pool (gomoku strength), over minutes of work"


def _points(rows: Iterable[Json], x: str, y: str) -> tuple[list[float], list[float]]:
    known = [row for row in rows if row.get(y) is not None]
    every = max(1, len(known) // _MAX_POINTS)
    chosen = known[::every] if every == 1 or not known else [*known[::every], known[-1]]
    return [row[x] for row in chosen], [row[y] for row in chosen]


def _lines(
    axes: "Axes",
    series: Sequence[tuple[list[float], list[float]]],
    limits: tuple[float, float | None],
    starts: Sequence[float],
    x: str,
) -> None:
    for number, (places, values) in enumerate(series):
        mark = "o" if len(places) <= 3 else ""
        axes.plot(places, values, marker=mark, markersize=3, linewidth=1.4, color=_colour(number))
    for start in starts:
        axes.axvline(start, color=FAINT, linestyle=":", linewidth=1)
    low, high = limits
    values = [value for _, part in series for value in part]
    highest, lowest = max(values), min(low, *values)
    room = 0.06 * (highest - lowest) or 1.0
    axes.set_ylim(lowest - room if lowest < low else low, highest + room if high is None else high)
    axes.set_xlim(left=0)
    if x == "round":
        count_on(axes.xaxis)


def _gates(axes: "Axes", runs: Sequence[Sequence[Json]]) -> None:
    for number, rows in enumerate(runs):
        for accepted in (True, False):
            part = [row for row in rows if bool(row["accepted"]) is accepted]
            face = _colour(number) if accepted else "none"
            places, scores = [row["round"] for row in part], [row["gate_score"] for row in part]
            axes.plot(places, scores, "o", markersize=4, markerfacecolor=face, markeredgecolor=_colour(number))
    axes.axhline(0.5, color=FAINT, linewidth=1)
    axes.set_ylim(0, 1.02)
    axes.set_xlim(left=0)
    count_on(axes.xaxis)


def _strength(axes: "Axes", runs: Sequence[Sequence[Json]]) -> None:
    for number, rows in enumerate(runs):
        minutes, elo = [row["minutes"] for row in rows], [row["elo"] for row in rows]
        axes.plot(minutes, elo, "o-", markersize=3, linewidth=1.4, color=_colour(number))
        low, high = ([row["elo_interval"][end] for row in rows] for end in (0, 1))
        axes.vlines(minutes, low, high, color=_colour(number), linewidth=0.8)
    axes.set_xlim(left=0)


def _colour(number: int) -> str:
    return _RUN_COLOURS[number % len(_RUN_COLOURS)]


_SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gomoku",
    "font.family": "sans-serif",
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
}


def _svg(draw: Callable[..., None], *data: Any) -> str:
    """Return a panel, which `draw(axes, *data)` fills, as an SVG element without a size of its own."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        axes.grid(color=FAINT, linewidth=0.4, alpha=0.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=9)
        draw(axes, *data)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) (?:width|height)="[^"]*"', r"\1", text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, variable)
    return text
