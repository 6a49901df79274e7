"""The largest batch and the number of threads with which OpenVINO is fastest on this machine.

`gomoku warmup` measures and keeps them (`curriculum.bench.tuning`). Without a measurement the defaults hold. Needs
neither torch nor OpenVINO.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass

from core.cores import cores, processor_name
from core.files.cache_folder import CacheFolder, user_cache_folder
from core.files.json_text import parse_json
from nets.config import Precision

LARGEST_BATCHES = (128, 256, 512)
"""The sizes that may be the largest, ascending."""
_MAX_BYTES = 1_000
_WITHOUT = "OpenVINO runs with the batch size and the threads that suit most machines"


@dataclass(frozen=True, slots=True)
class Tuning:
    """The measured numbers."""

    largest_batch: int = LARGEST_BATCHES[0]
    """One of `LARGEST_BATCHES`."""
    threads: int | None = None
    """Threads that evaluate side by side; None for all cores."""


def _file_name(version: str, precision: Precision) -> str:
    """Return the name of the file for this machine: what was measured elsewhere does not count."""
    parts = (processor_name(), str(os.cpu_count()), str(cores()), version, precision)
    return f"{hashlib.sha256('/'.join(parts).encode()).hexdigest()[:32]}.json"


def _folder() -> CacheFolder:
    return CacheFolder(user_cache_folder() / "tuning", _WITHOUT)


def kept_tuning(version: str, precision: Precision) -> Tuning | None:
    """Return the numbers measured on this machine for a version of OpenVINO, None before a measurement."""
    data = _folder().read(_file_name(version, precision), _MAX_BYTES)
    if data is None:
        return None
    try:
        found = parse_json(bytes(data))
        tuning = Tuning(found["largest_batch"], found["threads"])
    except (ValueError, KeyError, TypeError):
        return None
    whole = tuning.threads is None or (type(tuning.threads) is int and 1 <= tuning.threads <= cores())
    return tuning if whole and tuning.largest_batch in LARGEST_BATCHES else None


def keep_tuning(version: str, precision: Precision, tuning: Tuning) -> bool:
    """Keep measured numbers; return True on success."""
    return _folder().write(_file_name(version, precision), json.dumps(asdict(tuning)).encode())
