"""The load of other processes on this machine, and its memory."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.cores import machine_bytes
from curriculum.bench.machine import OtherProcesses


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc/stat")
def test_the_load_of_other_processes_is_measured() -> None:
    others = OtherProcesses()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        time.sleep(0.5)
        busy = others.cores()
        child.kill()
    assert busy > 0.1


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not report its memory")
@pytest.mark.parametrize(("limit", "is_less"), [("max\n", False), (f"{1 << 20}\n", True), (f"{1 << 60}\n", False)])
def test_a_container_with_less_memory_counts(
    limit: str, is_less: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.max"
    monkeypatch.setattr("core.cores._CONTAINER_LIMIT", file)
    machine = machine_bytes()
    file.write_text(limit, encoding="ascii")
    assert machine is not None
    assert machine_bytes() == (1 << 20 if is_less else machine)
