"""`gomoku bench`: evaluation, search and self-play speed of this machine."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.input_limits import MAX_SIMULATIONS
from curriculum.arena import player_names
from gomoku_cli import options
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import print_result

if TYPE_CHECKING:
    from nets.dual import DualNet


_BEST = "best"
_MAX_GAMES = 4096
_SECONDS, _QUICK_SECONDS = 20.0, 5.0


def _games(text: str) -> int | None:
    """Return the number of games, None for the best. Raises a usage error."""
    if text == _BEST:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= _MAX_GAMES:
        raise typer.BadParameter(
            f"{text!r} is neither {_BEST} nor a number from 1 to {_MAX_GAMES}", param_hint="--concurrent-games"
        )
    return int(text)


def _nets(spec: str) -> "DualNet":
    from nets.checkpoint import load_model

    return load_model(options.model_of(spec, "--model"))[0]


def _headlines(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each figure measured so far: name, figure, remark."""
    if bare := figures.get("bare"):
        yield "bare net", f"{bare['positions_per_second']:,.0f} positions/s", f"batches of {bare['batch']}"
    if ceiling := figures.get("ceiling"):
        yield "forward ceiling", f"{ceiling['positions_per_second']:,.0f} positions/s", f"batches of {ceiling['batch']}"
    if play := figures.get("selfplay"):
        settings = f"{play['games']} games at once, {play['simulations']:,} a move"
        yield "self-play", f"{play['simulations_per_second']:,.0f} simulations/s", settings
        yield "", f"{play['bare_ratio']:.2f} of the bare net", ""
        yield "", f"{play['evaluations_per_second']:,.0f} evaluations/s", f"{play['ratio']:.2f} of the ceiling"
        stages = ", ".join(f"{stage} {100 * share:.0f} %" for stage, share in play["stages"].items())
        yield "", f"{play['moves_per_second']:,.1f} moves/s", stages
        yield "", f"{play['games_per_second']:,.2f} games/s", "from openings of 2 to 80 stones"
    if cache := figures.get("cache"):
        gain = f"{cache['gain']:.2f} times as fast as without"
        yield "with the cache", f"{cache['simulations_per_second']:,.0f} simulations/s", gain
        yield "", f"{100 * cache['hit_rate']:.1f} % hits", f"{cache['distinct']:,} of {cache['leaves']:,} distinct"
    if single := figures.get("single"):
        name = "one position"
        if single["milliseconds_400"] is not None:
            remark = f"400 simulations, {single['bare_ratio_400']:.2f} of bare"
            yield name, f"{single['milliseconds_400']:,.1f} ms", remark
            name = ""
        remark = f"{single['simulations']:,} simulations, {single['bare_ratio']:.2f} of bare"
        yield name, f"{single['simulations_per_second']:,.0f} simulations/s", remark
    for row in figures.get("descents", ()):
        several = row["threads"] > 1
        threads = f"{row['threads']} threads, each {row['scaling']:.2f} of one" if several else "1 thread"
        yield "" if several else "kernel descents", f"{row['simulations_per_second']:,.0f} simulations/s", threads
    if tree := figures.get("tree"):
        resident = tree["resident_bytes_per_simulation"]
        measured = f"{resident:,.0f} resident after {tree['simulations']:,}" if resident is not None else ""
        yield "memory", f"{tree['bytes_per_simulation']:,} bytes a simulation", measured
    if mentor := figures.get("mentor"):
        yield "mentor", f"{mentor['nodes_per_second']:,.0f} nodes/s", "middle game, one core"
    if startup := figures.get("startup"):
        yield "gomoku --help", f"{startup['help_seconds']:.2f} s", ""


_NETS_ALONE = "positions/s are of the nets alone"
_TABLES = {
    "simulations": ("One position", ("simulations", "milliseconds", "simulations_per_second")),
    "games": (f"Self-play; {_NETS_ALONE}", ("games", "simulations_per_second", "positions_per_second", "ratio")),
    "board": (f"Fresh nets; {_NETS_ALONE}", ("size", "positions_per_second", "simulations_per_second", "ratio")),
    "agreement": (
        "Agreement with torch in fp32 on the processor",
        ("model", "precision", "prior", "value", "top_move_percent", "seconds_to_open"),
    ),
    "batches": ("Evaluations alone", ("batch", "positions_per_second")),
    "selfplay": ("Self-play", ("games", "simulations_per_second", "ratio")),
    "training": ("Training", ("batch", "steps_per_second", "positions_per_second")),
}
"""The table of each sweep, and those of the check of a GPU: its title, and its figures."""
_COLUMNS = {
    "milliseconds": "ms",
    "positions_per_second": "positions/s",
    "ratio": "share of the ceiling",
    "seconds_to_open": "s to open",
    "simulations_per_second": "simulations/s",
    "size": "board",
    "steps_per_second": "steps/s",
    "top_move_percent": "same top move, %",
}
"""Titles of figures that are not their names."""


def _cell(figure: float | str | None) -> str:
    if figure is None or isinstance(figure, str):
        return figure or "-"
    if isinstance(figure, float) and figure < 1:
        return f"{figure:.3g}"
    return f"{figure:.2f}" if figure < 10 and isinstance(figure, float) else f"{figure:,.0f}"


def show(figures: Mapping[str, Any]) -> None:
    """Print tables of the figures measured so far."""
    from rich.table import Column, Table

    from gomoku_cli.console import STDOUT

    about = ["{processor}; {cores} cores".format(**figures["machine"])]
    if "backend" in figures:
        about.append("{name} {precision} on {device}".format(**figures["backend"]))
    if (others := figures.get("others", {}).get("cores")) is not None:
        about.append(f"other processes took {others:.1f} cores")
    STDOUT.print("; ".join(about), highlight=False, markup=False)
    table = Table(Column(), Column(justify="right"), Column(style="dim"), show_header=False)
    for row in _headlines(figures):
        table.add_row(*row)
    STDOUT.print(table)
    for name, rows in figures.get("sweeps", {}).items():
        _print_rows(name, rows)


def _print_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print one of the `_TABLES`."""
    from gomoku_cli.reports.terminal import print_table

    title, keys = _TABLES[name]
    cells = [[_cell(row[key]) for key in keys] for row in rows]
    print_table([_COLUMNS.get(key, key) for key in keys], cells, left=0, title=title)


def show_card(figures: Mapping[str, Any]) -> None:
    """Print the check of a GPU, as far as it went."""
    from gomoku_cli.console import STDOUT

    STDOUT.print(f"{figures['card']['name']}; {figures['machine']['cores']} cores", highlight=False, markup=False)
    parts = {**figures, "batches": figures.get("throughput", {}).get("batches", [])}
    for name in ("agreement", "batches", "selfplay", "training"):
        if rows := parts.get(name):
            _print_rows(name, rows)
    if run := figures.get("run"):
        STDOUT.print(f"a run of the preset smoke, with its gate: {run['seconds']:.0f} s", highlight=False)


def _check_card(model: str, *, as_json: bool, quiet: bool) -> None:
    """Measure the GPU, and print it. Raises `RuntimeUnavailableError` without one."""
    import time

    from curriculum.bench.card import CardSettings, check_card, require_gpu
    from curriculum.bench.machine import machine
    from curriculum.phases.all import run_all
    from gomoku_cli.interruption import interruptible

    require_gpu()  # before models are read
    # Line-pattern nets play in kernels on the processor; the other built-in model is one for a card.
    spec = "paper" if model == player_names.DEFAULT else model
    models = {spec: _nets(spec), model: _nets(model)} if spec != model else {spec: _nets(spec)}
    figures: dict[str, Any] = {"model": spec, "machine": machine()}
    start = time.perf_counter()
    with interruptible(quiet=quiet) as context:
        figures.update(check_card(models, run_all, CardSettings(), context))
    figures["seconds"] = time.perf_counter() - start
    print_result(figures, lambda: show_card(figures), as_json=as_json)


@expand_options
def command(
    *,
    quick: Annotated[bool, typer.Option("--quick")] = False,
    model: Annotated[str, typer.Option(metavar="PLAYER")] = player_names.DEFAULT,
    simulations: Annotated[int, typer.Option("--simulations", "-n", min=1, max=MAX_SIMULATIONS)] = 400,
    concurrent_games: Annotated[str, typer.Option(metavar="N|best")] = "128",
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, max=3600, metavar="S", show_default=f"{_SECONDS:g}, with --quick {_QUICK_SECONDS:g}"),
    ] = None,
    figure: options.Figure = None,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measure this machine's evaluation, search and self-play speed, in a few minutes.

    The forward ceiling is the evaluation speed of the nets alone, which wait for nothing. The share of it in self-play
    shows how little they wait for the search.

    With --device cuda it checks a GPU, in at most 8 minutes: agreement of its evaluations, and the speed of evaluation,
    self-play and training.

    Args:
        quick: Only the headline figures, in under 45 seconds.
        model: The model to measure: default, a model file or a run folder (its best model).
        simulations: Simulations a move of self-play.
        concurrent_games: Games of self-play at once; best tries several.
        seconds: Seconds of self-play, without the evaluation cache and then with it.

    Examples:
        gomoku bench --quick
        gomoku bench --json --figure bench.png
        gomoku bench --quick --model runs/mine --concurrent-games best
        gomoku bench --device cuda --json
    """
    if runtime.device.startswith("cuda"):
        _check_card(model, as_json=as_json, quiet=quiet)
        return
    side_by_side, duration_s = _games(concurrent_games), seconds or (_QUICK_SECONDS if quick else _SECONDS)
    from gomoku_cli.reports.plots import check_plot

    check_plot(figure)
    runtime.apply()
    nets = _nets(model)

    from curriculum.bench.machine import machine, startup
    from curriculum.bench.measure import BenchSettings, measure
    from curriculum.reporting import Interrupted
    from gomoku_cli.interruption import interruptible

    settings = BenchSettings(simulations=simulations, games=side_by_side, seconds=duration_s, sweeps=not quick)
    figures: dict[str, Any] = {"model": model, "machine": machine()}
    with interruptible(quiet=quiet) as context:
        try:
            figures["startup"] = startup([sys.executable, "-m", "gomoku_cli", "--help"])
            figures.update(measure(nets, settings, context))  # one by one, so that those before a stop are shown
        except Interrupted:
            if not as_json:
                show(figures)
            raise
        print_result(figures, lambda: show(figures), as_json=as_json)
        if figure is not None:
            from gomoku_cli.reports.bench_figure import draw_bench

            draw_bench(figures, figure)
