"""What this machine has to run nets on."""

import os

import torch


def best_device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def best_precision(device: torch.device) -> torch.dtype:
    """bfloat16 where the device multiplies it natively, else float32: bfloat16 emulated is slower than that."""
    if device.type == "cuda":
        native = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
        native = any(getattr(torch.cpu, name, lambda: False)() for name in asked)
    return torch.bfloat16 if native else torch.float32


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
