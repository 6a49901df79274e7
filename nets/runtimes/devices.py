"""What this machine has to run nets on."""

import ctypes
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_AMD_COMPUTE = Path("/dev/kfd")
"""The device of AMD's driver for computing, which torch calls CUDA too."""


def may_have_gpu() -> bool:
    """Whether torch may find a GPU; asks the drivers, so that nobody imports torch only to hear that there is none.

    NVIDIA's driver is asked for its devices as torch asks it, `CUDA_VISIBLE_DEVICES` heeded. Where this says no,
    `best_device` does too; where it says yes, that depends on what torch was built for.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        count = ctypes.c_int()
        if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
            return True
    except (OSError, AttributeError):
        pass  # there is no such driver
    return _AMD_COMPUTE.exists()


def best_device() -> "torch.device":
    """The GPU where there is one."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def best_precision(device: "torch.device") -> "torch.dtype":
    """bfloat16 where the device multiplies it natively, else float32: bfloat16 emulated is slower than that."""
    import torch

    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
        native = any(getattr(torch.cpu, name, lambda: False)() for name in asked)
    return torch.bfloat16 if native else torch.float32


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
