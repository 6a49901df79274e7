"""The screen from its start to its end, as a command runs it."""

from gomoku_cli.notices import print_notice
from gomoku_cli.tui.app import GomokuApp
from gomoku_cli.tui.engine.client import EngineProcess
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
        for notice in app.notices:  # the panel no longer shows them
            print_notice(notice)
