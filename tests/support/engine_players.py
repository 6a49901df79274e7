"""Players of the scripted engine, and its processes."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from core.notation import parse_point
from core.position import Position
from core.rules import Rules
from search.engines.player import EngineLimits, EnginePlayer
from search.players import Player
from tests.support.project import SUPPORT

POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="counts descriptors and processes as POSIX knows them")
LINUX_ONLY = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems show no orphans")
ENGINE = SUPPORT / "engines" / "scripted.py"
RULES = Rules(9)
LIMIT_S = 10.0
"""Time after which a wait fails the test."""


def command(mode: str, notes: Path | None = None) -> list[str]:
    return [sys.executable, "-I", "-S", str(ENGINE), mode, *([str(notes)] if notes else [])]


def engine(mode: str, notes: Path | None = None, **limits: float) -> EnginePlayer:
    chosen = {"turn_seconds": 5.0, "start_seconds": 5.0} | limits
    return EnginePlayer(command(mode, notes), RULES, EngineLimits(**chosen))  # type: ignore[arg-type]


def at(*points: str) -> Position:
    return Position.from_moves(RULES, [parse_point(point, RULES.size) for point in points])


def cell(point: str) -> int:
    return parse_point(point, RULES.size)


def move_of(player: Player, position: Position) -> int:
    return player.choose_batch([position], seeds=[0])[0].move


def is_alive(pid: int) -> bool:
    """Return True if the process runs; False also for a zombie, where the system shows it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # no Linux, or gone in between
        return not Path("/proc/self").exists()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: not is_alive(pid))


def open_descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))
