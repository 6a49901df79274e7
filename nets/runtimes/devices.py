"""Devices of this machine: GPU, processor cores, and the precision that they are fast in."""

import ctypes
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import UsageError
from nets.config import AUTO_DEVICE, CPU_DEVICE, default_runtime

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

    Raises `DeviceError`.
    """
    import torch

    name = name or default_runtime().device
    if name == AUTO_DEVICE:
        name = "cuda" if torch.cuda.is_available() else CPU_DEVICE
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name not in (CPU_DEVICE, *(["cuda"] if cards else []), *(f"cuda:{card}" for card in range(cards))):
        raise DeviceError(f"there is no device {name!r}: torch finds the CPU (cpu) and {cards} GPUs (cuda, cuda:1 ...)")
    return torch.device(name)


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
