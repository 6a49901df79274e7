"""`gomoku ladder`: matches against pure MCTS with more and more playouts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.input_limits import MAX_RECORDS
from curriculum.arena import player_names
from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options
from gomoku_cli.matches import open_session, publish

if TYPE_CHECKING:
    from curriculum.arena.ladder import Rung
    from curriculum.arena.results import MatchResult


@expand_options
def command(
    player: options.Player,
    *,
    start: Annotated[int, typer.Option("--from", min=2)] = 200,
    step: Annotated[int, typer.Option(min=1)] = 100,
    last: Annotated[int | None, typer.Option("--to", min=2, show_default="none")] = None,
    games: Annotated[int, typer.Option("--games", "-g", min=1, max=MAX_RECORDS)] = 10,
    stop_at: Annotated[int, typer.Option(min=0)] = 7,
    search: options.SearchOptions,
    match: match_options.MatchOptions,
    rules: options.RulesOptions,
    figure: match_options.Figure = None,
    markdown: match_options.Markdown = None,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Climb a ladder: matches against pure MCTS, each rung with more playouts, until the wins are too few.

    Only wins count, a draw does not. With --run each rung keeps its games in a folder of its own. A ladder that is
    stopped shows its finished rungs.

    Args:
        start: Playouts of the first rung.
        step: Additional playouts of each further rung.
        last: Playouts of the last rung.
        games: Games a rung, half with each colour.
        stop_at: End at the first rung with N wins or less.

    Examples:
        gomoku ladder default --from 200 --step 100 --games 10 --stop-at 7
        gomoku ladder runs/mine --to 2000 --run ladders/mine --figure ladder.png
    """
    match_options.ReportOptions(figure=figure, markdown=markdown).check()
    if stop_at >= games:
        problem = f"no rung of {games} games has more than {stop_at} wins: give {games - 1} or less, or more --games"
        raise typer.BadParameter(problem, param_hint="--stop-at")
    if last is not None and last < start:
        raise typer.BadParameter(f"{last} is below the first rung, {start}", param_hint="--to")
    rungs: list[Rung] = []
    with open_session(
        (player,), games=games, search=search, rules=rules, match=match, runtime=runtime, quiet=quiet
    ) as session:
        from curriculum.arena.ladder import climb

        def play(playouts: int) -> "MatchResult":
            opponent = f"{player_names.PURE_MCTS}:{playouts}"
            folder = match.run / f"{player_names.PURE_MCTS}-{playouts}" if match.run is not None else None
            tournament = session.play_match((player, opponent), folder=folder, task=f"{playouts:,} playouts")
            return tournament.matches[0, 1]

        try:
            climb(play, start=start, step=step, last=last, stop_at=stop_at, rungs=rungs, context=session.context)
        finally:  # a ladder without --to may have no other end than an interruption
            if rungs:
                _report(rungs, stop_at, as_json=as_json, figure=figure, markdown=markdown)


def _report(rungs: "list[Rung]", stop_at: int, *, as_json: bool, figure: Path | None, markdown: Path | None) -> None:
    from core.files.atomic import atomic_write_text
    from curriculum.arena.ladder import Ladder
    from gomoku_cli.reports.markdown import ladder_markdown
    from gomoku_cli.reports.match_figure import draw_ladder
    from gomoku_cli.reports.terminal import show_ladder

    ladder = Ladder(rungs[0].result.player, stop_at, rungs)
    result = ladder.to_json()
    publish(
        result,
        lambda: show_ladder(result),
        (markdown, lambda path: atomic_write_text(path, ladder_markdown(result))),
        (figure, lambda path: draw_ladder(ladder, path)),
        as_json=as_json,
    )
