"""`gomoku runs`: the training runs of a folder."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli import options
from gomoku_cli.printable import echo, echo_json


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER")] = Path("runs"),
    as_json: options.Json = False,
) -> None:
    """List training runs: phase, accepted rounds, score against the strongest opponent, size and age.

    Args:
        folder: Folder of the runs.

    Examples:
        gomoku runs
        gomoku runs experiments --json
    """
    from gomoku_cli.reports.training.overview import overview, runs_below, show_overviews

    rows = [overview(path) for path in runs_below(folder)]
    if as_json:
        echo_json({"folder": str(folder), "runs": rows})
    elif rows:
        show_overviews(folder, rows)
    else:
        echo(f"there is no run in {folder}")
