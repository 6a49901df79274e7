"""The notes of an engine, and the leak check of the engine tests."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.engine_players import open_descriptors


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """The file in which a scripted engine keeps its process id and the lines that it gets."""
    return tmp_path / "notes"


@pytest.fixture(autouse=True)
def nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No descriptor, thread, process or zombie outlives a test."""
    started: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    descriptors, threads = open_descriptors(), set(threading.enumerate())
    yield
    assert open_descriptors() <= descriptors
    assert set(threading.enumerate()) <= threads
    assert all(process.returncode is not None for process in started)
