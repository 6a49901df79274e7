"""Kernels compile, are cached by what they say, and do without either."""

import os
from pathlib import Path

import pytest

from core.compiled.jit import _kernel_sources, _source_hash
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
