"""`gomoku report`: runs as one page of HTML."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli.expansion import require
from gomoku_cli.printable import echo

EXAMPLES = (
    "gomoku report runs/mine",
    "gomoku report runs/first runs/second --output both.html",
    "gomoku report runs/mine --tensorboard events",
)


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Folders of runs, or of chains, to be compared.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page; needs matplotlib.")] = Path(
        "report.html"
    ),
    tensorboard: Annotated[
        Path | None,
        typer.Option(
            "--tensorboard",
            metavar="DIR",
            help="Write event files for TensorBoard into this folder, and no page; needs tensorboard.",
        ),
    ] = None,
) -> None:
    """Write a report of runs: curves, matches, key games, configuration and environment, on one page of HTML.

    The page needs no network and no other file. The runs may be in progress.
    """
    from gomoku_cli.reports.training.overview import runs_at

    runs = runs_at(runs)
    if tensorboard is not None:
        from gomoku_cli.reports.page.tensorboard import write_events

        require("tensorboard", "--tensorboard", extra="tensorboard")
        write_events(runs, tensorboard)
        echo(f"{tensorboard}: event files; open them with tensorboard --logdir {tensorboard}")
        return
    from gomoku_cli.reports.page.report import write_report

    if output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"{output} must end in .html", param_hint="--output")
    if not output.parent.is_dir():
        raise typer.BadParameter(f"there is no folder {output.parent}", param_hint="--output")
    require("matplotlib", "--output", extra="plots")
    write_report(runs, output)
    echo(f"{output}: the report of {', '.join(map(str, runs))}")
