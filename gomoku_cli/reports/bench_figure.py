"""The figure of `gomoku bench`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gomoku_cli.reports.plots import BLUE, GREY, HEIGHT, WIDTH, drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_bench(figures: dict[str, Any], path: Path) -> None:
    """Draw a whole result of `gomoku bench`, a panel for each series."""
    panels = [_batches, _threads]
    if "sweeps" in figures:
        panels += [_games, _search_rates, _search_times, _boards]
    columns = min(3, len(panels))
    rows = len(panels) // columns
    machine, backend = figures["machine"], figures["backend"]
    title = (
        f"{machine['processor']}, {machine['cores']} cores; {backend['name']} {backend['precision']} on "
        f"{backend['device']}"
    )
    with drawn(path, title, width=columns * WIDTH, height=rows * HEIGHT + 0.4) as figure:
        for axes, panel in zip(figure.subplots(rows, columns, squeeze=False).ravel(), panels, strict=True):
            panel(axes, figures)


def _batches(axes: "Axes", figures: dict[str, Any]) -> None:
    rows, played = figures["ceiling"]["batches"], figures["selfplay"]
    batches = [row["batch"] for row in rows]
    axes.plot(batches, _column(rows, "positions_per_second"), "o-", color=GREY, label="the nets alone")
    axes.axhline(
        played["evaluations_per_second"],
        color=BLUE,
        label=f"self-play, {played['games']} games: {100 * played['ratio']:.0f} % of the ceiling",
    )
    _name(axes, "The nets alone, by batch size", "positions in a batch", "evaluated positions a second")
    _count_on(axes, batches, base=2)
    axes.legend(loc="lower right")


def _threads(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["descents"]
    threads, rates = _column(rows, "threads"), _column(rows, "simulations_per_second")
    axes.plot(threads, [rates[0] * number for number in threads], "--", color=GREY, label="perfect scaling")
    axes.plot(threads, rates, "o-", color=BLUE, label="measured")
    _name(axes, "Kernel descents, by threads", "threads", "simulations a second")
    _count_on(axes, threads, base=2)
    axes.legend(loc="upper left")


def _games(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["games"]
    games = _column(rows, "games")
    axes.plot(games, _column(rows, "positions_per_second"), "--", color=GREY, label="the nets alone, positions")
    axes.plot(games, _column(rows, "simulations_per_second"), "o-", color=BLUE, label="self-play, simulations")
    _name(axes, "Self-play, by games side by side", "games", "a second")
    _count_on(axes, games, base=2)
    axes.legend(loc="lower right")


def _search_rates(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["simulations"]
    simulations = _column(rows, "simulations")
    axes.plot(simulations, _column(rows, "simulations_per_second"), "o-", color=BLUE)
    _name(axes, "One position, by simulations", "simulations of the search", "simulations a second")
    _count_on(axes, simulations, base=10)


def _search_times(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = [row for row in figures["sweeps"]["simulations"] if row["milliseconds"] is not None]
    simulations, times = _column(rows, "simulations"), _column(rows, "milliseconds")
    axes.plot(simulations, times, "o-", color=BLUE)
    for number, time in zip(simulations, times, strict=True):
        text = f"{time:,.0f} ms" if time >= 100 else f"{time:.1f} ms"
        axes.annotate(text, (number, time), (-7, 3), textcoords="offset points", ha="right", fontsize=8)
    _name(axes, "Time to search one position", "simulations of the search", "milliseconds")
    _count_on(axes, simulations, base=10)
    axes.set_yscale("log")
    axes.set_ylim(min(times) / 2, max(times) * 2)
    axes.set_xlim(left=min(simulations) / 4)
    axes.yaxis.set_major_formatter("{x:,g}")


def _boards(axes: "Axes", figures: dict[str, Any]) -> None:
    rows = figures["sweeps"]["board"]
    places = range(len(rows))
    nets, search = _column(rows, "positions_per_second"), _column(rows, "simulations_per_second")
    axes.bar([place - 0.2 for place in places], nets, 0.38, color=GREY, label="the nets alone, positions")
    bars = axes.bar([place + 0.2 for place in places], search, 0.38, color=BLUE, label="self-play, simulations")
    axes.bar_label(bars, [f"{100 * row['ratio']:.0f} %" for row in rows], fontsize=8, padding=2)
    _name(axes, "Self-play, by board (share of the ceiling)", "board", "a second")
    axes.set_xticks(list(places), [f"{row['size']}x{row['size']}" for row in rows])
    axes.legend(loc="upper right")


def _column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def _name(axes: "Axes", title: str, x: str, y: str) -> None:
    """Set the titles of a panel whose y starts at 0."""
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _count_on(axes: "Axes", ticks: list[Any], *, base: int) -> None:
    """Make x logarithmic, with the measured numbers as its ticks."""
    axes.set_xscale("log", base=base)
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.minorticks_off()
