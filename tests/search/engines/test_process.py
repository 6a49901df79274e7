"""Ends of engines: no process outlives its game or this program."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from search.engines import process
from tests.support.engine_players import (
    ENGINE,
    LIMIT_S,
    LINUX_ONLY,
    POSIX_ONLY,
    at,
    command,
    engine,
    move_of,
    wait_until_gone,
)
from tests.support.waiting import is_alive, wait_until

pytestmark = POSIX_ONLY


def pids_in(notes: Path) -> list[int]:
    """Return the processes of an engine, its children first."""
    return [int(line) for line in notes.read_text().splitlines() if line.isdecimal()]


@pytest.mark.parametrize(
    ("mode", "processes"),
    [("deaf", 1), ("grandchild", 2)]
    + [pytest.param(mode, 3, marks=LINUX_ONLY) for mode in ("family", "family-hangs", "family-crashes")],
)
def test_neither_an_engine_nor_its_children_remain(
    mode: str, processes: int, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine ignores END and SIGTERM, ends by itself, or crashes; a family leaves the engine's session."""
    if mode in ("deaf", "grandchild", "family-hangs"):
        monkeypatch.setattr(process, "_END_S", 0.1)
    with engine(mode, notes).start_game() as game:
        move_of(game, at())
        pids = pids_in(notes)
        assert len(pids) == processes and all(is_alive(pid) for pid in pids)
    wait_until(lambda: not any(is_alive(pid) for pid in pids), 0.0 if sys.platform == "linux" else LIMIT_S)


@LINUX_ONLY
def test_no_child_remains_of_an_engine_that_ends_in_the_middle(notes: Path) -> None:
    with engine("family", notes).start_game() as game:
        move_of(game, at())
        pids = pids_in(notes)
        os.kill(pids[-1], signal.SIGKILL)
        for pid in pids:
            wait_until_gone(pid)


@LINUX_ONLY
def test_an_engine_does_not_outlive_its_guard(notes: Path) -> None:
    with engine("deaf", notes).start_game() as game:
        move_of(game, at())
        (pid,) = pids_in(notes)
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(parent, signal.SIGKILL)
        wait_until_gone(pid)


def test_an_error_in_a_game_ends_the_engine(notes: Path) -> None:
    with pytest.raises(KeyboardInterrupt), engine("correct", notes).start_game() as game:
        move_of(game, at())
        raise KeyboardInterrupt
    wait_until_gone(int(notes.read_text().splitlines()[0]))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, None])
def test_no_engine_outlives_this_program(ending: signal.Signals | None, tmp_path: Path) -> None:
    """Engines ignore SIGTERM, END and the end of their input. None: the program ends by itself and closes nothing."""
    modes = ["deaf", "family-hangs"] if sys.platform == "linux" else ["deaf"]
    script = f"""
        import sys
        from core.position import Position
        from core.rules import Rules
        from search.engines.player import EngineLimits, EnginePlayer

        players = [
            EnginePlayer(each, Rules(9), EngineLimits(turn_seconds=5.0))
            for each in {[command(mode, tmp_path / mode) for mode in modes]!r}
        ]
        for player in players:
            player.choose_batch([Position(Rules(9))], seeds=[0])
        print("playing", flush=True)
        sys.stdin.read()
    """
    words, pipe = [sys.executable, "-c", textwrap.dedent(script)], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, cwd=ENGINE.parents[2]) as program:
        assert program.stdout.readline() == b"playing\n"
        pids = [pid for mode in modes for pid in pids_in(tmp_path / mode)]
        assert all(is_alive(pid) for pid in pids)
        received = [line for mode in modes for line in (tmp_path / mode).read_text().splitlines()]
        folders = [Path(line.removeprefix("INFO folder ")) for line in received if "folder" in line]
        assert [folder.is_dir() for folder in folders] == [True] * len(modes)
        if ending is not None:
            program.send_signal(ending)
    for pid in pids:
        wait_until_gone(pid)
    wait_until(lambda: not any(folder.exists() for folder in folders))


def test_a_program_that_does_not_read_is_out_instead_of_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SEND_S", 0.05)
    program = process.EngineProcess(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], lambda line: process.Kind.OTHER
    )
    try:
        with pytest.raises(process.ProgramEndedError, match="does not read its input"):
            program.send(["BOARD"] * 50_000)
    finally:
        program.close(None)
