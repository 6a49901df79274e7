"""Boards in figures: coordinates on all edges, stones, and the marks on them. Needs matplotlib."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.notation import column_letter
from core.rules import BLACK, Cell, Colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EDGE = 6.0
"""Edge of a board, in inches."""
LINE = "#9a9fa8"
"""Colour of the lines between cells."""
LAST = "#e08214"
"""Colour of the last move: it differs from all others for every kind of colour vision."""
_BLACK_STONE, _WHITE_STONE, _STONE_EDGE = "#1b1f24", "#ffffff", "#3b4048"
_RADIUS = 0.43
"""Of a stone, in cells."""


def set_board(axes: "Axes", size: int) -> None:
    """Give a panel the cells of a board as its coordinates: cell (column, row) is around the point of these numbers."""
    axes.set_xlim(-0.5, size - 0.5)
    axes.set_ylim(-0.5, size - 0.5)
    axes.set_aspect("equal")
    axes.grid(visible=False)
    axes.set_xticks(range(size), [column_letter(column) for column in range(size)])
    axes.set_yticks(range(size), [str(row + 1) for row in range(size)])
    axes.tick_params(length=0, labeltop=True, labelright=True)
    axes.spines[:].set_visible(False)


def points(size: int) -> float:
    """Return the edge of a cell in points, the unit of fonts and lines."""
    return 72 * 0.9 * EDGE / size


def draw_stones(axes: "Axes", stones: Mapping[Cell, Colour], size: int) -> None:
    """Draw stones as discs."""
    from matplotlib.patches import Circle

    for cell, colour in stones.items():
        row, column = divmod(cell, size)
        fill = _BLACK_STONE if colour == BLACK else _WHITE_STONE
        axes.add_patch(Circle((column, row), _RADIUS, facecolor=fill, edgecolor=_STONE_EDGE, linewidth=0.8, zorder=3))


def number_stones(axes: "Axes", moves: Sequence[Cell], size: int, *, set_up: int = 0) -> None:
    """Write the number of each move on its stone, the last one in bold and in colour; none where it was set up."""
    for ply, cell in enumerate(moves[set_up:], start=set_up):
        number_stone(axes, ply, cell, size, set_up=set_up, is_last=ply == len(moves) - 1)


def number_stone(axes: "Axes", ply: int, cell: Cell, size: int, *, set_up: int, is_last: bool = False) -> None:
    """Write the number of the move after `ply` others on its stone; those that were set up do not count."""
    number = ply + 1 - set_up
    row, column = divmod(cell, size)
    axes.text(
        column,
        row,
        str(number),
        ha="center",
        va="center_baseline",
        fontsize=min(22.0, points(size) * {1: 0.42, 2: 0.38, 3: 0.29}[len(str(number))]),
        fontweight="bold" if is_last else "normal",
        color=LAST if is_last else "black" if ply % 2 else "white",
        zorder=5,
    )


def mark_forbidden(axes: "Axes", cells: Sequence[Cell], size: int) -> None:
    """Cross the empty cells that renju forbids to Black."""
    for cell in cells:
        row, column = divmod(cell, size)
        axes.plot(column, row, marker="x", color=LAST, markersize=0.35 * points(size), markeredgewidth=1.6, zorder=4)


def ring_stone(axes: "Axes", cell: Cell, size: int, colour: str) -> None:
    """Draw a ring around a stone."""
    from matplotlib.patches import Circle

    row, column = divmod(cell, size)
    width = min(6.0, max(1.2, 0.09 * points(size)))
    axes.add_patch(Circle((column, row), _RADIUS, fill=False, edgecolor=colour, linewidth=width, zorder=4))
