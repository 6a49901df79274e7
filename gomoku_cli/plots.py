"""The picture of what `gomoku bench` measured. Needs matplotlib, which only the extra `plots` brings."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")

_NETS, _SEARCH, _GRID = "#8a8f98", "#1f6feb", "#e3e6ea"
_WIDTH, _HEIGHT = 4.8, 3.4
"""Of a panel, in inches."""


def check_plot(path: Path) -> None:
    """Raises a usage error, in one line, where `draw` could not write `path`."""
    if path.suffix.lower() not in SUFFIXES:
        raise typer.BadParameter(f"{path} must end in {' or '.join(SUFFIXES)}", param_hint="--plot")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {path.parent}", param_hint="--plot")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise typer.BadParameter(
            "it needs matplotlib: install gomoku-cli with its extra, as in pip install '.[plots]'", param_hint="--plot"
        ) from error


def draw(figures: dict[str, Any], path: Path) -> None:
    """Draws a whole result of `gomoku bench`: what grows with what, a panel each."""
    from matplotlib.figure import Figure

    panels = [_batches, _threads]
    if "sweeps" in figures:
        panels += [_games, _search_rates, _search_times, _boards]
    columns = min(3, len(panels))
    rows = len(panels) // columns
    figure = Figure(figsize=(columns * _WIDTH, rows * _HEIGHT + 0.4), layout="constrained", dpi=140)
    for axes, panel in zip(figure.subplots(rows, columns, squeeze=False).ravel(), panels, strict=True):
        axes.grid(color=_GRID, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        panel(axes, figures)
    machine, backend = figures["machine"], figures["backend"]
    figure.suptitle(
        f"{machine['processor']}, {machine['cores']} cores; {backend['name']} {backend['precision']} on "
        f"{backend['device']}",
        fontsize=10,
    )
    figure.savefig(path)


def _batches(axes: "Axes", figures: dict[str, Any]) -> None:
    rows, played = figures["ceiling"]["batches"], figures["selfplay"]
    batches = [row["batch"] for row in rows]
    axes.plot(batches, _column(rows, "positions_per_second"), "o-", color=_NETS, label="the nets alone")
    axes.axhline(
        played["evaluations_per_second"],
        color=_SEARCH,
        label=f"self-play, {played['games']} games: {played['ratio']:.0%} of the ceiling",
    )
    _label(axes, "The nets alone, by batch size", "positions in a batch", "positions judged a second")
    _count_on(axes, batches, base=2)
    axes.legend(loc="lower right", frameon=False, fontsize=8)


def _threads(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["descents"]
    threads, rates = _column(rows, "threads"), _column(rows, "simulations_per_second")
    axes.plot(threads, [rates[0] * number for number in threads], "--", color=_NETS, label="if each did as much")
    axes.plot(threads, rates, "o-", color=_SEARCH, label="measured")
    _label(axes, "Kernel descents, by threads", "threads", "simulations a second")
    _count_on(axes, threads, base=2)
    axes.legend(loc="upper left", frameon=False, fontsize=8)


def _games(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["games"]
    games = _column(rows, "games")
    axes.plot(games, _column(rows, "positions_per_second"), "--", color=_NETS, label="the nets alone, positions")
    axes.plot(games, _column(rows, "simulations_per_second"), "o-", color=_SEARCH, label="self-play, simulations")
    _label(axes, "Self-play, by games side by side", "games", "a second")
    _count_on(axes, games, base=2)
    axes.legend(loc="lower right", frameon=False, fontsize=8)


def _search_rates(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["simulations"]
    simulations = _column(rows, "simulations")
    axes.plot(simulations, _column(rows, "simulations_per_second"), "o-", color=_SEARCH)
    _label(axes, "One position, by simulations", "simulations of the search", "simulations a second")
    _count_on(axes, simulations, base=10)


def _search_times(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = [row for row in figures["sweeps"]["simulations"] if row["milliseconds"] is not None]
    simulations, times = _column(rows, "simulations"), _column(rows, "milliseconds")
    axes.plot(simulations, times, "o-", color=_SEARCH)
    for number, time in zip(simulations, times, strict=True):
        text = f"{time:,.0f} ms" if time >= 100 else f"{time:.1f} ms"
        axes.annotate(text, (number, time), (-7, 3), textcoords="offset points", ha="right", fontsize=8)
    _label(axes, "Time to search one position", "simulations of the search", "milliseconds")
    _count_on(axes, simulations, base=10)
    axes.set_yscale("log")
    axes.set_ylim(min(times) / 2, max(times) * 2)
    axes.set_xlim(left=min(simulations) / 4)
    axes.yaxis.set_major_formatter("{x:,g}")


def _boards(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["board"]
    places = range(len(rows))
    nets, search = _column(rows, "positions_per_second"), _column(rows, "simulations_per_second")
    axes.bar([place - 0.2 for place in places], nets, 0.38, color=_NETS, label="the nets alone, positions")
    bars = axes.bar([place + 0.2 for place in places], search, 0.38, color=_SEARCH, label="self-play, simulations")
    axes.bar_label(bars, [f"{row['ratio']:.0%}" for row in rows], fontsize=8, padding=2)
    _label(axes, "Self-play, by board (share of the ceiling)", "board", "a second")
    axes.set_xticks(list(places), [f"{row['size']}x{row['size']}" for row in rows])
    axes.legend(loc="upper right", frameon=False, fontsize=8)


def _column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def _label(axes: "Axes", title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _count_on(axes: "Axes", ticks: list[Any], *, base: int) -> None:
    """Has x grow by factors, with the measured numbers as its ticks."""
    axes.set_xscale("log", base=base)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
