"""A process with kernels keeps neither the compiler nor scipy in memory, and can still use both."""

from core.compiled.memory import _compiler_code
from tests.core.compiled.test_jit import run

_AFTER_A_KERNEL = """
import sys
import numba
import numpy as np
from core.compiled.rules import compile_rules, wins
from core.rules import Rules
wins(compile_rules(Rules(5, 3)), np.zeros(25, np.int8), 0)
"""

SMAPS = """\
1000-2000 r--p 00000000 00:12 45   /usr/lib/libllvmlite.so
Rss:  40 kB
Anonymous:             0 kB
2000-5000 r-xp 00001000 00:12 45   /usr/lib/libllvmlite.so
Anonymous:             0 kB
5000-6000 r--p 00004000 00:12 45   /usr/lib/libllvmlite.so
Anonymous:            24 kB
6000-7000 rw-p 00005000 00:12 45   /usr/lib/libllvmlite.so
Anonymous:             0 kB
7000-8000 r-xp 00001000 00:12 46   /usr/lib/libc.so.6
Anonymous:             0 kB
"""


def test_only_pages_that_equal_the_file_are_dropped() -> None:
    assert list(_compiler_code(SMAPS)) == [(0x1000, 0x2000), (0x2000, 0x5000)]


def test_the_compiler_and_scipy_leave_memory_and_work_on() -> None:
    script = """
from pathlib import Path
from core.compiled.memory import give_back_memory

def resident():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("Rss:"))

print("scipy.linalg" in sys.modules)
if sys.platform == "linux":
    before = resident()
    give_back_memory()
    assert before - resident() > 40
print(numba.njit(lambda x: np.dot(x, x))(np.ones((2, 2)))[0, 0])
"""
    assert run(_AFTER_A_KERNEL + script) == "False\n2.0"
