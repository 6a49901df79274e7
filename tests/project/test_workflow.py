"""The example of continuous integration: its commands parse, and it keeps the files that they write."""

import re
import shlex

import pytest

from gomoku_cli.commands.table import commands
from tests.support.project import ROOT

WORKFLOW = (ROOT / "docs" / "github-actions.yml").read_text(encoding="utf-8")
COMMANDS = commands()

_LINES = [line.strip().removeprefix("run: ") for line in re.sub(r"\\\n\s*", "", WORKFLOW).splitlines()]
SHOWN = [line for line in _LINES if line.startswith("gomoku ")]


@pytest.mark.parametrize("line", SHOWN)
def test_a_command_of_the_workflow_parses(line: str) -> None:
    command, _, _ = line.partition(" > ")
    _, name, *rest = shlex.split(command)
    COMMANDS[name].make_context(name, rest)


def test_the_workflow_warms_up_and_plays_a_match_that_can_fail() -> None:
    assert [line.split()[1] for line in SHOWN] == ["warmup", "evaluate"]
    assert {"--sprt", "--seed", "--simulations", "--junit", "--markdown", "--json"} <= set(SHOWN[1].split())


def test_the_files_of_the_match_are_uploaded() -> None:
    kept = re.search(r"path: \|\n((?: {12}\S+\n)+)", WORKFLOW)
    assert kept
    words = shlex.split(SHOWN[1])
    named = {words[words.index(option) + 1] for option in ("--junit", "--figure", "--games-file", ">")}
    assert set(kept[1].split()) == named


def test_actions_are_pinned_by_commit() -> None:
    used = re.findall(r"uses: (\S+)@(\S+)(.*)", WORKFLOW)
    assert len(used) == WORKFLOW.count("uses:") == 4
    for action, commit, comment in used:
        assert re.fullmatch("[0-9a-f]{40}", commit), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_the_install_is_checked_and_hashed_files_exist() -> None:
    assert "pip install --require-hashes --no-deps --requirement requirements.lock" in WORKFLOW
    hashed = re.search(r"hashFiles\(([^)]+)\)", WORKFLOW)
    assert hashed
    for name in re.findall(r"'([^']+)'", hashed[1]):
        assert (ROOT / name.removesuffix("/**")).exists()


def test_the_workflow_is_indented_as_yaml_requires() -> None:
    lines = [line for line in WORKFLOW.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert not any("\t" in line for line in lines)
    assert all((len(line) - len(line.lstrip())) % 2 == 0 for line in lines)
    keys = [line.partition(":")[0] for line in lines if line[0] != " "]
    assert keys == ["name", "on", "permissions", "jobs"]
