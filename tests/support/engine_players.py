"""Players of the scripted engine, and its processes."""

import os
import sys
from pathlib import Path

import pytest

from core.notation import parse_point
from core.position import Position
from core.rules import Rules
from search.engines.player import EngineLimits, EnginePlayer
from search.players import Player
from tests.support.project import SUPPORT
from tests.support.waiting import is_alive, wait_until

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


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: not is_alive(pid), LIMIT_S)


def open_descriptors() -> set[str]:
    return set(os.listdir("/dev/fd"))
