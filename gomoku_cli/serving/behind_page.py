"""The process behind a page, before its board begins: it ends with the server, and its memory has a limit."""

import os
import sys
from contextlib import suppress

from core.input_limits import MAX_PAGE_DATA_BYTES
from gomoku_cli.serving import processes
from gomoku_cli.tui.terminal import PAGE_VARIABLE


def bind() -> None:
    """Bind this process to the server that has started it. What it starts has the same limit of memory."""
    server = os.environ[PAGE_VARIABLE]
    processes.end_with(int(server) if server.isdecimal() else 0)
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            limit = MAX_PAGE_DATA_BYTES if most == resource.RLIM_INFINITY else min(most, MAX_PAGE_DATA_BYTES)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
