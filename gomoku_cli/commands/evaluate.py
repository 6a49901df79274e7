"""`gomoku evaluate`: a match between two players, or a climb up the ladder of pure MCTS."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curriculum.arena import player_names
from gomoku_cli import options
from gomoku_cli.bars import Bar, bars_of, min_share, parse_sprt
from gomoku_cli.exit_codes import ExitCode
from gomoku_cli.matches import MatchOptions, MatchSession, Reports, table, write_reports
from nets.config import Backend, Precision
from search.tree.settings import Policy

if TYPE_CHECKING:
    from curriculum.arena.results import Forfeit, MatchResult
    from curriculum.arena.statistics.sprt import SequentialTest
    from curriculum.arena.tournament import Tournament

NAME = "evaluate"
EXAMPLES = (
    "gomoku evaluate default --against random --games 20 --simulations 100",
    "gomoku evaluate runs/mine --against pure-mcts:1000 --games 100 --run matches/mine --figure mine.png",
    "gomoku evaluate default --against mentor --games 10 --seconds 0.5",
    "gomoku evaluate default --against 'engine:./pbrain-other' --games 20 --seconds 0.5 --concurrency 2",
    "gomoku evaluate new.safetensors --against old.safetensors --sprt elo0=0,elo1=50 --games 1000",
    "gomoku evaluate new.safetensors --against old.safetensors --min-score 0.55 --junit report.xml",
    "gomoku evaluate default --ladder pure-mcts --from 200 --step 100 --games 10 --stop-at 7",
    "gomoku evaluate default --suite tactics --simulations 400 --min-score 0.8",
)
_BARS = "Bars: exit code 4 where one is missed"
_LADDER = "Ladder"
_LADDERS = ("start", "step", "last", "stop_at")
_NOT_FOR = {
    "a match": _LADDERS,
    "a ladder": ("min_score", "min_elo", "sprt", "junit", "games_file"),
    "a suite": ("games", "openings", "run", "match_seconds", "min_elo", "sprt", "games_file", "figure", *_LADDERS),
}
"""Parameters that would do nothing there, so they are refused rather than overlooked."""


def command(
    context: typer.Context,
    player: options.Player,
    against: options.Against = None,
    games: Annotated[
        int,
        typer.Option(
            "--games", "-g", min=1, metavar="N", help="Games, half with each colour; of a ladder, games a rung."
        ),
    ] = 100,
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
    min_score: Annotated[
        float | None,
        typer.Option("--min-score", min=0, max=1, metavar="X", help="The least score, 0 to 1.", rich_help_panel=_BARS),
    ] = None,
    min_elo: Annotated[
        float | None,
        typer.Option("--min-elo", metavar="E", help="The least Elo difference, as measured.", rich_help_panel=_BARS),
    ] = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            "--sprt",
            metavar="elo0=A,elo1=B",
            help="A sequential test of a difference of B Elo against one of A. It ends the match as soon as it can "
            "tell, and is missed unless B is accepted; alpha=0.05,beta=0.05 are its error rates.",
            rich_help_panel=_BARS,
        ),
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            "--ladder",
            metavar=player_names.PURE_MCTS,
            help="Instead of --against: matches against pure MCTS with more and more playouts.",
            rich_help_panel=_LADDER,
        ),
    ] = None,
    start: Annotated[
        int, typer.Option("--from", min=2, metavar="N", help="Playouts of the first rung.", rich_help_panel=_LADDER)
    ] = 200,
    step: Annotated[
        int, typer.Option("--step", min=1, metavar="N", help="More playouts a rung.", rich_help_panel=_LADDER)
    ] = 100,
    last: Annotated[
        int | None,
        typer.Option(
            "--to", min=2, metavar="N", help="Playouts of the last rung.", show_default="none", rich_help_panel=_LADDER
        ),
    ] = None,
    stop_at: Annotated[
        int,
        typer.Option(
            "--stop-at", min=0, metavar="N", help="End at the first rung with N wins or less.", rich_help_panel=_LADDER
        ),
    ] = 7,
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            metavar="tactics",
            help="Instead of --against: positions with all their right answers, and the share that is solved. "
            "--min-score is a bar of it.",
        ),
    ] = None,
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
    """Play a match and print wins, draws and losses, the score, and the Elo difference with its 95 % interval.

    The score is wins plus half the draws, divided by the games. The interval comes from pairs of games: each opening is
    played with both colours.
    """
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
    if [against, ladder, suite].count(None) != 2:
        raise typer.BadParameter("say what is played: give one of them", param_hint="--against, --ladder, --suite")
    _refuse_idle(context, "a suite" if suite is not None else "a ladder" if ladder is not None else "a match")
    if suite is not None:
        with table((player,), terms, reports, folder=None, quiet=quiet) as place:
            _solve(place, player, suite, min_score, reports, as_json=as_json)
        return
    if ladder is not None:
        if ladder != player_names.PURE_MCTS:
            raise typer.BadParameter(f"only {player_names.PURE_MCTS} has rungs, not {ladder}", param_hint="--ladder")
        if stop_at >= games:
            raise typer.BadParameter(f"no rung of {games} games has more than {stop_at} wins", param_hint="--stop-at")
        with table((player,), terms, reports, folder=run, quiet=quiet) as place:
            _climb(place, player, (start, step, last, stop_at), reports, run, as_json=as_json)
        return
    assert against is not None
    test = parse_sprt(sprt)
    with table((player, against), terms, reports, folder=run, quiet=quiet) as place:
        result, tournament = _play(place, (player, against), test, run)
        rules = place.rules
    bars = bars_of(result, min_score, min_elo, test)
    _report(result, bars, test, as_json=as_json)
    write_reports(tournament, rules, bars, reports, seconds=result.seconds)
    _demand(bars)


def _refuse_idle(context: typer.Context, what: str) -> None:
    """Raises a usage error for an option of the command line that does nothing in a measurement of this kind."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in _NOT_FOR[what] and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"that does nothing in {what}", param_hint=parameter.opts[0])


def _demand(bars: Sequence[Bar]) -> None:
    """Names the bars that were missed, if any, and exits."""
    for bar in bars:
        if not bar.met:
            typer.echo(f"missed: {bar.name} {bar.reached}, {bar.wanted} was asked for", err=True)
    if not all(bar.met for bar in bars):
        raise typer.Exit(ExitCode.BAR_NOT_MET)


def _report(result: "MatchResult", bars: Sequence[Bar], test: "SequentialTest | None", *, as_json: bool) -> None:
    from gomoku_cli.reports.match import show_bars, show_match

    said = result.to_json()
    met = [bar.to_json() for bar in bars]
    if as_json:
        said["sprt"] = test.to_json(result.pairs) if test else None
        typer.echo(json.dumps({**said, "bars": met}))
    else:
        show_match(said)
        show_bars(met)


def _play(
    place: MatchSession,
    specs: Sequence[str],
    test: "SequentialTest | None",
    folder: Path | None,
    task: str = "games",
) -> "tuple[MatchResult, Tournament]":
    from curriculum.arena.statistics.sprt import SprtDecision
    from search.players import ForfeitError

    def enough(tournament: "Tournament") -> bool:
        match = tournament.matches[0, 1]
        decided = test is not None and test.verdict(match.pairs) is not SprtDecision.CONTINUE
        return decided or _never_moved(match) is not None

    begun = time.perf_counter()
    tournament = place.play(specs, enough=enough, folder=folder, task=task)
    result = tournament.matches[0, 1]
    if (broken := _never_moved(result)) is not None:
        raise ForfeitError(f"{broken.player} made no move in any game, so nothing was measured: {broken.why}")
    result.seconds = time.perf_counter() - begun
    return result, tournament


def _solve(
    place: MatchSession, player: str, name: str, min_score: float | None, reports: Reports, *, as_json: bool
) -> None:
    from core.files import atomic_write_text
    from curriculum.arena.suite import RULES, load_suite, score_player
    from gomoku_cli.reports.match import show_bars, show_suite, suite_junit, suite_markdown

    if place.rules != RULES:
        raise typer.BadParameter(
            f"its positions are of {RULES}, and {player} plays {place.rules}", param_hint="--suite"
        )
    result = score_player(place.player(player), load_suite(name), seed=place.terms.seed, conduct=place.conduct)
    said = result.to_json()
    bars = [min_share("solved", result.total.share, min_score)] if min_score is not None else []
    met = [bar.to_json() for bar in bars]
    if as_json:
        typer.echo(json.dumps({**said, "bars": met}))
    else:
        show_suite(said)
        show_bars(met)
    if reports.junit is not None:
        atomic_write_text(reports.junit, suite_junit(said, met))
    if reports.markdown is not None:
        atomic_write_text(reports.markdown, suite_markdown(said, met))
    _demand(bars)


def _never_moved(match: "MatchResult") -> "Forfeit | None":
    """How a player lost that has forfeited all its games, two or more, before its first move; None if there is none."""
    if len(match.forfeits) < max(2, len(match.games)):
        return None
    times = match.thinking()
    return next((lost for lost in match.forfeits if not times[lost.player != match.player]), None)


def _climb(
    place: MatchSession,
    player: str,
    rungs: tuple[int, int, int | None, int],
    reports: Reports,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    from core.files import atomic_write_text
    from curriculum.arena.ladder import climb
    from gomoku_cli.reports.match import ladder_markdown, show_ladder
    from gomoku_cli.reports.match_figure import draw_ladder

    start, step, last, stop_at = rungs
    if last is not None and last < start:
        raise typer.BadParameter(f"{last} is below the first rung, {start}", param_hint="--to")

    def play(playouts: int) -> "MatchResult":
        opponent = f"{player_names.PURE_MCTS}:{playouts}"
        rung = folder / f"{player_names.PURE_MCTS}-{playouts}" if folder is not None else None
        return _play(place, (player, opponent), None, rung, task=f"{playouts:,} playouts")[0]

    ladder = climb(play, start=start, step=step, last=last, stop_at=stop_at, conduct=place.conduct)
    said = ladder.to_json()
    if as_json:
        typer.echo(json.dumps(said))
    else:
        show_ladder(said)
    if reports.markdown is not None:
        atomic_write_text(reports.markdown, ladder_markdown(said))
    if reports.figure is not None:
        draw_ladder(ladder, reports.figure)
