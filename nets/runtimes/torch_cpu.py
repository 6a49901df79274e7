"""The runtime of torch on the processor, which is always available."""

from collections.abc import Sequence

import torch

from core.cores import cores
from core.evaluation import PositionBatch
from nets.config import Backend, Precision
from nets.dual import DualNet
from nets.runtimes.devices import best_precision
from nets.runtimes.inference import InferenceNet
from nets.runtimes.runtime import Piece, scatter


class TorchRuntime:
    """torch on the CPU, with batch norms folded and channels last."""

    backend = Backend.TORCH
    sizes: tuple[int, ...] = (256,)
    any_thread = False  # on other threads torch uses all cores, and waits for them
    large_batches = False

    def __init__(self, model: DualNet, precision: Precision) -> None:
        """Every precision works, but bfloat16 is slow if the processor does not multiply it natively."""
        native = best_precision(torch.device("cpu")) is torch.bfloat16
        if precision is Precision.AUTO:
            precision = Precision.BF16 if native else Precision.FP32
        self.precision = precision
        self.lanes = self.threads = cores()
        self.free_cores = 1
        self._nets = {name: InferenceNet(model, name, precision) for name in model.nets}

    def evaluate(self, net: str, pieces: Sequence[Piece]) -> None:
        """See `Runtime`."""
        batch = PositionBatch.concatenate([piece.positions.rows(piece.rows) for piece in pieces])
        with torch.inference_mode():
            logits, values = self._nets[net](
                torch.from_numpy(batch.stones), torch.from_numpy(batch.to_move), torch.from_numpy(batch.last_moves)
            )
        scatter(pieces, logits.float().numpy(), values.float().numpy())
