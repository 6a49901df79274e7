"""`gomoku watch`: a live view of runs."""

import gc
import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN")],
) -> None:
    """Watch a run in progress, or open a finished one: curves, gates, the newest game, the time that is left.

    It reads the run's files once a second and never disturbs the run. Keys: 1, 2, 3 choose a page, q ends.

    Args:
        runs: Folders of runs, or of chains; several lie over each other.

    Examples:
        gomoku watch runs/mine
        gomoku watch runs/first runs/second
    """
    from gomoku_cli.reports.training.overview import runs_at

    runs = runs_at(runs)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise typer.BadParameter("the view needs a terminal; gomoku curves prints the same numbers")
    gc.disable()  # imports and the first picture make objects that stay; the view collects after it
    from gomoku_cli.watch.app import WatchApp

    WatchApp(runs).run_to_end()
