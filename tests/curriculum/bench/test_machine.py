"""The load of other processes on this machine."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from curriculum.bench.machine import OtherProcesses


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs /proc/stat")
def test_the_load_of_other_processes_is_measured() -> None:
    others = OtherProcesses()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        time.sleep(0.5)
        busy = others.cores()
        child.kill()
    assert busy is not None
    assert busy > 0.1
