"""`gomoku warmup`: later commands compile nothing."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import python

MATCH = "evaluate level:1 --against random --games 2"
COLD = "the first run compiles the search"
RUN = "import sys; from gomoku_cli import app; sys.exit(max(app.run(line.split()) for line in sys.argv[1:]))"


def gomoku(cache: Path, *lines: str) -> subprocess.CompletedProcess[str]:
    """Run command lines in a process of their own, with every user folder under `cache`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    folders = {name: str(cache) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")}
    done = python(RUN, *lines, env=environment | folders, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done


def noted(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines beside the results, without the progress of a match, which a slow machine shows."""
    return [line for line in done.stderr.splitlines() if not line.startswith("games: ")]


@pytest.mark.slow
def test_a_command_that_compiles_reports_it_and_its_time(tmp_path: Path) -> None:
    cold = noted(gomoku(tmp_path, MATCH))
    assert cold[0].startswith(COLD)
    assert cold[-1].startswith("compiling took ")
    assert all(re.fullmatch(r"compiling, once: \d+ of up to \d+ kernels, \d+ s", line) for line in cold[1:-1])
    assert noted(gomoku(tmp_path, MATCH)) == []


@pytest.mark.slow
def test_if_kernels_cannot_be_kept_a_warmup_reports_it_and_compiles_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = gomoku(tmp_path / "file", "warmup", "warmup --json", MATCH)
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"not everything could be kept: {tmp_path / 'file'}")
    assert "(Not a directory)" in " ".join(lines)
    facts = json.loads(next(line for line in lines if line.startswith("{")))
    assert (facts["kept"], facts["compiled"]) == (False, 0)
    assert facts["reason"].endswith("(Not a directory)")
    [note] = noted(done)
    assert note.startswith(f"note: {tmp_path / 'file'}")
    assert "every run compiles the search" in note
