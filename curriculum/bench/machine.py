"""This machine: its description, the load of other processes, and the start-up time of the command."""

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.cores import cores, machine_bytes, processor_name
from curriculum.run.folder import installed_version
from nets.runtimes.devices import best_device
from nets.runtimes.net_evaluator import NetEvaluator

_VERSIONS_OF = ("numpy", "numba", "torch", "openvino", "onnxruntime")
_STARTS = 3


def machine() -> dict[str, Any]:
    """Return the description of this machine and its load before the benchmark."""
    return {
        "cores": cores(),
        "processor": processor_name(),
        "memory_bytes": machine_bytes(),
        "load_average": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "platform": platform.platform(),
        "python": platform.python_version(),
        **{name: version for name in _VERSIONS_OF if (version := installed_version(name))},
    }


class OtherProcesses:
    """The processor time that other processes take: the benchmark cannot have it."""

    def __init__(self) -> None:
        self._since = time.monotonic(), self._seconds()

    def cores(self) -> float | None:
        """Return the number of cores that they kept busy on average since this was made; None if not known."""
        (began, before), after = self._since, self._seconds()
        if before is None or after is None:
            return None
        return max(0.0, (after - before) / (time.monotonic() - began))

    @staticmethod
    def _seconds() -> float | None:
        times = Path("/proc/stat")
        if not times.is_file():
            return None
        user, nice, system, _, _, interrupts, soft_interrupts, *_ = map(int, times.read_text().split(maxsplit=11)[1:-1])
        busy = user + nice + system + interrupts + soft_interrupts
        return busy / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def startup(command: Sequence[str]) -> dict[str, Any]:
    """Return the median seconds that `command`, which prints its help, takes as a process of its own."""
    seconds = []
    for _ in range(_STARTS):
        start = time.perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return {"help_seconds": statistics.median(seconds)}


def backend(evaluator: NetEvaluator) -> dict[str, Any]:
    """Return the name, precision and device of the evaluator's runtime."""
    runtime = evaluator.runtime
    return {
        "name": runtime.backend.value,
        "precision": runtime.precision.value,
        "device": str(best_device()),
        "lanes": evaluator.lanes,
    }
