"""Kernels compile, are cached by what they say, and do without either."""

import os
from pathlib import Path

import pytest

from core.compiled.jit import _kernel_sources, _source_hash
from core.compiled.memory import _compiler_code
from tests.support.commands import python
from tests.support.project import ROOT

PLAY = """
from core.compiled import stones_of
from core.compiled.jit import KERNELS
from core.compiled.rules import compile_rules, wins
from core.position import Position
from core.rules import Rules
position = Position.from_moves(Rules(5, 3), [0, 5, 1, 6, 2])
print([wins(compile_rules(position.rules), stones_of(position), cell) for cell in (1, 5)], KERNELS.is_cold)
"""


def run(script: str, **variables: str) -> str:
    """Return the output of `script` in a process of its own, with these environment variables changed."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")} | variables
    ended = python(script, env=others | {"PYTHONWARNINGS": "error"})
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def under(folder: Path) -> dict[str, str]:
    """The variables that put every user's folder under `folder`, whatever the system."""
    return {name: str(folder) for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE")}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one kernel, a constant that it imports, and a module that it does not."""
    for name, text in {
        "core/rules.py": "EMPTY = 0\n",
        "core/records/record.py": "FORMAT = 4\n",
        "search/tree/kernels.py": "from core.rules import EMPTY\n\n\n@kernel\ndef f():\n    return EMPTY\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "differs"),
    [
        ("core/rules.py", "EMPTY = 0\n", False),  # as before
        ("core/rules.py", "EMPTY = 7\n", True),  # a constant that a kernel imports
        ("search/tree/kernels.py", "@kernel\ndef f(): return 1\n", True),
        ("core/new.py", "@kernel\ndef g(): return 1\n", True),
        ("core/records/record.py", "F = 5\n", False),  # no kernel sees it
    ],
)
def test_the_cache_key_changes_with_what_kernels_see(name: str, text: str, differs: bool, project: Path) -> None:
    before = _source_hash(project)
    (project / name).write_text(text)
    assert (_source_hash(project) != before) is differs


def test_the_cache_key_changes_with_the_name_of_a_kernels_module(project: Path) -> None:
    before, kernels = _source_hash(project), project / "search" / "tree" / "kernels.py"
    kernels.rename(kernels.with_name("patterns.py"))
    assert _source_hash(project) != before


def test_the_rules_of_kernels_and_those_that_they_import_are_in_the_cache_key() -> None:
    sources = {path.relative_to(ROOT).as_posix() for path in _kernel_sources(ROOT)}
    assert {"core/compiled/rules.py", "core/rules.py", "core/compiled/jit.py"} <= sources
    assert not {"core/records/record.py", "core/files/cache_folder.py"} & sources


@pytest.mark.slow
def test_kernels_work_as_plain_python_without_jit(tmp_path: Path) -> None:
    assert run(PLAY, NUMBA_DISABLE_JIT="1", **under(tmp_path)) == "[True, False] True"
    assert list(tmp_path.rglob("*.kernel")) == []


# A process with kernels keeps neither the compiler nor scipy in memory, and can still use both.

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
