"""`gomoku evaluate`: a match between two players."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from gomoku_cli import options
from gomoku_cli.exit_codes import ExitCode
from nets.config import Backend, Precision
from search.settings import Policy

if TYPE_CHECKING:
    from curriculum.arena import MatchResult

NAME = "evaluate"
EXAMPLES = (
    "gomoku evaluate default --against random --games 20 --simulations 100",
    "gomoku evaluate runs/mine --against pure-mcts:1000 --games 100 --json",
    "gomoku evaluate default --against mentor --games 10 --seconds 0.5",
    "gomoku evaluate new.safetensors --against old.safetensors --min-score 0.55",
)


def _show(result: "MatchResult") -> None:
    from rich.table import Table

    from gomoku_cli.console import STDOUT, duration

    table = Table(title=f"{result.player} against {result.opponent}", title_justify="left")
    table.add_column("")
    for column in ("games", "wins", "draws", "losses"):
        table.add_column(column, justify="right")
    for name, part in (("in all", result.total), ("as black", result.as_black), ("as white", result.as_white)):
        table.add_row(name, *(str(count) for count in (part.games, part.wins, part.draws, part.losses)))
    STDOUT.print(table)
    facts = (f"score {result.total.score:.3f}", f"{result.distinct_games} distinct games", duration(result.seconds))
    STDOUT.print("; ".join(facts), highlight=False)


def command(
    player: options.Player,
    against: options.Against,
    games: Annotated[
        int, typer.Option("--games", "-g", min=1, metavar="N", help="Games, half with each colour.")
    ] = 100,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    openings: Annotated[
        str,
        typer.Option(
            "--openings",
            metavar="FILE|balanced|empty",
            help="Where games start: a file of openings, the package's balanced ones, or the empty board. "
            "Each opening is played with both colours.",
        ),
    ] = "balanced",
    policy: options.PolicyChoice = Policy.SEMI_STOCHASTIC,
    switch_stage: options.SwitchStage = 6,
    board_size: options.BoardSize = None,
    connect: options.Connect = None,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Where every random stream grows from.")] = 42,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score", min=0, max=1, metavar="X", help="End with exit code 4 if the score, 0 to 1, is below this."
        ),
    ] = None,
    backend: options.BackendChoice = Backend.AUTO,
    precision: options.PrecisionChoice = Precision.AUTO,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play a match and print wins, draws and losses, in all and as each colour, and the score.

    The score is wins plus half the draws, divided by the games.
    """
    from curriculum.arena import load_openings, play_match
    from curriculum.player_specs import parse_player
    from gomoku_cli.compilation import telling_of_compilation
    from gomoku_cli.interruption import conducting
    from gomoku_cli.runtime import choose_runtime
    from gomoku_cli.seats import common_rules, player_settings

    choose_runtime(backend, precision)
    settings = player_settings(simulations, seconds, policy, switch_stage)
    rules = common_rules((player, against), board_size, connect)
    with conducting(quiet=quiet) as conduct, telling_of_compilation(conduct.reporter):
        starts = load_openings(openings, rules)
        sides = [parse_player(spec, rules=rules, settings=settings) for spec in (player, against)]
        result = play_match(*sides, rules=rules, openings=starts, games=games, seed=seed, conduct=conduct)
    if as_json:
        typer.echo(json.dumps(result.to_json()))
    else:
        _show(result)
    if min_score is not None and result.total.score < min_score:
        typer.echo(f"the score {result.total.score:.3f} is below the {min_score:g} that was asked for", err=True)
        raise typer.Exit(ExitCode.BAR_NOT_MET)
