"""`gomoku play` without options: the board at once, without the time to import and parse the whole command line."""

import gc
import os
import sys

from gomoku_cli.exit_codes import ExitCode


def applies(arguments: list[str]) -> bool:
    """Return True for the plain command at a terminal that shows the board's characters."""
    return (
        arguments == ["play"]
        and not {"GOMOKU_BACKEND", "GOMOKU_PRECISION", "GOMOKU_DEVICE", "GOMOKU_GRAPHICS"} & os.environ.keys()
        and sys.stdin.isatty()
        and sys.stdout.isatty()
        and sys.stdout.encoding.lower().replace("-", "") == "utf8"
    )


def play() -> int:
    """Show the board as the command does, and return the exit code."""
    gc.disable()  # imports make objects that stay
    from gomoku_cli.tui.engine.client import EngineProcess
    from nets.config import default_runtime

    engine = EngineProcess(default_runtime())  # it imports its libraries while the screen imports its own
    from gomoku_cli.tui.app import run_board
    from gomoku_cli.tui.setup import BoardSetup

    gc.freeze()
    gc.enable()
    try:
        run_board(engine, BoardSetup())
    except SystemExit as ended:
        return int(ended.code or ExitCode.DONE)
    return ExitCode.DONE
