"""A pane with a plot: its title with the last values, and a curve for each run."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual_plot import HiResMode, NumericAxisFormatter, PlotWidget

from gomoku_cli.reports.panels import Curve, Panel, columns
from gomoku_cli.reports.plots import nice_ticks, number_text, tick_texts

_PLOT_COLOURS = ("bright_blue", "bright_yellow", "bright_magenta", "bright_green", "bright_cyan")
COLOURS = [f"ansi_{colour}" for colour in _PLOT_COLOURS]
"""Colours of the runs, in their order."""
_MARKS = ("●○", "■□", "▲△", "◆◇", "★☆")
"""Full and empty marks of the runs, for a terminal without colours too."""


def marked(at: int) -> tuple[str, str]:
    """Return the mark of a run by its place, with its colour."""
    return f"{_MARKS[at % len(_MARKS)][0]} ", COLOURS[at % len(COLOURS)]


class PlotPane(Vertical):
    """A title and a plot; a line of text in its place while there is nothing to draw."""

    def __init__(self, empty: str) -> None:
        super().__init__()
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

    def show(self, title: str, panel: Panel | None) -> None:
        """Draw a curve for each run, and a vertical line where a phase begins; the text without a panel."""
        curves = panel.curves if panel is not None else ()
        texts = [
            (f"  {number_text(curve.last)}", COLOURS[at % len(COLOURS)])
            for at, curve in enumerate(curves)
            if curve.last is not None
        ]
        self._title.update(Content.assemble(title, *texts))
        self._plot.display, self._empty.display = panel is not None, panel is None
        if panel is None:
            return
        self._plot.clear()
        right, bottom, top = panel.ends
        self._plot.set_ylimits(bottom, top)
        self._plot.set_xlimits(0.0, 1.02 * right)  # the frame covers the last column
        for at, curve in enumerate(curves):
            self._draw(curve, _MARKS[at % len(_MARKS)], _PLOT_COLOURS[at % len(_PLOT_COLOURS)], ends=len(curves) > 1)
        for start in panel.starts:
            self._plot.add_v_line(start, "bright_black")

    def _draw(self, curve: Curve, marks: str, colour: str, *, ends: bool) -> None:
        """Draw the curve of a run. `ends`: its line ends with a mark, which tells it from those of other runs."""
        for points, mark in zip((curve.marks, curve.empty_marks), marks, strict=True):
            if points:
                self._plot.scatter(*columns(points), marker=mark, marker_style=colour)
        if len(curve.line) > 1:
            self._plot.plot(*columns(curve.line), line_style=colour, hires_mode=HiResMode.BRAILLE)
            if ends:
                self._plot.scatter(*columns(curve.line[-1:]), marker=marks[0], marker_style=colour)


class _Ticks(NumericAxisFormatter):
    """Few ticks with short labels."""

    def get_ticks(self, min_: float, max_: float, max_ticks: int = 4) -> list[float]:
        """See `AxisFormatter`."""
        return nice_ticks(min_, max_)

    def get_labels_for_ticks(self, ticks: Sequence[float]) -> list[str]:
        """See `AxisFormatter`."""
        return tick_texts(ticks)
