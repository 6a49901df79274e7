"""Fixtures for tests of the command line."""

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def text_in_figures() -> Iterator[None]:
    """Keep the words of an SVG as text, not as outlines."""
    matplotlib = pytest.importorskip("matplotlib")
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        yield


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's data, which is not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "gomoku"
