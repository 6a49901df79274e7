"""Options of commands that play matches: their games, and the files about them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from core.opening_rules import OpeningRule

_ENGINES = "Engines (engine:COMMAND)"
_REPORTS = "Reports"

MatchSeed = Annotated[
    int,
    typer.Option(
        min=0,
        help="Seed of every random stream. With a fixed number of simulations the same seed plays the same games.",
    ),
]
OpeningChoice = Annotated[
    OpeningRule,
    typer.Option(
        help="Opening rule. swap: one side places three stones, the other one chooses its colour. swap2: that one may "
        "also place two more and leave the choice. rif: swap with stones at and around the centre, for renju, without "
        "the choice of the fifth move."
    ),
]
BookFile = Annotated[
    Path | None,
    typer.Option(dir_okay=False, help="Opening book of models and mentors, made by gomoku book build."),
]
EngineSeconds = Annotated[
    float | None,
    typer.Option(metavar="S", help="Time limit of a move.", show_default="--seconds, else 1", rich_help_panel=_ENGINES),
]
Figure = Annotated[
    Path | None,
    typer.Option(help="Draw results, lengths and Elo, as .png or .svg; needs matplotlib.", rich_help_panel=_REPORTS),
]
JUnit = Annotated[Path | None, typer.Option(help="Write a JUnit report, for CI.", rich_help_panel=_REPORTS)]
Markdown = Annotated[Path | None, typer.Option(help="Write a report in Markdown.", rich_help_panel=_REPORTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchOptions:
    """Games of a match, except their number."""

    openings: Annotated[str, typer.Option(metavar="FILE|balanced|empty")] = "balanced"
    """Start of the games: a file of openings, the package's balanced ones, or the empty board. Each opening is played
    with both colours."""
    opening: OpeningChoice = OpeningRule.FREE
    book: BookFile = None
    seed: MatchSeed = 42
    concurrency: Annotated[
        int | None, typer.Option(min=1, show_default="64; timed searches 2; engines one for two cores")
    ] = None
    """Games at once."""
    run: Annotated[Path | None, typer.Option("--run", "-r", metavar="DIR")] = None
    """Keep the games in this folder as they end. The same command continues a stopped match."""
    names: Annotated[
        list[str] | None, typer.Option("--name", metavar="NAME", show_default="short: mine for runs/mine")
    ] = None
    """Name of the first player in tables, files and reports; the second `--name` is that of the second player, and so
    on."""
    engine_seconds: EngineSeconds = None
    match_seconds: Annotated[
        float | None, typer.Option(metavar="S", show_default="no limit", rich_help_panel=_ENGINES)
    ] = None
    """Time limit of all moves of an engine in a game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Files about the games of a match; None writes no such file."""

    PANEL: ClassVar[str] = _REPORTS

    games_file: Annotated[Path | None, typer.Option()] = None
    """Write the games, as .sgf or .psq; of a match that is stopped, the finished ones."""
    force: Annotated[bool, typer.Option("--force", "-f")] = False
    """Overwrite the file of the games if it exists."""
    figure: Figure = None
    junit: JUnit = None
    markdown: Markdown = None

    def check(self) -> None:
        """Raise a usage error for a file that cannot be written, or must not be overwritten, before hours of games."""
        from core.files.atomic import is_written_into
        from core.files.links import real_path
        from core.records.formats import SUFFIXES
        from gomoku_cli.expansion import check_new, check_remade, check_suffix
        from gomoku_cli.reports.plots import check_plot

        for option, path, report in (
            ("--junit", self.junit, rb"<testsuites?\b"),
            ("--markdown", self.markdown, rb"\A## "),
        ):
            if path is not None:
                check_remade(path, option, report)
        if self.games_file is not None:
            check_new(self.games_file, "--games-file", force=self.force)
            check_suffix(self.games_file, SUFFIXES, "--games-file")
        check_plot(self.figure)
        outputs = [path for path in (self.games_file, self.figure, self.junit, self.markdown) if path is not None]
        places = [real_path(path, follow_last=False) for path in outputs if not is_written_into(path)]
        for path in places:
            if places.count(path) > 1:
                raise typer.BadParameter(f"two options write to {path}: name one for each")
