"""Shared by all tests: strategies that draw rules and games, and a search for lines that shares no code with `core`."""

import asyncio
import gc
import inspect
import os
import random
import shutil
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from core.compiled import stones_of
from core.position import Position
from core.rules import EMPTY, MAX_CONNECT, MAX_SIZE, MIN_CONNECT, MIN_SIZE, Cell, Rules
from nets.config import Backend, RuntimeChoice, set_runtime

# Kernels compile in the first example, so no deadline can hold.
# Every run draws other examples, but for those of continuous integration.
settings.register_profile("gomoku", deadline=None, max_examples=40)
settings.register_profile("ci", deadline=None, max_examples=40, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "gomoku")

# Imports and tests make many objects that stay: garbage is looked for among them less often.
gc.set_threshold(10_000)

# Tests that ask for OpenVINO before `nets` does must not report to its makers either.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

# Trainings of a few steps would spend most of their time converting nets; the runtimes have tests of their own.
os.environ.setdefault("GOMOKU_BACKEND", Backend.TORCH)
set_runtime(RuntimeChoice(backend=Backend.TORCH))


def pytest_configure(config: pytest.Config) -> None:
    """Give one thread to each of several processes: they share the cores, and threads spin while they wait for others.

    It has to be known before such a process imports numpy. Files of tests lie in the memory: on a disk with other work
    they wait a third of their time until files are safe.
    """
    if config.getoption("numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    if _has_room("/dev/shm"):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")


def _has_room(folder: str) -> bool:
    """Return True if 4 GiB of files, programs among them, may lie there."""
    if not os.access(folder, os.W_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return False
    return shutil.disk_usage(folder).free > 4 << 30


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the slow tests first, and leave out those that need a GPU where torch finds none.

    Processes share the tests by halves, so that all but the first one begin with quick ones. Slow ones at the end
    would leave a process without work.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked:
        from nets.runtimes.devices import best_device  # torch, which many tests do not need

        if best_device().type != "cuda":
            for item in marked:
                item.add_marker(pytest.mark.skip(reason="needs a GPU"))


def pytest_collection_finish() -> None:
    """Keep the collector of garbage out of the half a million objects of all modules: a look takes a quarter second."""
    gc.freeze()
    if (folder := sys.modules.get("curriculum.run.folder")) is not None:  # each opening of a run would ask again
        for name in ("commit_of_source", "installed_version"):
            setattr(folder, name, cache(getattr(folder, name)))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own, for some minutes at most."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), 360.0))
    return True


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


WAYS = ((0, 1), (1, 0), (1, 1), (-1, 1))
"""The four directions of a line, as (rows, columns)."""


@st.composite
def rules(draw: st.DrawFn, max_size: int = MAX_SIZE) -> Rules:
    """Any rules on boards of 3 up to `max_size`; a third of the boards are small enough for a game to fill."""
    size = draw(st.one_of(st.integers(MIN_SIZE, min(5, max_size)), st.integers(MIN_SIZE, max_size)))
    return Rules(size, draw(st.integers(MIN_CONNECT, min(MAX_CONNECT, size))))


@st.composite
def games(draw: st.DrawFn, rules: Rules) -> list[Cell]:
    """A legal sequence of moves from the empty board, finished or not.

    Both sides like to lengthen a line of their own, each game to another degree: without that a line on a large board
    would hardly ever come about, and with too much of it no board would ever be full.
    """
    eagerness = draw(st.sampled_from((0.0, 0.3, 0.9)))
    plies = draw(st.one_of(st.just(rules.cells), st.integers(0, rules.cells)))
    chance = random.Random(draw(st.integers(0, 2**32 - 1)))
    position = Position(rules)
    while position.ply < plies and not position.is_game_over():
        longer = _lengthening(position, chance) if chance.random() < eagerness else None
        position.push(chance.choice(position.legal_moves()) if longer is None else longer)
    return position.moves


def _lengthening(position: Position, chance: random.Random) -> Cell | None:
    """The first empty cell beyond the run of some stone of the side to move, in some direction."""
    size = position.rules.size
    own = np.flatnonzero(stones_of(position) == position.side_to_move).tolist()
    if not own:
        return None
    row, column = divmod(chance.choice(own), size)
    row_step, column_step = chance.choice(WAYS)
    sign = chance.choice((-1, 1))
    while 0 <= row < size and 0 <= column < size:
        colour = stones_of(position)[row * size + column]
        if colour != position.side_to_move:
            return row * size + column if colour == EMPTY else None
        row, column = row + sign * row_step, column + sign * column_step
    return None


@cache
def windows(size: int, connect: int) -> list[list[Cell]]:
    """Every run of `connect` cells on the board."""
    found = []
    for row, column in product(range(size), repeat=2):
        for row_step, column_step in WAYS:
            cells = [(row + i * row_step, column + i * column_step) for i in range(connect)]
            if all(0 <= r < size and 0 <= c < size for r, c in cells):
                found.append([r * size + c for r, c in cells])
    return found


def naive_lines(stones: NDArray[np.int8], size: int, connect: int) -> list[set[Cell]]:
    """Every window of `connect` cells of one colour, found by looking at each window of the board. `stones`: [A]."""
    return [set(cells) for cells in windows(size, connect) if abs(sum(int(stones[cell]) for cell in cells)) == connect]
