"""Serves a model's judgements to a search: batches by colour, on the device, in the precision that is fastest there."""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from core.batch import PositionBatch
from nets.allocator import keep_freed_memory
from nets.blocks import channels_last, folded
from nets.dual import DualNet


class _Slot(Protocol):
    """What is needed of a `search.evaluator.Slot`, which this package does not import."""

    positions: PositionBatch
    logits: NDArray[np.float32]
    values: NDArray[np.float32]
    count: int


def best_device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def best_precision(device: torch.device) -> torch.dtype:
    """bfloat16 where the device multiplies it natively, else float32."""
    if device.type == "cuda":
        return torch.bfloat16
    # Without these instructions bfloat16 is emulated, and slower than float32.
    native = any(
        getattr(torch.cpu, name, lambda: False)() for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    )
    return torch.bfloat16 if native else torch.float32


class NetEvaluator:
    """Judges positions with a model: batch norms folded, channels last, one worker thread that feeds the device.

    Satisfies `search.evaluator.Evaluator`. The model is copied: training it further changes nothing here.
    """

    def __init__(
        self, model: DualNet, *, device: torch.device | None = None, precision: torch.dtype | None = None
    ) -> None:
        keep_freed_memory()
        self.rules = model.rules
        self._device = device or best_device()
        self._dtype = precision or best_precision(self._device)
        self._model = channels_last(folded(model).to(self._device, self._dtype))
        # Threads of the executor are joined at the interpreter's exit; one inside torch then would abort it.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="net")

    def submit(self, slot: _Slot) -> Future[None]:
        """Judges the first `slot.count` positions on the worker thread; see `search.evaluator.Evaluator`."""
        return self._worker.submit(self._judge_slot, slot)

    def judge(self, positions: PositionBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits [B, A] and values [B] for the side to move, now and on this thread."""
        logits, values = self._judge(positions)
        return logits.numpy(), values.numpy()

    def close(self) -> None:
        """Joins the worker thread."""
        self._worker.shutdown()

    def _judge_slot(self, slot: _Slot) -> None:
        logits, values = self._judge(slot.positions.rows(slice(slot.count)))
        slot.logits[: slot.count] = logits.numpy()
        slot.values[: slot.count] = values.numpy()

    def _judge(self, positions: PositionBatch) -> tuple[Tensor, Tensor]:
        with torch.inference_mode():
            logits, values = self._model(
                torch.from_numpy(positions.stones).to(self._device),
                torch.from_numpy(positions.to_move).to(self._device),
                torch.from_numpy(positions.last_moves).to(self._device),
            )
            return logits.float().cpu(), values.float().cpu()
