"""Shared parts of all figures: the check of their path, their look, and ticks. Figures in files need matplotlib."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gomoku_cli.expansion import check_output, check_suffix, require
from gomoku_cli.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
GIF = ".gif"

GREY, BLUE, GRID = "#8a8f98", "#1f6feb", "#e3e6ea"
"""The colours of a reference, of the measured data, and of the grid."""
WIDTH, HEIGHT = 4.8, 3.4
"""Size of a panel, in inches."""
_LOOK: Any = {
    "text.parse_math": False,  # a dollar in a name is no formula
    "figure.titlesize": 10,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""The look of all figures, as settings of matplotlib."""
_FONTS_OF_NAMES = (
    *("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Source Han Sans", "Droid Sans Fallback"),
    *("IPAexGothic", "IPAGothic", "TakaoPGothic", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei", "NanumGothic"),
    *("Hiragino Sans", "PingFang SC", "PingFang HK", "Apple SD Gothic Neo", "Arial Unicode MS"),
    *("Yu Gothic", "MS Gothic", "Microsoft YaHei", "SimHei", "Malgun Gothic"),
)
"""Fonts of Linux, macOS and Windows with Chinese, Japanese and Korean letters, which that of matplotlib lacks."""


def check_plot(path: Path | None, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise a usage error about `--figure`, in one line, if no figure could be written to `path`; None is no figure."""
    if path is None:
        return
    check_suffix(path, suffixes, "--figure")
    check_output(path, "--figure")
    require("matplotlib", "--figure", extra="plots")


@contextmanager
def drawn(path: Path, title: str, *, width: float, height: float) -> "Iterator[Figure]":
    """Yield an empty figure with a title, `width` by `height` inches; the end of the context writes it to `path`.

    The file appears whole or not at all (`core.files.atomic`).
    """
    from core.files.atomic import atomic_path

    with titled(title, width=width, height=height) as figure:
        yield figure
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format=path.suffix[1:].lower())


@contextmanager
def titled(title: str, *, width: float, height: float, dpi: int = 140) -> "Iterator[Figure]":
    """Yield an empty figure with a title, `width` by `height` inches, to be drawn in the context."""
    import logging
    import warnings

    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.font_manager import fontManager

    installed = set(fontManager.get_font_names())
    families = ["sans-serif", *(font for font in _FONTS_OF_NAMES if font in installed)]
    with rc_context(_LOOK | {"font.family": families}), warnings.catch_warnings():
        # A letter that the font lacks must not fail a figure.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained", dpi=dpi)
        figure.suptitle(title)
        log = logging.getLogger("matplotlib.font_manager")
        level = log.level
        log.setLevel(logging.ERROR)  # such a font may have no bold letters
        try:
            yield figure
        finally:
            log.setLevel(level)


def abridged(text: str, longest: int = 28) -> str:
    """Return a name cut to `longest` letters: its end, which is the better part of a path."""
    text = printable(text)
    return text if len(text) <= longest else f"…{text[1 - longest :]}"


def count_on(axis: "Axis") -> None:
    """Make an axis' ticks whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def legend_above(axes: "Axes") -> None:
    """Put the legend between a panel and its title, so that it covers nothing."""
    axes.set_title(axes.get_title(loc="left"), pad=20)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2, columnspacing=1.2)


def nice_ticks(low: float, high: float) -> list[float]:
    """Return at most four round numbers from `low` to `high`."""
    if not high > low:
        return [low]
    raw = (high - low) / 3
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Return the labels of ticks, with the digits that tell them apart: `5.37` and `5.375`."""
    for digits in range(3, 16):
        texts = [number_text(tick, digits) for tick in ticks]
        if len(set(texts)) == len(texts):
            break
    return texts


def number_text(value: float, digits: int = 3) -> str:
    """Return a number in few letters: `1.81`, `120`, `7.2k`; three `digits` or a few more where they are wanted."""
    if abs(value) >= 10_000_000:
        return f"{value / 1e6:.{digits - 3}f}M"
    if abs(value) >= 10_000:
        return f"{value / 1000:.{digits - 3}f}k"
    if abs(value) >= 1000:
        return f"{value / 1000:.{digits}g}k"
    return f"{value:.{digits}g}" if abs(value) >= 1e-9 else "0"
