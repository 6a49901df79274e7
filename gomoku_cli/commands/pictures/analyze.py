"""`gomoku analyze`: positions and games as a player sees them."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from gomoku_cli import options
from gomoku_cli.commands.pictures.subjects import GameOptions, SubjectOptions
from gomoku_cli.expansion import check_output, expand_options
from gomoku_cli.printable import print_result


@expand_options
def command(
    *,
    what: SubjectOptions,
    player: options.Analyst = None,
    games: GameOptions,
    simulations: options.Simulations = None,
    seconds: options.Seconds = None,
    tactics: options.Tactics = True,
    rules: options.RulesOptions,
    lines: Annotated[int | None, typer.Option(min=1)] = None,
    figure: options.Figure = None,
    runtime: options.RuntimeOptions,
    no_color: options.NoColor = False,
    ascii_only: options.Ascii = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show positions as a player sees them: best moves, visits, values, proven results, and the expected line.

    One position is a table and a board: the left half of an empty cell shows the prior of the net, the right half the
    visits of the search, from white (0) to red (1). Of files and of stdin every position is a line, with --json a line
    of JSON, as soon as it is analysed. Values are for the side to move, from -1 to 1.

    Args:
        lines: Moves in the table (8; mentor: 1, as it searches longer for more).

    Examples:
        gomoku analyze "h8 i9 g7 i7"
        gomoku analyze "h8 i9 g7" --player runs/mine --simulations 2000 --figure position.svg
        gomoku analyze match.sgf --game 3 --move 20 --player mentor --seconds 1
        gomoku analyze "h8 i9 g7" --player mentor --lines 5
        gomoku analyze match.sgf --review --save
        gomoku analyze *.sgf --json > analyses.jsonl
        echo "h8 i9" | gomoku analyze - --json
    """
    from gomoku_cli.commands.pictures.analyst import Analyst
    from gomoku_cli.interruption import interruptible
    from gomoku_cli.reports.plots import check_plot

    check_plot(figure)
    runtime.apply()
    search = options.SearchOptions(simulations=simulations, seconds=seconds, tactics=tactics)
    what.check()
    files = what.files
    _check(what, games, figure=figure, rules=rules)
    with interruptible(quiet=quiet) as context:
        analyst = Analyst(player, search, rules, context, lines)
        if what.is_stdin:
            analyst.analyse_stdin(as_json=as_json)
            return
        if files and what.move is None:
            analyst.analyse_files(files, what.game, games, as_json=as_json)
            return
        if what.move is not None:
            result = analyst.analyse_move(files[0], what.game, what.move, save=games.save)
        else:
            result = analyst.analyse_moves(" ".join(what.texts or ()))
    _show(result, lines=lines, figure=figure, no_color=no_color, ascii_only=ascii_only, as_json=as_json)


def _check(what: SubjectOptions, games: GameOptions, *, figure: Path | None, rules: options.RulesOptions) -> None:
    """Raise a usage error for options that the subjects make senseless."""
    files = what.files
    is_one = what.move is not None or not (files or what.is_stdin)
    if figure is not None and not is_one:
        raise typer.BadParameter(
            "it draws one position: choose it with --move; gomoku picture draws a game", param_hint="--figure"
        )
    if games.review and (not files or is_one):
        raise typer.BadParameter("it needs whole games: give their files, without --move", param_hint="--review")
    if games.save and not files:
        raise typer.BadParameter("there is no file to save into", param_hint="--save")
    for file in files if games.save else ():
        check_output(file, "--save")
    if files and rules.given:
        raise typer.BadParameter("games have their own rules", param_hint="--board-size, --connect, --variant")


def _show(
    result: dict[str, Any], *, lines: int | None, figure: Path | None, no_color: bool, ascii_only: bool, as_json: bool
) -> None:
    """Print one analysis as a table and a board, or as JSON, and draw it."""
    from gomoku_cli.reports.analyses.position import show_analysis
    from gomoku_cli.reports.board_text import has_colours

    try:
        if figure is not None:
            from gomoku_cli.reports.analyses.figure import draw_analysis

            draw_analysis(result, figure)
    finally:  # neither may cost the other; the reader of stdout may end the process
        colours = not no_color and has_colours()
        shown = partial(show_analysis, result, lines=lines, colours=colours, ascii_only=ascii_only)
        print_result(result, shown, as_json=as_json)
