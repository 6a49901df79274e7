"""The processor: its name, its instruction sets, the cores that this process may use, and threads; and the memory."""

import os
import platform
import subprocess
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_INSTRUCTION_SETS = (
    *("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "amx_int8"),
    *("asimd", "sve", "bf16", "i8mm"),
)

_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")

_max_cores: int | None = None


def cores() -> int:
    """Return their number: a container, `taskset` or `limit_cores` may leave fewer than the machine has."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return within_limit(count)


def within_limit(count: int) -> int:
    """Return a number of cores, or the maximum of `limit_cores` if that is lower."""
    return count if _max_cores is None else min(count, _max_cores)


def limit_cores(count: int | None) -> None:
    """Set a maximum of 1 or more for the models loaded and the searches begun from now on; None sets none."""
    global _max_cores
    _max_cores = count


class Threads(ThreadPoolExecutor):
    """Threads for work. A forked process, which has none of its parent's, starts its own."""

    def __init__(self, count: int, name: str, initializer: Callable[[], object] | None = None) -> None:
        self._arguments = count, name, initializer
        _THREADS.add(self)
        super().__init__(*self._arguments)

    def forget(self) -> None:
        """Drop the threads and their work, which are those of the parent."""
        super().__init__(*self._arguments)


_THREADS: "weakref.WeakSet[Threads]" = weakref.WeakSet()


def _forget_threads() -> None:
    for threads in list(_THREADS):
        threads.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def processor_name() -> str:
    """Return the name of the processor's model, as far as the system tells it."""
    return _cpu_info("model name") or _sysctl("machdep.cpu.brand_string") or platform.processor() or platform.machine()


def instruction_sets() -> list[str]:
    """Return the instruction sets of the processor on which the speed of nets depends, as far as the system tells."""
    told = _cpu_info("flags") or _cpu_info("Features")
    told = told or f"{_sysctl('machdep.cpu.features')} {_sysctl('machdep.cpu.leaf7_features')}"
    known = set(told.lower().split())
    return [name for name in _INSTRUCTION_SETS if name in known]


def machine_bytes() -> int | None:
    """Return the memory of the machine, or of a container with less; None if the system does not report it."""
    if not hasattr(os, "sysconf"):
        return None
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = _CONTAINER_LIMIT.read_text(encoding="ascii").strip() if _CONTAINER_LIMIT.is_file() else ""
    return min(machine, int(limit)) if limit.isdigit() else machine


def resident_bytes() -> int | None:
    """Return the resident memory of this process; None if the system does not report it."""
    sizes = Path("/proc/self/statm")
    return int(sizes.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") if sizes.is_file() else None


def _cpu_info(key: str) -> str:
    """Return a value of the first processor in Linux' list, or an empty text."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    values = [line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip() == key]
    return values[0] if values else ""


def _sysctl(key: str) -> str:
    """Return a value of macOS, or an empty text."""
    if platform.system() != "Darwin":
        return ""
    return subprocess.run(["sysctl", "-n", key], capture_output=True, text=True).stdout.strip()
