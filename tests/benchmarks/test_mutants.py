"""The mutation tests themselves: mutants reach the tests, and those that are named exist."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks import mutants
from tests.support.project import ROOT


def test_mutants_that_are_named_as_equivalent_exist() -> None:
    named = tomllib.loads(mutants.EQUIVALENT.read_text(encoding="utf-8"))
    paths = {name.split()[0] for name in named}
    assert set(named) <= {mutant.name for path in paths for mutant in mutants.mutants_of(path)}
    assert all(named.values())


@pytest.mark.slow
def test_mutants_of_the_gate_are_killed(tmp_path: Path) -> None:
    words = "-m benchmarks.mutants gate --json --results".split()
    command = [sys.executable, *words, str(tmp_path / "mutants.jsonl")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    row = json.loads(ended.stdout)
    assert (ended.returncode, row["killed"], row["uncovered"]) == (0, row["mutants"], 0)
