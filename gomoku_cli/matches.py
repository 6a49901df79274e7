"""Shared work of the commands that play games: a session from the options, messages, reports and exit codes."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from core.opening_rules import OpeningRule
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.match_options import MatchOptions, ReportOptions
from gomoku_cli.options import RulesOptions, RuntimeOptions, SearchOptions
from gomoku_cli.printable import counted, echo, print_result
from gomoku_cli.workers import WorkerOptions

if TYPE_CHECKING:
    from core.rules import Rules
    from curriculum.arena.bars import Bar
    from curriculum.arena.results import PlayedGame
    from curriculum.arena.session import MatchSession
    from curriculum.arena.tournament import Tournament


@contextmanager
def open_session(
    players: Sequence[str],
    *,
    games: int,
    search: SearchOptions,
    rules: RulesOptions,
    match: MatchOptions,
    runtime: RuntimeOptions,
    quiet: bool,
    workers: WorkerOptions = WorkerOptions(),  # noqa: B008 - frozen
) -> "Iterator[MatchSession]":
    """Open a session for these players; an interruption prints the command that continues a kept match.

    Results belong into the session: a signal that comes after the last game must not cost them.

    Raises a usage error for an option without effect.
    """
    from curriculum.arena.opening_sets import BALANCED
    from curriculum.arena.session import MatchSession, MatchSettings
    from gomoku_cli.console import program
    from gomoku_cli.interruption import interruptible

    if match.opening is not OpeningRule.FREE and match.openings != BALANCED:
        raise typer.BadParameter("the players make their openings by --opening", param_hint="--openings")
    runtime.apply()
    settings = MatchSettings(
        games=games,
        players=search.player_settings(match),
        openings=match.openings,
        opening_rule=match.opening,
        seed=match.seed,
        names=match.names or (),
        concurrency=match.concurrency,
    )
    common_rules = rules.resolve(players)
    search.check_effect(players, match)
    resume = f"{program()} {shlex.join(sys.argv[1:])}" if match.run is not None else None
    with workers.pool() as pool, interruptible(quiet=quiet, resume=resume, pool=pool) as context:
        yield MatchSession(settings, common_rules, context)


@contextmanager
def saving_games(session: "MatchSession", reports: ReportOptions, match: MatchOptions) -> Iterator[None]:
    """Save the finished games to the file for them if the match in the block is stopped or fails.

    A match with a folder keeps them there, and its command goes on later: then the file must not be there yet.
    """
    try:
        yield
    except BaseException:
        if reports.games_file is not None and match.run is None and session.finished:
            _write_games(reports.games_file, session.finished, session.rules, session.names)
            echo(f"{reports.games_file}: {counted(len(session.finished), 'finished game')}", err=True)
        raise


def _write_games(path: Path, games: "Iterable[PlayedGame]", rules: "Rules", names: "Sequence[str]") -> None:
    from core.files.atomic import write_or_keep
    from core.records.formats import write_games

    records = [game.record(rules, names) for game in sorted(games, key=lambda game: game.fixture.number)]
    write_or_keep(path, lambda place: write_games(place, records))


def require(bars: "Sequence[Bar]") -> None:
    """Print the missed bars, and exit if there are any."""
    missed = [bar for bar in bars if not bar.met]
    for bar in missed:
        echo(f"missed: {bar.name} {bar.reached}, required: {bar.required}", err=True)
    if missed:
        raise typer.Exit(ExitCode.BAR_NOT_MET)


Output = tuple[Path | None, Callable[[Path], None]]
"""A file about a result, and the function that writes it; None for no such file."""


def publish_games(
    result: Mapping[str, Any],
    show: Callable[[], None],
    tournament: "Tournament",
    rules: "Rules",
    reports: ReportOptions,
    match: MatchOptions,
    *,
    bars: Sequence[Mapping[str, Any]] = (),
    as_json: bool,
) -> None:
    """Print the result of games and write the files that the options name, as `publish` does.

    But the file of the games of a match that is kept in a folder must not be there yet when its command goes on.
    """
    from core.files.atomic import atomic_write_text
    from gomoku_cli.reports.junit import match_junit
    from gomoku_cli.reports.markdown import match_markdown

    matches, seconds = list(tournament.matches.values()), tournament.seconds
    title = f"{matches[0].player} against {matches[0].opponent}" if len(matches) == 1 else "Tournament"
    results = [each.to_json() for each in matches]
    standings = tournament.standings() if len(matches) > 1 else []
    table = [standing.to_json() for standing in standings]

    def write_games(_: object, error: BaseException | None, __: object) -> None:
        if reports.games_file is not None and not (match.run is not None and isinstance(error, OSError)):
            games = (game for each in matches for game in each.games)
            _write_games(reports.games_file, games, rules, tournament.names)

    def figure(path: Path) -> None:
        from gomoku_cli.reports.match_figure import draw_match

        draw_match(matches, standings, path)

    with ExitStack() as then:
        then.push(write_games)
        publish(
            result,
            show,
            (reports.junit, lambda path: atomic_write_text(path, match_junit(title, results, bars, seconds))),
            (reports.markdown, lambda path: atomic_write_text(path, match_markdown(title, results, table, bars))),
            (reports.figure, figure),
            as_json=as_json,
        )


def publish(result: Mapping[str, Any], show: Callable[[], None], *files: Output, as_json: bool) -> None:
    """Print a result, by `show` or as JSON, and write its files.

    Each file is written even if stdout is full, or another file cannot be written; then its `OSError` is raised.
    """
    with ExitStack() as then:
        for path, write in files:
            if path is not None:
                then.callback(write, path)
        print_result(result, show, as_json=as_json)
