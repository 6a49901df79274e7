"""`gomoku tournament`: a round robin or a gauntlet of many players."""

from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer

from core.input_limits import MAX_RECORDS
from curriculum.arena import player_names
from curriculum.arena.formats import Format
from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options
from gomoku_cli.matches import open_session, publish_games, saving_games
from gomoku_cli.workers import WorkerOptions


@expand_options
def command(
    players: Annotated[
        list[str],
        typer.Argument(metavar="PLAYER...", help=f"Two or more players: {player_names.HELP}.", show_default=False),
    ],
    *,
    form: Annotated[Format, typer.Option("--format")] = Format.ROUND_ROBIN,
    games: Annotated[int, typer.Option("--games", "-g", min=2, max=MAX_RECORDS)] = 20,
    search: options.SearchOptions,
    match: match_options.MatchOptions,
    rules: options.RulesOptions,
    reports: match_options.ReportOptions,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play a tournament and print a table with ratings (Bradley-Terry, in Elo, mean 0) and their 95 % intervals.

    Args:
        form: round-robin: each meets each. gauntlet: the first meets all others.
        games: Games of every two players who meet, half with each colour.

    Examples:
        gomoku tournament default mentor mentor:paper pure-mcts:1000 --games 20 --run tournaments/first
        gomoku tournament new.safetensors old.safetensors mentor --format gauntlet --games 100
        gomoku tournament default 'engine:./pbrain-other' mentor --seconds 0.5 --concurrency 2 --figure table.svg
    """
    from gomoku_cli.reports.terminal import show_standings

    if len(players) < 2:
        raise typer.BadParameter("a tournament needs two players or more", param_hint="PLAYER...")
    for player in players:
        if players.count(player) > 1:
            raise typer.BadParameter(f"{player} is named twice", param_hint="PLAYER...")
    if games % 2:
        raise typer.BadParameter(f"{games} is odd: each opening is played with both colours", param_hint="--games")
    reports.check()
    with open_session(
        players, games=games, search=search, rules=rules, match=match, runtime=runtime, quiet=quiet, workers=workers
    ) as session:
        with saving_games(session, reports, match):
            tournament = session.play(players, form=form, folder=match.run)
        standings = [standing.to_json() for standing in tournament.standings()]
        matches = [result.to_json() for result in tournament.matches.values()]
        for result in matches:
            del result["seconds"]  # the matches took turns
        report = {
            "format": form.value,
            "rules": asdict(session.rules),
            "settings": session.plan(players, form),
            "players": standings,
            "matches": matches,
            "seconds": round(tournament.seconds, 3),
        }
        show = partial(show_standings, standings, matches)
        publish_games(report, show, tournament, session.rules, reports, match, as_json=as_json)
