"""Curves of runs as panels: their data for all pictures, and the places of these in that of a page, by a template."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from gomoku_cli.reports.plots import nice_ticks, tick_texts
from gomoku_cli.reports.texts import Json
from gomoku_cli.reports.training.metrics import LOSSES, phase_starts

_RUN_COLOURS = 6
"""Colours of runs in the style sheet."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 352, 10, 184
"""Edges of a plot in its picture."""
_MAX_POINTS = 400
"""More points of a curve than this are drawn as the means of neighbours."""
_ALONE = 3
"""A curve of no more points than this has a mark at each."""

_OF_STEPS = ("over training steps", "training", "step")
_CURVES: tuple[tuple[str, str, str, str, str, float | None], ...] = (
    ("Policy loss", *_OF_STEPS, "policy_loss", None),
    ("Value loss", *_OF_STEPS, "value_loss", None),
    ("Entropy of the policy", *_OF_STEPS, "policy_entropy", None),
    ("Agreement with the teacher", "held-out positions, over training steps", "measures", "step", "agreement", 1),
    ("Length of a game", "moves, over rounds of self-play", "rounds", "round", "game_length", None),
    ("Black's share of decided games", "over rounds of self-play", "rounds", "round", "black_share", 1),
    ("Time of a game", "seconds of self-play, over rounds", "rounds", "round", "game_seconds", None),
    ("Simulations a second", "over rounds of self-play", "rounds", "round", "simulations_per_second", None),
    ("Elo of the accepted candidates", "sum of their gates, over rounds", "rounds", "round", "elo", None),
)
"""Title, note, rows, x, y and the highest value, if it is known, of each curve."""
STRENGTH, GATE = "strength", "gate"
"""Keys of panels that are no curve of `_CURVES`, whose key is that of y."""
_STRENGTH_NOTE = "Elo of each kept model against a fixed pool (gomoku strength), over minutes of work"

_Points = Sequence[tuple[float, float]]


def columns(points: _Points) -> tuple[list[float], list[float]]:
    """Return the places of points and their values."""
    return [x for x, _ in points], [y for _, y in points]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The data of a run in a panel."""

    line: _Points = ()
    marks: _Points = ()
    """Points with a disc."""
    empty_marks: _Points = ()
    """Points with a circle."""
    intervals: Sequence[tuple[float, float, float]] = ()
    """Places with the ends of their intervals."""

    @property
    def points(self) -> list[tuple[float, float]]:
        """All points."""
        ends = [(x, end) for x, *both in self.intervals for end in both]
        return [*self.line, *self.marks, *self.empty_marks, *ends]

    @property
    def last(self) -> float | None:
        """The last value; None without any."""
        return max((*self.line, *self.marks, *self.empty_marks), default=(0.0, None))[1]


@dataclass(frozen=True)
class Panel:
    """A plot with a curve for each run."""

    key: str
    title: str
    note: str
    curves: Sequence[Curve]
    high: float | None = None
    """The highest value; None takes that of the curves."""
    low: float = 0.0
    starts: Mapping[float, str] = field(default_factory=dict)
    """The phases by the places at which they begin."""
    counts: bool = False
    """True if x counts rounds."""

    @cached_property
    def ends(self) -> tuple[float, float, float]:
        """The greatest x, and the lowest and the highest y of the plot, which has room around its curves."""
        xs, ys = zip(*(point for curve in self.curves for point in curve.points), strict=True)
        highest, lowest = max(ys), min(self.low, *ys)
        room = 0.06 * (highest - lowest) or 1.0
        bottom = lowest - room if lowest < self.low else self.low
        return 1.02 * max(*xs, 1.0), bottom, highest + room if self.high is None else self.high

    def x(self, value: float) -> float:
        """Return the column of a value in the picture."""
        return round(_LEFT + (_RIGHT - _LEFT) * value / self.ends[0], 1)

    def y(self, value: float) -> float:
        """Return the row of a value in the picture."""
        _, low, high = self.ends
        return round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / (high - low), 1)

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Ticks below the plot, with their labels."""
        ticks = [tick for tick in nice_ticks(0, self.ends[0]) if not self.counts or tick == int(tick)]
        return [*zip(ticks, tick_texts(ticks), strict=True)]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Ticks beside the plot, with their labels."""
        ticks = nice_ticks(*self.ends[1:])
        return [*zip(ticks, tick_texts(ticks), strict=True)]


def run_variable(number: int) -> str:
    """Return the colour of a run in the style sheet."""
    return f"var(--run{number % _RUN_COLOURS})"


def panels(runs: Sequence[Json]) -> list[Panel]:
    """Return the figures for which the runs have data."""
    found = []
    names = {name for run in runs for row in run["training"] for name in row if name.endswith("_loss")}
    further = [(f"Loss of {name.removesuffix('_loss')}", *_OF_STEPS, name, None) for name in sorted(names - {*LOSSES})]
    for title, note, rows, x, y, high in (*_CURVES, *further):
        curves = [_curve(run[rows], x, y) for run in runs]
        if any(curve.line for curve in curves):
            starts = phase_starts(runs[0]["training"]) if rows == "training" and len(runs) == 1 else {}
            found.append(Panel(y, title, note, curves, high, starts=starts, counts=x == "round"))
    if any(run["strength"] for run in runs):
        found.append(strength_panel([run["strength"] for run in runs]))
    gates = [
        Curve(marks=_points(run["rounds"], accepted=True), empty_marks=_points(run["rounds"], accepted=False))
        for run in runs
    ]
    if any(gate.points for gate in gates):
        found.append(Panel(GATE, "Gate", "score of each candidate; filled: accepted", gates, 1.02, counts=True))
    return found


def strength_panel(runs: Sequence[Sequence[Json]]) -> Panel:
    """Return the ratings of the models of each run."""
    return Panel(STRENGTH, "Strength", _STRENGTH_NOTE, list(map(_strength, runs)), low=math.inf)


def _curve(rows: Iterable[Json], x: str, y: str) -> Curve:
    line = [(row[x], row[y]) for row in rows if row.get(y) is not None]
    if len(line) > _MAX_POINTS:
        means = [part.mean(axis=0).tolist() for part in np.array_split(np.array(line, dtype=float), _MAX_POINTS)]
        line = [*((place, value) for place, value in means), line[-1]]
    return Curve(line=line, marks=line if len(line) <= _ALONE else ())


def _points(rounds: Iterable[Json], *, accepted: bool) -> _Points:
    """Return the scores of the gates that accepted their candidates, or of the others."""
    known = (row for row in rounds if row["gate_score"] is not None and bool(row["accepted"]) is accepted)
    return [(row["round"], row["gate_score"]) for row in known]


def _strength(rows: Iterable[Json]) -> Curve:
    line = [(row["minutes"], row["elo"]) for row in rows]
    return Curve(line=line, marks=line, intervals=[(row["minutes"], *row["elo_interval"]) for row in rows])
