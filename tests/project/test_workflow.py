"""The example of continuous integration, and pinned versions: one for each package, the same everywhere."""

import re
import shlex
import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


# Pins

PINS = dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
LOCKED = re.findall(
    r"^([\w.-]+)==(\S+)(?: ; (.+?))? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", LOCK, re.MULTILINE
)


def test_every_line_of_the_lock_is_a_version_with_hashes() -> None:
    entries = [line for line in LOCK.splitlines() if not line.startswith(("#", " "))]
    assert len(entries) == len(LOCKED) > 50
    for name, _, marker, _ in LOCKED:
        assert not marker or Marker(marker), name
    assert "://" not in LOCK


def test_lock_and_constraints_name_the_same_versions() -> None:
    pins = {canonicalize_name(name): version for name, version in PINS.items()}
    for name, version, _, _ in LOCKED:
        assert pins.get(canonicalize_name(name), version) == version


def test_the_lock_has_what_the_package_needs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["plots"], *extras["ray"], *extras["serve"], "hatchling"]
    locked = {canonicalize_name(name): version for name, version, _, _ in LOCKED}
    for text in needed:
        requirement = Requirement(text)
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), text


def test_the_image_has_a_digest_hashes_and_a_user_of_its_own() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert any(re.fullmatch(r"ARG BASE=python:3\.\d+-slim@sha256:[0-9a-f]{64}", line) for line in lines)
    assert [line for line in lines if line.startswith("FROM")] == ["FROM ${BASE}"]
    users = [line for line in lines if line.startswith("USER")]
    assert users == ["USER gomoku"]
    after = lines[lines.index("USER gomoku") :]
    assert not any("pip install" in line for line in after)
    installed = " ".join(line.strip() for line in lines if "pip install" in line and "TORCH_INDEX" not in line)
    assert "--require-hashes" in installed
