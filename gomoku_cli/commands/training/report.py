"""`gomoku report`: runs, or a game, as one page of HTML."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli import options
from gomoku_cli.expansion import check_output, check_remade, check_suffix, require
from gomoku_cli.printable import echo

_GENERATOR = b'<meta name="generator" content="gomoku report">'
"""In the head of each page: pages are made anew, and nothing else is overwritten."""


def command(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN|FILE")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", show_default="report.html, for a game its file's name with .html")
    ] = None,
    tensorboard: Annotated[Path | None, typer.Option(metavar="DIR")] = None,
    game: Annotated[int | None, typer.Option(min=1, show_default="1")] = None,
    player: options.Analyst = None,
    seconds: options.Seconds = None,
    force: Annotated[bool, typer.Option("--force", "-f")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a report of runs, or of a game, on one page of HTML, which needs no network and no other file.

    Of runs, which may be in progress: curves, matches, key games, configuration and environment. Of a game: its turning
    points on boards, the graph of the win probability, and the accuracy of both players. Analyses that the file holds
    (gomoku analyze --save) are taken; the other positions are searched.

    Args:
        runs: Folders of runs, or of chains, to be compared; or one file of games.
        output: The page.
        tensorboard: Write event files for TensorBoard into this folder, and no page; needs tensorboard.
        game: Number of the game in its file.
        force: Overwrite a file that is no report.

    Examples:
        gomoku report runs/mine
        gomoku report runs/first runs/second --output both.html
        gomoku report runs/mine --tensorboard events
        gomoku report match.sgf --game 2 --output game.html
    """
    from core.records.formats import is_game_file
    from gomoku_cli.reports.training.overview import runs_at

    files = [path for path in runs if is_game_file(path)]
    if files and (len(runs) > 1 or tensorboard is not None):
        raise typer.BadParameter(
            f"{files[0]} is a file of games, whose report has one game alone", param_hint="RUN|FILE"
        )
    output = output or (Path(f"{files[0].stem}.html") if files else Path("report.html"))
    for option, value in (("--game", game), ("--player", player), ("--seconds", seconds)):
        if value is not None and not files:
            raise typer.BadParameter("it is for a file of games", param_hint=option)
    if tensorboard is not None:
        from gomoku_cli.reports.page.tensorboard import write_events

        require("tensorboard", "--tensorboard", extra="tensorboard")
        runs = runs_at(runs)
        write_events(runs, tensorboard)
        echo(f"{tensorboard}: event files; open them with tensorboard --logdir {tensorboard}")
        return
    check_suffix(output, (".html", ".htm"), "--output")
    if force:
        check_output(output, "--output")
    else:
        check_remade(output, "--output", _GENERATOR, "--force overwrites it")
    if files:
        _report_game(files[0], game or 1, output, player, seconds, quiet=quiet)
        return
    from gomoku_cli.reports.page.report import write_report

    runs = runs_at(runs)
    write_report(runs, output)
    echo(f"{output}: the report of {', '.join(map(str, runs))}")


def _report_game(
    path: Path, number: int, output: Path, player: str | None, seconds: float | None, *, quiet: bool
) -> None:
    from gomoku_cli.commands.pictures.analyst import Analyst
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.reports.page.game_page import write_game_report

    search = options.SearchOptions(seconds=seconds)
    with interruptible(quiet=quiet) as context:
        studied = Analyst(player, search, options.RulesOptions(), context, None).studied(path, number)
    write_game_report(studied, output)
    echo(f"{output}: the report of game {number:,} of {path}")
