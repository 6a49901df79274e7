"""A pane with a plot: its title with the last values, and a curve for each run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual_plot import HiResMode, NumericAxisFormatter, PlotWidget

from gomoku_cli.reports.plots import nice_ticks, number_text

_PLOT_COLOURS = ("bright_blue", "bright_yellow", "bright_magenta", "bright_green", "bright_cyan")
COLOURS = [f"ansi_{colour}" for colour in _PLOT_COLOURS]
"""Colours of the runs, in their order."""
_Floats = NDArray[np.float64]
_MAX_POINTS = 300
"""More points of a curve than this are drawn as the means of neighbours."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The points of one run in a pane."""

    x: Sequence[float]
    y: Sequence[float]
    marks: Sequence[str] = ()
    """A mark for each point; a line joins the points without any."""

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]], x: str, y: str, *, marked: bool = False) -> "Curve":
        """Return the points of the rows in which both numbers are known.

        `marked`: with marks of accepted and rejected candidates.
        """
        known = [row for row in rows if row.get(y) is not None]
        chosen = ["●" if row["accepted"] else "○" for row in known] if marked else []
        return cls([float(row[x]) for row in known], [float(row[y]) for row in known], chosen)


class PlotPane(Vertical):
    """A title and a plot; a line of text in its place while there is nothing to draw."""

    def __init__(self, *, empty: str, low: float | None = None, high: float | None = None) -> None:
        super().__init__()
        self._limits = (low, high)
        self._plot = PlotWidget(allow_pan_and_zoom=False)
        self._plot.can_focus = False
        self._title = Static(classes="pane--title")
        self._empty = Static(empty, classes="pane--empty")

    def compose(self) -> ComposeResult:
        """Lay the title over the plot."""
        yield self._title
        yield self._plot
        yield self._empty

    def on_mount(self) -> None:
        """Make the margins small."""
        self._plot.margin_top, self._plot.margin_bottom, self._plot.margin_left = 0, 1, 6
        self._plot.set_x_formatter(_Ticks())
        self._plot.set_y_formatter(_Ticks())

    def show(self, title: str, curves: Sequence[Curve], starts: Sequence[float] = ()) -> None:
        """Draw a curve for each run, and a vertical line at each of `starts`."""
        last = [curve.y[-1] if curve.y else None for curve in curves]
        known = [(at, value) for at, value in enumerate(last) if value is not None]
        texts = [(f"  {number_text(value)}", COLOURS[at % len(COLOURS)]) for at, value in known]
        self._title.update(Content.assemble(title, *texts))
        has_points = bool(texts)
        self._plot.display, self._empty.display = has_points, not has_points
        if not has_points:
            return
        self._plot.clear()
        xs = [x for curve in curves for x in curve.x]
        ys = [y for curve in curves for y in curve.y]
        low, high = self._limits
        bottom, top = min(ys) if low is None else low, max(ys) if high is None else high
        room = 0.05 * (top - bottom) or 0.5 * abs(top) or 0.5
        self._plot.set_ylimits(bottom - (room if low is None else 0), top + (room if high is None else 0))
        left, right = 0.0, 1.04 * max(*xs, 1.0)  # the frame covers the last column
        self._plot.set_xlimits(left, right)
        for at, curve in enumerate(curves):
            if curve.y:
                self._draw(curve, _PLOT_COLOURS[at % len(_PLOT_COLOURS)])
        for start in starts:
            if left < start < right:
                self._plot.add_v_line(start, "bright_black")

    def _draw(self, curve: Curve, colour: str) -> None:
        x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
        marks = curve.marks or (["●"] if len(x) == 1 else [])
        for mark in dict.fromkeys(marks):
            chosen = np.array([each == mark for each in marks])
            self._plot.scatter(x[chosen], y[chosen], marker=mark, marker_style=colour)
        if not marks:
            x, y = _thinned(x, y)
            self._plot.plot(x, y, line_style=colour, hires_mode=HiResMode.BRAILLE)


class _Ticks(NumericAxisFormatter):
    """Few ticks with short labels."""

    def get_ticks(self, min_: float, max_: float, max_ticks: int = 4) -> list[float]:
        """See `AxisFormatter`."""
        return nice_ticks(min_, max_)

    def get_labels_for_ticks(self, ticks: Sequence[float]) -> list[str]:
        """See `AxisFormatter`."""
        return [number_text(tick) for tick in ticks]


def _thinned(x: _Floats, y: _Floats) -> tuple[_Floats, _Floats]:
    """Return a curve of at most `_MAX_POINTS` means of neighbours, and its last point."""
    if len(x) <= _MAX_POINTS:
        return x, y
    xs, ys = ([part.mean() for part in np.array_split(values, _MAX_POINTS)] for values in (x, y))
    return np.append(xs, x[-1]), np.append(ys, y[-1])
