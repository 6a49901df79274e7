"""The screen from its start to its end, as a command runs it."""

from gomoku_cli.notices import print_notice
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine.client import EngineProcess
from gomoku_cli.tui.game import Game
from gomoku_cli.tui.setup import BoardSetup


def run_board(engine: EngineProcess, setup: BoardSetup) -> None:
    """Show the board and play until the human quits, then end the engine.

    Any other end than the human's raises `SystemExit` with its exit code: a signal, a closed terminal, an error of the
    app.
    """
    app = GomokuApp(engine, setup)
    try:
        app.run_to_end()
    finally:
        engine.close()
        if app.control.unsaved and app.game.has_human_part:
            _keep(app.game)
        for notice in app.notices:  # the panel no longer shows them
            print_notice(notice)


def _keep(game: Game) -> None:
    """Keep a game that could not be saved, after an end that asked nothing: Ctrl+C, a signal, an error of the app."""
    from core.files.atomic import keep_elsewhere
    from core.records.formats import write_games

    kept = keep_elsewhere("game.sgf", lambda path: write_games(path, [game.to_save().write()]))
    if kept is not None:
        print_notice(f"the game could not be saved, and is kept as {kept}: gomoku play --load goes on with it")
