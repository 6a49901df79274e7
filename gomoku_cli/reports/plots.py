"""What all pictures share: where they can be written, and how they look. Needs matplotlib, from the extra `plots`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")

GREY, BLUE, GRID = "#8a8f98", "#1f6feb", "#e3e6ea"
"""What is compared with, what was measured, and the lines behind them."""
WIDTH, HEIGHT = 4.8, 3.4
"""Of a panel, in inches."""


def check_plot(path: Path, option: str) -> None:
    """Raises a usage error about `option`, in one line, where no picture could be written to `path`."""
    if path.suffix.lower() not in SUFFIXES:
        raise typer.BadParameter(f"{path} must end in {' or '.join(SUFFIXES)}", param_hint=option)
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}", param_hint=option)
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise typer.BadParameter(
            "it needs matplotlib: install gomoku-cli with its extra, as in pip install '.[plots]'", param_hint=option
        ) from error


@contextmanager
def drawn(path: Path, title: str, *, width: float, height: float) -> "Iterator[Figure]":
    """An empty figure of so many inches under a title; it is written to `path` when the context ends."""
    import warnings

    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # A dollar in a name is no formula. And a letter that the font lacks shall not fail a picture.
    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained", dpi=140)
        figure.suptitle(title, fontsize=10)
        yield figure
        figure.savefig(path)


def clear(axes: "Axes") -> None:
    """Gives a panel its grid and takes the lines away that say nothing."""
    axes.grid(color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def label(axes: "Axes", title: str, x: str, y: str) -> None:
    """Names a panel and its axes."""
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
