"""Processes that end with the process that needs them. On systems other than Linux these functions do nothing."""

import os
import signal
import sys
from contextlib import suppress

from core.input_limits import MAX_PAGE_DATA_BYTES
from gomoku_cli.tui.terminal import PAGE_VARIABLE

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def bind() -> None:
    """Bind this process to the server of its page: it ends with it, and has a limit of memory, as what it starts."""
    # On Linux: when the thread of the server that started this process ends. It may have ended by now.
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL if sys.platform == "linux" else 0)
    if os.name == "posix" and str(os.getppid()) != os.environ[PAGE_VARIABLE]:
        os._exit(0)
    if sys.platform != "win32":
        import resource

        with suppress(OSError, ValueError):
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            limit = MAX_PAGE_DATA_BYTES if most == resource.RLIM_INFINITY else min(most, MAX_PAGE_DATA_BYTES)
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def adopt_orphans() -> None:
    """Make this process the parent of each descendant whose own parent ends, so that none is lost."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def children(pid: int) -> list[int]:
    """Return the child processes of a process, those that have ended and wait for it too."""
    found = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    return found


def kill_tree(pid: int, *, itself: bool = True) -> None:
    """Kill a process and all its descendants. Those that are born meanwhile become children of an ancestor."""
    pending, found = [pid], []
    while pending:
        found.append(each := pending.pop())
        pending += children(each)
    if not itself:
        found.remove(pid)
    for each in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)


class Strays:
    """Adopted processes of pages that have ended: they get a little time to end by themselves."""

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s
        self._seen: dict[int, float] = {}

    def sweep(self, own: set[int], now: float) -> int:
        """Kill the children of this process outside `own` that had their time; return the number of those left."""
        left = {pid for pid in children(os.getpid()) if pid not in own and not _reaped(pid)}
        self._seen = {pid: self._seen.get(pid, now) for pid in left}
        for pid, since in self._seen.items():
            if now - since >= self.patience_s:
                kill_tree(pid)
        return len(left)


def _reaped(pid: int) -> bool:
    """Take the exit code of a child that has ended; return True if it had."""
    if sys.platform == "win32":
        return True
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
