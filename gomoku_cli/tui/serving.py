"""The board in a browser, through textual-serve: each page that is opened gets a process of its own."""

import shlex
import sys
from collections.abc import Sequence

from core.errors import FailedError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class ServingError(FailedError, RuntimeError):
    """The board cannot be served; the message says what is missing."""


def without_options(arguments: Sequence[str], with_value: Sequence[str], flag: str) -> list[str]:
    """Return the arguments without some options and their values, and without a flag."""
    kept, is_value = [], False
    for argument in arguments:
        if is_value:
            is_value = False
        elif argument in with_value:
            is_value = True
        elif argument != flag and not argument.startswith(tuple(f"{option}=" for option in with_value)):
            kept.append(argument)
    return kept


def serve(arguments: Sequence[str], host: str, port: int) -> None:
    """Serve `gomoku play` with `arguments` at `host` and `port` until the process is stopped. Raises `ServingError`."""
    try:
        from textual_serve.server import Server
    except ImportError:
        raise ServingError("a browser needs textual-serve: pip install '.[serve]'") from None
    command = [sys.executable, "-m", "gomoku_cli", "play", *arguments]
    Server(shlex.join(command), host=host, port=port, title="gomoku").serve()
