"""OpenVINO's graphs of models, saved in the user's cache folder: a process that only plays starts without torch.

A file holds the graphs of all nets of a model and the version of their evaluations. Its name is a hash of all sources
of the graphs, so it is never out of date. A broken or foreign file counts as missing.
"""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from core.files import atomic_path
from core.jit import user_cache_folder
from nets.config import Precision
from nets.runtimes.openvino import OpenVino
from nets.runtimes.runtime import RuntimeUnavailableError

_MAX_FILES = 32
"""Of more files the least recently used are removed."""
_MAX_AHEAD_S = 60.0
"""A file dated further ahead of the clock is from before the clock was set back, and counts as the oldest."""
_SOURCES = Path(__file__).parent.parent
_TIMEOUT_S = 120.0
"""Limit of a conversion."""


def graphs_path(model: Path, openvino: OpenVino) -> Path:
    """Return the path of a model file's saved graphs. Raises `OSError` if the model file cannot be read."""
    digest = hashlib.sha256(f"{openvino.module.__version__}/{openvino.precision}".encode())
    for path in (*sorted(_SOURCES.rglob("*.py")), model):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return user_cache_folder() / "graphs" / f"{digest.hexdigest()[:32]}.safetensors"


def read_graphs(path: Path, openvino: OpenVino) -> tuple[dict[str, Any], int] | None:
    """Return the graph of each net and the version of their evaluations (`Evaluator.version`); None if not saved."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata()
            graphs = {net: openvino.read(metadata[net], file.get_tensor(net)) for net in file.keys()}  # noqa: SIM118  # not a mapping
        version = int(metadata["version"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeUnavailableError):
        return None
    with suppress(OSError):
        os.utime(path)  # it is in use
    return graphs, version


def write_graphs(path: Path, openvino: OpenVino, graphs: Mapping[str, Any], version: int) -> None:
    """Save graphs at `path`, whole or not at all, and remove old files of the same folder. Raises `OSError`."""
    metadata, weights = {"version": str(version)}, {}
    for net, graph in graphs.items():
        metadata[net], weights[net] = openvino.written(graph)
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(weights, metadata))
    kept = sorted(path.parent.iterdir(), key=_last_used, reverse=True)
    for old in kept[_MAX_FILES:]:
        with suppress(OSError):
            old.unlink()


def _last_used(path: Path) -> float:
    try:
        instant = path.stat().st_mtime
    except OSError:  # another process has removed it
        return 0.0
    return instant if instant <= time.time() + _MAX_AHEAD_S else 0.0


def make_graphs(model: Path, precision: Precision) -> bool:
    """Convert a model file in a process of its own, so that this one needs no torch; return True on success."""
    command = [sys.executable, "-P", "-m", "nets.runtimes.conversion", str(model.resolve()), precision]
    try:
        ended = subprocess.run(
            command,
            # The path makes it import these modules, not the user's of the same name. One thread: with more, torch only
            # spins, and takes much longer on a busy machine.
            env={**os.environ, "PYTHONPATH": str(_SOURCES.parent), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ended.returncode == 0
