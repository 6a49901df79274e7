"""OpenVINO's graphs of models, saved in the user's cache folder: a process that only plays starts without torch.

A file holds the graphs of all nets of a model and the version of their evaluations. Its name is a hash of all sources
of the graphs, so it is never out of date. A damaged or foreign file counts as missing (`core.files.cache_folder`).
"""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from core.files.cache_folder import CacheFolder, user_cache_folder
from core.input_limits import MAX_GRAPHS_BYTES
from core.rules import Rules
from nets.config import Precision
from nets.runtimes.openvino import OpenVino
from nets.runtimes.runtime import RuntimeUnavailableError

_MAX_FILES = 32
"""Of more files the least recently used are removed."""
_WITHOUT = "every start prepares the model, which takes some seconds"
_VERSION = "version"
_XML = ".xml"
"""Ending of the name of a graph; the weights have the name of the net."""
_MAX_GROWTH = 4
"""Size of the graphs over that of the model file."""
_SOURCES = Path(__file__).parent.parent
_TIMEOUT_S = 120.0
"""Limit of a conversion."""


def graphs_path(model: Path, rules: Rules, openvino: OpenVino) -> Path:
    """Return the path of a model file's saved graphs for some rules.

    Raises `OSError` if the model file cannot be read.
    """
    digest = hashlib.sha256(f"{openvino.module.__version__}/{openvino.precision}/{rules.size}".encode())
    for path in (*sorted(_SOURCES.rglob("*.py")), model):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return user_cache_folder() / "graphs" / f"{digest.hexdigest()[:32]}.graphs"


def read_graphs(path: Path, openvino: OpenVino) -> tuple[dict[str, Any], int] | None:
    """Return the graph of each net and the version of their evaluations (`Evaluator.version`); None if not saved."""
    data = _folder(path).read(path.name, MAX_GRAPHS_BYTES)
    if data is None:
        return None
    arrays = load(bytes(data))
    version = int(arrays.pop(_VERSION)[0])
    texts = {name.removesuffix(_XML): arrays.pop(name).tobytes().decode() for name in list(arrays) if _XML in name}
    try:
        graphs = {net: openvino.read(texts[net], weights) for net, weights in arrays.items()}
    except RuntimeUnavailableError:
        return None
    with suppress(OSError):
        os.utime(path)  # it is in use
    return graphs, version


def _folder(path: Path) -> CacheFolder:
    return CacheFolder(path.parent, _WITHOUT)


def can_be_saved(path: Path, model: Path) -> bool:
    """Return True if there is room for a model's graphs at `path`; if not, give the notice. Raises `OSError`."""
    return _folder(path).has_room(_MAX_GROWTH * model.stat().st_size)


def write_graphs(path: Path, openvino: OpenVino, graphs: Mapping[str, Any], version: int) -> bool:
    """Save graphs at `path`, whole or not at all, and remove old files of the same folder; return True on success."""
    arrays: dict[str, NDArray[Any]] = {_VERSION: np.array([version], np.int64)}
    for net, graph in graphs.items():
        xml, arrays[net] = openvino.written(graph)
        arrays[net + _XML] = np.frombuffer(xml.encode(), np.uint8)
    if not _folder(path).write(path.name, save(arrays)):
        return False
    _folder(path).keep_newest(_MAX_FILES)
    return True


def make_graphs(model: Path, rules: Rules, precision: Precision) -> bool:
    """Convert a model file in a process of its own, so that this one needs no torch; return True on success."""
    command = [sys.executable, "-P", "-m", "nets.runtimes.conversion", str(model.resolve()), precision]
    command += [str(rules.size), str(rules.connect), rules.variant]
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
