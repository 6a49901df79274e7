"""Serves a model's judgements to a search."""

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from core.batch import PositionBatch
from core.rules import BLACK
from nets.allocator import keep_freed_memory
from nets.batching import Batcher, Submission
from nets.config import Planes, RuntimeChoice, default_runtime
from nets.devices import best_device
from nets.dual import DualNet
from nets.runtimes import Piece, Rows, Runtime, open_runtime


class _Slot(Protocol):
    """What is needed of a `search.evaluator.Slot`, which this package does not import."""

    positions: PositionBatch
    logits: NDArray[np.float32]
    values: NDArray[np.float32]
    count: int


class NetEvaluator:
    """Judges positions with a model; satisfies `search.evaluator.Evaluator`.

    The model is copied: training it further changes nothing here.
    """

    def __init__(
        self, model: DualNet, choice: RuntimeChoice | None = None, *, device: torch.device | None = None
    ) -> None:
        """Runs the nets as `choice` says, or as was chosen for the whole process (`nets.config.set_runtime`)."""
        keep_freed_memory()
        self.rules = model.rules
        self.runtime: Runtime = open_runtime(model, choice or default_runtime(), device or best_device())
        self.lanes = self.runtime.lanes
        """Batches that it can work on side by side."""
        self.free_cores = self.runtime.free_cores
        """Threads that it leaves to the search."""
        self.version = _version(model, self.runtime)
        """63 bits that differ where answers may: of the weights and of what they run on."""
        self.last_moves = 2 if model.config.planes is Planes.FIVE else 1
        """How many of the last moves the nets see."""
        self._dual = model.config.dual
        # Threads of the executor are joined at the interpreter's exit; one inside torch then would abort it.
        self._threads = ThreadPoolExecutor(
            self.runtime.threads, "net", initializer=_use_one_core, initargs=(torch.get_num_threads(),)
        )
        self._batcher = Batcher(self.runtime, self._threads)

    def submit(self, slot: _Slot) -> Submission:
        """Starts judging the first `slot.count` positions; see `search.evaluator.Evaluator`."""
        return self._start(slot.positions, slot.count, slot.logits, slot.values)

    def judge(self, positions: PositionBatch) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Logits [B, A] and values [B] for the side to move."""
        logits = np.empty(positions.stones.shape, dtype=np.float32)
        values = np.empty(len(positions), dtype=np.float32)
        self._start(positions, len(positions), logits, values).result()
        return logits, values

    def _start(
        self, positions: PositionBatch, count: int, logits: NDArray[np.float32], values: NDArray[np.float32]
    ) -> Submission:
        parts = rows_by_net(positions.to_move[:count], self._dual)
        return self._batcher.submit([(net, Piece(rows, positions, logits, values)) for net, rows in parts])

    def close(self) -> None:
        """Joins the threads."""
        self._threads.shutdown()


def rows_by_net(to_move: NDArray[np.int8], dual: bool) -> list[tuple[str, Rows]]:
    """Which net judges which rows of a batch with `to_move` [B]; nets without a row are left out."""
    if dual:
        shares = [("black", np.flatnonzero(to_move == BLACK)), ("white", np.flatnonzero(to_move != BLACK))]
    else:
        shares = [("shared", np.arange(len(to_move)))]
    return [(net, rows) for net, rows in shares if len(rows)]


def _use_one_core(others: int) -> None:
    """Has torch compute on this thread alone: threads that share a small batch wait for each other, and spin.

    What torch is told on one thread holds for it and for all that have not asked yet; so this one asks first, and
    `others`, the number that was in force before, is then told again on a thread that ends.
    """
    torch.get_num_threads()
    torch.set_num_threads(1)
    restore = threading.Thread(target=torch.set_num_threads, args=(others,))
    restore.start()
    restore.join()


def _version(model: DualNet, runtime: Runtime) -> int:
    digest = hashlib.blake2b(f"{model.config} {runtime.backend} {runtime.precision}".encode(), digest_size=8)
    for tensor in model.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()) >> 1
