"""Pinned versions: one for each package, the same everywhere, with hashes where strangers' files are installed."""

import re
import tomllib

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.project import ROOT

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
