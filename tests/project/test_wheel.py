"""The wheel: it holds the five packages with their data, and nothing else."""

import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import gomoku_cli
from curriculum.presets import preset_names
from nets.checkpoint import BUILT_IN
from tests.support.project import ROOT

PACKAGES = {"core", "search", "nets", "curriculum", "gomoku_cli"}


@pytest.fixture
def wheel(tmp_path: Path) -> zipfile.ZipFile:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = tmp_path.glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.mark.slow
def test_the_wheel_holds_the_five_packages_with_their_data_and_no_tests(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops == PACKAGES | {f"gomoku_cli-{gomoku_cli.__version__}.dist-info"}
    names = wheel.namelist()
    assert not any("__pycache__" in name for name in names)
    modules = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert modules | {f"{package}/py.typed" for package in PACKAGES} <= set(names)
    for model in BUILT_IN.values():
        assert wheel.getinfo(model.relative_to(ROOT).as_posix()).file_size > 100_000
    for preset in preset_names():
        assert f"curriculum/presets/{preset}.toml" in names
    assert "curriculum/openings/freestyle15.txt" in names
    assert "curriculum/suites/tactics.txt" in names
    folder = f"gomoku_cli-{gomoku_cli.__version__}.dist-info"
    assert "gomoku = gomoku_cli.__main__:main" in wheel.read(f"{folder}/entry_points.txt").decode()
    metadata = Parser().parsestr(wheel.read(f"{folder}/METADATA").decode())
    assert metadata["Version"] == gomoku_cli.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    needs = {need.partition(">")[0] for need in metadata.get_all("Requires-Dist") if "extra ==" not in need}
    assert {"numba", "numpy", "torch", "safetensors", "typer", "rich", "platformdirs"} <= needs
    assert f"{folder}/licenses/LICENSE" in names
