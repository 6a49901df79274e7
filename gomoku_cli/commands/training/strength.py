"""`gomoku strength`: the strength of a run's models over the time of training."""

from pathlib import Path
from typing import Annotated

import typer

from core.input_limits import MAX_RECORDS
from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options
from gomoku_cli.printable import echo_json
from gomoku_cli.reports.texts import Json
from gomoku_cli.workers import WorkerOptions


@expand_options
def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN")],
    *,
    games: Annotated[int, typer.Option("--games", "-g", min=2, max=MAX_RECORDS)] = 40,
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            **options.PLAYER,
            show_default="random, pure-mcts:1000, mentor:paper, mentor:1, mentor:3, mentor:5",
        ),
    ] = None,
    simulations: options.Simulations = None,
    seed: match_options.MatchSeed = 42,
    figure: options.Figure = None,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Rate every model that a run kept against a fixed pool of players, on one scale of Elo with intervals.

    Games and ratings stay in RUN/strength: the same command continues a stopped measurement, and rates the new models
    of a run that went on. gomoku watch and gomoku report show them.

    Args:
        runs: Folders of runs, or of chains.
        games: Games of every two players who meet: an even number.
        opponents: A player of the pool. Repeatable.

    Examples:
        gomoku strength runs/mine
        gomoku strength runs/first runs/second --figure strength.svg
        gomoku strength runs/mine --opponent default --opponent mentor:paper --games 100
    """
    from curriculum.phases.strength import POOL, kept_models, rate_models, strength_folder
    from gomoku_cli.matches import open_session
    from gomoku_cli.reports.plots import check_plot
    from gomoku_cli.reports.training.overview import folder_names, runs_at

    if games % 2:
        raise typer.BadParameter(f"{games} is odd: each opening is played with both colours", param_hint="--games")
    check_plot(figure)
    pool = tuple(dict.fromkeys(opponents or POOL))
    found: list[tuple[str, Json]] = []
    paths = runs_at(runs)
    for run, name in zip(paths, folder_names(paths), strict=True):
        models = kept_models(run)
        if not models:
            raise typer.BadParameter(f"{run} has kept no model yet", param_hint="RUN")
        with open_session(
            [*(str(model.path) for model in models), *pool],
            games=games,
            search=options.SearchOptions(simulations=simulations),
            rules=options.RulesOptions(),
            match=match_options.MatchOptions(seed=seed, run=strength_folder(run)),
            runtime=runtime,
            quiet=quiet,
            workers=workers,
        ) as session:
            ratings = rate_models(session, run, models, pool)
        found.append((name, ratings))
        if not as_json:
            _show(run, ratings)
    if as_json:
        echo_json({"runs": [{"run": name, **ratings} for name, ratings in found]})
    if figure is not None:
        from gomoku_cli.reports.curves_figure import draw_strength

        draw_strength(found, figure)


def _show(run: Path, ratings: Json) -> None:
    from gomoku_cli.reports.terminal import print_table

    rows = [(row["model"], f"{row['minutes']:.1f}", *_elo(row)) for row in ratings["models"]]
    rows += [(row["player"], "", *_elo(row)) for row in ratings["pool"]]
    print_table(("player", "minutes", "Elo", "95 %"), rows, title=f"{run}: Elo, {ratings['zero']} is 0")


def _elo(row: Json) -> tuple[str, str]:
    low, high = row["elo_interval"]
    return f"{row['elo']:.0f}", f"{low:.0f} to {high:.0f}"
