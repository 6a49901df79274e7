"""Devices of this machine: GPU, processor cores, and the precision that they are fast in."""

import ctypes
import functools
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from core.cores import processor_name
from core.errors import UsageError
from nets.config import AUTO_DEVICE, CPU_DEVICE, RuntimeNotice, default_runtime

if TYPE_CHECKING:
    import torch

_AMD_COMPUTE = Path("/dev/kfd")
"""The compute device of AMD's driver, which torch calls CUDA too."""


def may_have_gpu() -> bool:
    """Return True if torch may find a GPU. The check asks the driver, so torch need not be imported.

    It asks NVIDIA's driver for its devices as torch does, so `CUDA_VISIBLE_DEVICES` counts. After False `best_device`
    returns the CPU; after True its answer depends on the build of torch.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
            return True
    except (OSError, AttributeError):
        pass  # the driver is not installed
    return _AMD_COMPUTE.exists()


class DeviceError(UsageError, ValueError):
    """A device that torch does not find."""


def best_device(name: str | None = None) -> "torch.device":
    """Return the device of this name, by default that of the choice for the process (`RuntimeChoice.device`).

    Without a name it is the GPU if torch finds one, else the CPU, with a `RuntimeNotice` if the driver knows of a GPU.
    Raises `DeviceError`.
    """
    import torch

    name = name or default_runtime().device
    if name == AUTO_DEVICE:
        reason = torch_without_gpu()
        if reason:
            warnings.warn(f"torch does not use the GPU: {reason}; the processor computes", RuntimeNotice, stacklevel=2)
        return torch.device("cuda" if reason is None else CPU_DEVICE)
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name not in (CPU_DEVICE, *(["cuda"] if cards else []), *(f"cuda:{card}" for card in range(cards))):
        raise DeviceError(f"there is no device {name!r}: torch finds the CPU (cpu) and {cards} GPUs (cuda, cuda:1 ...)")
    return torch.device(name)


def torch_without_gpu() -> str | None:
    """Return why torch uses no GPU: an empty text where there is none, None if it uses one."""
    import torch

    if may_have_gpu():
        return _why_torch_uses_none()
    return None if torch.cuda.is_available() else ""


@functools.cache  # torch gives its reason once
def _why_torch_uses_none() -> str | None:
    import torch

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if torch.cuda.is_available():
            return None
    if torch.version.cuda is None and torch.version.hip is None:
        return f"torch {torch.__version__} is a build for processors alone"
    return str(said[0].message).splitlines()[0] if said else f"torch {torch.__version__} finds none"


def device_text() -> str:
    """Return the name of the device that computes, and of a GPU that does not, the reason; without torch if it can."""
    if not may_have_gpu():
        return f"{processor_name()} (no GPU)"
    import torch

    reason = torch_without_gpu()
    if reason is not None:
        return f"{processor_name()} (torch does not use the GPU: {reason})"
    return f"{torch.cuda.get_device_name()} (torch {torch.__version__})"


def best_precision(device: "torch.device") -> "torch.dtype":
    """Return bfloat16 if the device multiplies it natively, else float32, which is faster than emulated bfloat16."""
    import torch

    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        checks = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
        native = any(getattr(torch.cpu, name, lambda: False)() for name in checks)
    return torch.bfloat16 if native else torch.float32


def use_threads(count: int, others: int) -> None:
    """Make torch compute on `count` threads when this thread calls it, and on `others` when any other does.

    Threads that share small work wait for each other, and spin. torch applies a number to the thread that sets it and
    to all that have not read it yet. So this one reads it first, and a thread that ends at once sets it to `others`.
    """
    import torch

    torch.get_num_threads()
    torch.set_num_threads(count)
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()
