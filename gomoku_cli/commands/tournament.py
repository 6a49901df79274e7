"""`gomoku tournament`: many players, each against each or one against all others."""

import json
import time
from typing import Annotated

import typer

from curriculum.arena import player_names
from curriculum.arena.formats import Format
from gomoku_cli import options
from gomoku_cli.matches import MatchOptions, Reports, table, write_reports
from nets.config import Backend, Precision
from search.tree.settings import Policy

NAME = "tournament"
EXAMPLES = (
    "gomoku tournament default mentor mentor:paper pure-mcts:1000 --games 20 --run tournaments/first",
    "gomoku tournament new.safetensors old.safetensors mentor --format gauntlet --games 100",
    "gomoku tournament default 'engine:./pbrain-other' mentor --seconds 0.5 --concurrency 2 --figure table.svg",
)


def command(
    players: Annotated[
        list[str],
        typer.Argument(metavar="PLAYER...", help=f"Two or more players: {player_names.HELP}.", show_default=False),
    ],
    form: Annotated[
        Format,
        typer.Option("--format", help="round-robin: each meets each. gauntlet: the first meets all others."),
    ] = Format.ROUND_ROBIN,
    games: Annotated[
        int,
        typer.Option(
            "--games", "-g", min=2, metavar="N", help="Games of every two players who meet, half with each colour."
        ),
    ] = 20,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    openings: options.Openings = "balanced",
    policy: options.PolicyChoice = Policy.SEMI_STOCHASTIC,
    switch_stage: options.SwitchStage = 6,
    board_size: options.BoardSize = None,
    connect: options.Connect = None,
    seed: options.MatchSeed = 42,
    concurrency: options.Concurrency = None,
    run: options.MatchFolder = None,
    engine_seconds: options.EngineSeconds = None,
    match_seconds: options.MatchSeconds = None,
    games_file: options.Records = None,
    figure: options.Figure = None,
    junit: options.JUnit = None,
    markdown: options.Markdown = None,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play a tournament and print a table with ratings (Bradley-Terry, in Elo, mean 0) and their 95 % intervals."""
    from gomoku_cli.reports.match import show_standings

    if len(players) < 2:
        raise typer.BadParameter("a tournament needs two players or more", param_hint="PLAYER...")
    for player in players:
        if players.count(player) > 1:
            raise typer.BadParameter(f"{player} is named twice", param_hint="PLAYER...")
    if games % 2:
        raise typer.BadParameter(f"{games} is odd: each opening is played with both colours", param_hint="--games")
    terms = MatchOptions(
        games=games,
        simulations=simulations,
        seconds=seconds,
        engine_seconds=engine_seconds,
        match_seconds=match_seconds,
        openings=openings,
        policy=policy,
        switch_stage=switch_stage,
        board_size=board_size,
        connect=connect,
        seed=seed,
        concurrency=concurrency,
        backend=backend,
        precision=precision,
    )
    reports = Reports(games=games_file, figure=figure, junit=junit, markdown=markdown)
    begun = time.perf_counter()
    with table(players, terms, reports, folder=run, quiet=quiet) as place:
        tournament = place.play(players, form=form, folder=run)
        rules = place.rules
    seconds_taken = time.perf_counter() - begun
    standings = [standing.to_json() for standing in tournament.standings()]
    matches = [match.to_json() for match in tournament.matches.values()]
    for match in matches:
        del match["seconds"]  # they were played in turn with the others
    if as_json:
        said = {"format": form.value, "players": standings, "matches": matches, "seconds": round(seconds_taken, 3)}
        typer.echo(json.dumps(said))
    else:
        show_standings(standings, matches)
    write_reports(tournament, rules, [], reports, seconds=seconds_taken)
