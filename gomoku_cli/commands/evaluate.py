"""`gomoku evaluate`: a match between two players."""

from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar

import typer

from core.input_limits import MAX_ELO, MAX_RECORDS
from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options, refusing
from gomoku_cli.matches import open_session, publish_games, require, saving_games
from gomoku_cli.workers import WorkerOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class _BarOptions:
    """Required results of the match."""

    PANEL: ClassVar[str] = "Bars: exit code 4 if one is missed"

    min_score: Annotated[float | None, typer.Option(min=0, max=1, metavar="X")] = None
    """Required score, 0 to 1."""
    min_elo: Annotated[float | None, typer.Option(min=-MAX_ELO, max=MAX_ELO, metavar="E")] = None
    """Required Elo difference, as measured."""
    sprt: Annotated[str | None, typer.Option(metavar="elo0=A,elo1=B")] = None
    """A sequential test of a difference of B Elo against one of A. It ends the match as soon as the result is sure, and
    is missed unless B is accepted; alpha=0.05,beta=0.05 are its error rates."""


@expand_options
def command(
    player: options.Player,
    opponent: options.Opponent = None,
    *,
    against: options.Against = None,
    games: Annotated[int, typer.Option("--games", "-g", min=1, max=MAX_RECORDS)] = 100,
    search: options.SearchOptions,
    match: match_options.MatchOptions,
    rules: options.RulesOptions,
    bar: _BarOptions,
    reports: match_options.ReportOptions,
    runtime: options.RuntimeOptions,
    workers: WorkerOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Play a match and print wins, draws and losses, the score, and the Elo difference with its 95 % interval.

    The score is wins plus half the draws, divided by the games. The interval comes from pairs of games: each opening is
    played with both colours.

    Args:
        games: Games, half with each colour.

    Examples:
        gomoku evaluate default random --games 20 --simulations 100
        gomoku evaluate runs/mine pure-mcts:1000 --games 100 --run matches/mine --figure mine.png
        gomoku evaluate default mentor --games 10 --seconds 0.5
        gomoku evaluate default 'engine:./pbrain-other' --games 20 --seconds 0.5 --concurrency 2
        gomoku evaluate new.safetensors old.safetensors --sprt elo0=0,elo1=50 --games 1000
        gomoku evaluate new.safetensors old.safetensors --min-score 0.55 --junit report.xml
    """
    from curriculum.arena.statistics.sprt import SequentialTest
    from gomoku_cli.reports.terminal import show_bars, show_match

    reports.check()
    with refusing("--sprt"):
        test = None if bar.sprt is None else SequentialTest.parse(bar.sprt)
    if (opponent is None) == (against is None):
        raise typer.BadParameter("name one opponent, as in gomoku evaluate default mentor", param_hint="OPPONENT")
    players = (player, opponent or against or "")
    with open_session(
        players, games=games, search=search, rules=rules, match=match, runtime=runtime, quiet=quiet, workers=workers
    ) as session:
        from curriculum.arena.bars import match_bars

        with saving_games(session, reports, match):
            tournament = session.play_match(players, test=test, folder=match.run)
        result = tournament.matches[0, 1]
        bars = match_bars(result, min_score=bar.min_score, min_elo=bar.min_elo, test=test)
        result_json = {**result.to_json(), "rules": asdict(session.rules)}
        bars_json = [each.to_json() for each in bars]

        def show() -> None:
            show_match(result_json)
            show_bars(bars_json)

        whole = {**result_json, "settings": session.plan(players), "bars": bars_json}
        whole["sprt"] = test.to_json(result.pairs) if test else None
        publish_games(whole, show, tournament, session.rules, reports, match, bars=bars_json, as_json=as_json)
    require(bars)
