"""`gomoku picture`: a game with move numbers and values."""

from pathlib import Path
from typing import Annotated

import typer

from gomoku_cli import options
from gomoku_cli.commands.pictures.games import read_game
from gomoku_cli.printable import echo


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    game: Annotated[int | None, typer.Option(min=1, show_default="1")] = None,
    figure: Annotated[Path | None, typer.Option()] = None,
    no_color: options.NoColor = False,
    ascii_only: options.Ascii = False,
) -> None:
    """Show a game: the number of each move on its stone, the last move, the winning line, and the values.

    Records of matches and of self-play hold the values, from -1 to 1; here they are for Black. They are those of the
    side that made the move.

    Args:
        file: File of games, .sgf or .psq.
        game: Number of the game in its file.
        figure: Draw the game, as .png or .svg, or move by move as .gif; needs matplotlib.

    Examples:
        gomoku picture match.sgf
        gomoku picture match.sgf --game 3 --figure game.svg
        gomoku picture runs/mine/games/selfplay-0000-000000.sgf --figure game.png
        gomoku picture match.sgf --figure game.gif
    """
    from gomoku_cli.reports.plots import GIF, SUFFIXES, check_plot

    check_plot(figure, (*SUFFIXES, GIF))
    record, count = read_game(file, game if figure is None else game or 1, "FILE")
    if figure is None:
        from gomoku_cli.reports.board_text import has_colours
        from gomoku_cli.reports.game import show_game

        show_game(record, colours=not no_color and has_colours(), ascii_only=ascii_only)
    else:
        from gomoku_cli.reports.game import result_text
        from gomoku_cli.reports.game_figure import draw_game

        draw_game(record, figure)
        echo(f"{figure}: game {game or 1:,} of {count:,}, {result_text(record)}")
