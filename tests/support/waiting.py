"""Waits for what other threads and processes do, and lists processes."""

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 120.0
"""Time after which a wait fails the test, however busy the machine is."""


def wait_until(holds: Callable[[], object], limit_s: float = PATIENCE_S) -> None:
    """Wait until `holds()` is true; fail after `limit_s`."""
    deadline = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return True if the process runs; False also for a zombie, where the system shows it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no Linux, or gone in between
        return not Path("/proc/self").exists()


def descendants(pid: int) -> list[int]:
    """Return all processes below one."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                fields = Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found, pending = [], [pid]
    while pending:
        below = parents.get(pending.pop(), [])
        found += below
        pending += below
    return found
