"""The mutation tests themselves: mutants that are noticed, missed, never reached and endless."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from benchmarks import mutants
from tests.support.project import ROOT

SOURCE = '''
LIMIT = 2


def is_small(number):
    """Text is left alone."""
    return number < LIMIT


def down(number):
    while number > 0:
        number -= 1
    return number


def unreached(number):
    return number + 1
'''
TESTS = """
from sample import down, is_small


def test_small_numbers():
    assert is_small(1)
    assert not is_small(3)


def test_down():
    assert down(3) == 0
"""
OUTCOMES = {
    " LIMIT = 2: 2 -> 3": "survived",
    " LIMIT = 2: 2 -> 1": "killed",
    "is_small return number < LIMIT: Lt -> LtE": "survived",
    "is_small return number < LIMIT: return number < LIMIT -> return None": "killed",
    "down while number > 0:: Gt -> GtE": "killed",
    "down while number > 0:: 0 -> 1": "killed",
    "down while number > 0:: 0 -> -1": "killed",
    "down while number > 0:: number > 0 -> not number > 0": "killed",
    "down number -= 1: number -= 1 -> pass": "timeout",
    "down number -= 1: Sub -> Add": "timeout",
    "down number -= 1: 1 -> 2": "killed",
    "down number -= 1: 1 -> 0": "timeout",
    "down return number: return number -> return None": "killed",
    "unreached return number + 1: return number + 1 -> return None": "uncovered",
    "unreached return number + 1: Add -> Sub": "uncovered",
    "unreached return number + 1: 1 -> 2": "uncovered",
    "unreached return number + 1: 1 -> 0": "uncovered",
}


def test_mutants_that_are_named_as_equivalent_exist() -> None:
    named = tomllib.loads(mutants.EQUIVALENT.read_text(encoding="utf-8"))
    paths = {name.split()[0] for name in named}
    assert set(named) <= {mutant.name for path in paths for mutant in mutants.mutants_of(path)}
    assert all(named.values())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="each mutant is a fork")
def test_outcomes_of_mutants_are_known_and_kept(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SOURCE)
    (tmp_path / "test_sample.py").write_text(TESTS)
    kept = tmp_path / "kept.jsonl"
    script = f"""
import sys
import tomllib
from pathlib import Path
from benchmarks import mutants
mutants.ROOT, mutants.SUBJECTS = Path({str(tmp_path)!r}), {{"sample": ("sample.py", "test_sample.py")}}
sys.exit(mutants.main())
"""
    command = [sys.executable, "-c", script, "--json", "--results", str(kept)]
    for run in range(2):  # the second takes up what the first has found
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 1, done.stderr
        row = json.loads(done.stdout)
        assert (row["mutants"], row["killed"], row["timeouts"], row["uncovered"]) == (17, 11, 3, 4), done.stderr
        found = [json.loads(line) for line in kept.read_text().splitlines()]
        assert {
            each["mutant"].removeprefix("sample.py ").replace(":", "", 1): each["outcome"] for each in found
        } == OUTCOMES
        assert len(found) == 17, run
