"""The figure of `gomoku analyze`: the board of paper Y, Fig. 6, with move numbers on the stones."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from core.notation import parse_cell
from gomoku_cli.reports.analyses.position import analysis_title, best_line, effort, halves_note, halves_of, stones_of
from gomoku_cli.reports.board_figure import EDGE, LINE, draw_stones, mark_forbidden, number_stones, points, set_board
from gomoku_cli.reports.plots import drawn
from gomoku_cli.reports.texts import Json

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MIN_SHOWN = 0.01
"""Smallest probability whose number is drawn, in percent."""


def draw_analysis(result: Json, path: Path) -> None:
    """Draw an analysis: two halves a cell, prior left and visits right, with the stones and the numbers."""
    size = result["board_size"]
    stones = stones_of(result)
    with drawn(path, analysis_title(result), width=EDGE + 0.9, height=EDGE + 0.9) as figure:
        axes = figure.subplots()
        set_board(axes, size)
        _halves(axes, result)
        draw_stones(axes, stones, size)
        number_stones(axes, list(stones), size)
        mark_forbidden(axes, [parse_cell(name, size) for name in result["forbidden"]], size)
        note = f"{halves_note(result)}; numbers in %"
        lines = [*textwrap.wrap(best_line(result), 105, max_lines=2), *textwrap.wrap(note, 105), effort(result)]
        figure.supxlabel("\n".join(lines), fontsize=8)


def _halves(axes: "Axes", result: Json) -> None:
    """Fill the halves of the empty cells from white to red, and write the numbers that can be seen."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    size = result["board_size"]
    shades = np.full((size, 2 * size), np.nan)
    font = min(9.0, 0.21 * points(size))
    for name, halves in halves_of(result).items():
        row, column = divmod(parse_cell(name, size), size)
        for half, probability in enumerate(halves):
            shades[row, 2 * column + half] = probability or 0.0
            if probability is not None and probability >= _MIN_SHOWN:
                ink = "white" if probability > 0.6 else "black"
                at = (column - 0.25 + 0.5 * half, row)
                axes.text(*at, f"{100 * probability:.0f}", ha="center", va="center", fontsize=font, color=ink, zorder=3)
    mesh = axes.pcolormesh(
        np.arange(2 * size + 1) / 2 - 0.5,
        np.arange(size + 1) - 0.5,
        np.ma.masked_invalid(shades),
        cmap=LinearSegmentedColormap.from_list("white to red", ["white", "red"]),
        vmin=0,
        vmax=1,
    )
    for edge in np.arange(size + 1) - 0.5:
        axes.axhline(edge, color=LINE, linewidth=0.7, clip_on=False)
        axes.axvline(edge, color=LINE, linewidth=0.7, clip_on=False)
    bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.5, aspect=25, pad=0.02)
    bar.outline.set_visible(False)
