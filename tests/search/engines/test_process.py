"""Ends of engines: no process outlives its game or this program."""

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from search.engines import process
from tests.support.engine_players import (
    ENGINE,
    POSIX_ONLY,
    at,
    command,
    engine,
    is_alive,
    move_of,
    wait_until,
    wait_until_gone,
)

pytestmark = POSIX_ONLY


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["deaf", "grandchild"])
def test_neither_an_engine_that_ignores_sigterm_nor_its_children_remain(mode: str, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with engine(mode, notes).start_game() as game:
        move_of(game, at())
        pids = [int(line) for line in notes.read_text().splitlines() if line.isdecimal()]
        assert len(pids) == {"deaf": 1, "grandchild": 2}[mode]
        assert all(is_alive(pid) for pid in pids)
    for pid in pids:
        wait_until_gone(pid)


def test_an_error_in_a_game_ends_the_engine(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    with pytest.raises(KeyboardInterrupt), engine("correct", notes).start_game() as game:
        move_of(game, at())
        raise KeyboardInterrupt
    wait_until_gone(int(notes.read_text().splitlines()[0]))


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, None])
def test_no_engine_outlives_this_program(ending: signal.Signals | None, tmp_path: Path) -> None:
    """The engine ignores SIGTERM, END and the end of its input. None: the program ends by itself and closes nothing."""
    notes = tmp_path / "notes"
    script = f"""
        import sys
        from core.position import Position
        from core.rules import Rules
        from search.engines.player import EngineLimits, EnginePlayer

        player = EnginePlayer({command("deaf", notes)!r}, Rules(9), EngineLimits(turn_seconds=5.0))
        player.choose_batch([Position(Rules(9))], seeds=[0])
        print("playing", flush=True)
        sys.stdin.read()
    """
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ENGINE.parents[2],
    )
    with program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"playing\n"
        pid, *received = notes.read_text().splitlines()
        assert is_alive(int(pid))
        (folder,) = [Path(line.removeprefix("INFO folder ")) for line in received if "folder" in line]
        assert folder.is_dir()
        if ending is not None:
            program.send_signal(ending)
    wait_until_gone(int(pid))
    wait_until(lambda: not folder.exists())


def test_a_program_that_does_not_read_is_out_instead_of_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SEND_S", 0.05)
    program = process.EngineProcess(
        [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"], lambda line: False
    )
    try:
        with pytest.raises(process.ProgramEndedError, match="does not read its input"):
            program.send(["BOARD"] * 50_000)
    finally:
        program.close(None)
