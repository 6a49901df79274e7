"""`gomoku suite`: positions with known answers, and the share that a player solves."""

from dataclasses import replace
from typing import Annotated

import typer

from gomoku_cli import match_options, options
from gomoku_cli.expansion import expand_options
from gomoku_cli.matches import open_session, publish, require


@expand_options
def command(
    player: options.Player,
    name: Annotated[str, typer.Argument(metavar="NAME")] = "tactics",
    *,
    variant: options.RuleVariant = None,
    search: options.SearchOptions,
    seed: match_options.MatchSeed = 42,
    engine_seconds: match_options.EngineSeconds = None,
    min_score: Annotated[float | None, typer.Option(min=0, max=1, metavar="X")] = None,
    junit: match_options.JUnit = None,
    markdown: match_options.Markdown = None,
    runtime: options.RuntimeOptions,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Let a player solve a suite of positions and print the solved share, kind by kind.

    A position is solved if the player's move is one of its right answers. The suite tactics exists for each rule.

    Args:
        name: `tactics` or `hard`.
        min_score: Required share, 0 to 1; exit code 4 if it is missed.

    Examples:
        gomoku suite default --simulations 400 --min-score 0.8
        gomoku suite mentor --variant renju
        gomoku suite mentor hard --seconds 0.1 --markdown suite.md
    """
    from core.files.atomic import atomic_write_text
    from curriculum.arena.bars import share_bar
    from curriculum.arena.players import model_path
    from curriculum.arena.suite import RULES, load_suite, score_player
    from gomoku_cli.reports.junit import suite_junit
    from gomoku_cli.reports.markdown import suite_markdown
    from gomoku_cli.reports.terminal import show_bars, show_suite
    from nets.checkpoint import read_info

    match_options.ReportOptions(junit=junit, markdown=markdown).check()
    path = model_path(player)
    model = None if path is None else read_info(path)
    if model is not None and not model.plays(RULES):
        raise typer.BadParameter(f"{name} is for {RULES}, and {player} plays {model.rules}", param_hint="NAME")
    rules = replace(RULES, variant=variant or (model.rules if model is not None else RULES).variant)
    suite = load_suite(name, rules)
    match = match_options.MatchOptions(seed=seed, engine_seconds=engine_seconds)
    common = options.RulesOptions(board_size=rules.size, connect=rules.connect, variant=rules.variant)
    with open_session(
        (player,), games=0, search=search, rules=common, match=match, runtime=runtime, quiet=quiet
    ) as session:
        score = score_player(session.player(player), suite, rules=rules, seed=seed, context=session.context)
        bars = [share_bar("solved", score.total.share, min_score)] if min_score is not None else []
        result = {"suite": name, "variant": rules.variant, **score.to_json()}
        bars_json = [bar.to_json() for bar in bars]

        def show() -> None:
            show_suite(result)
            show_bars(bars_json)

        publish(
            {**result, "bars": bars_json},
            show,
            (junit, lambda path: atomic_write_text(path, suite_junit(result, bars_json))),
            (markdown, lambda path: atomic_write_text(path, suite_markdown(result, bars_json))),
            as_json=as_json,
        )
    require(bars)
