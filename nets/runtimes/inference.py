"""`InferenceNet`: a net as runtimes take it, with its planes made inside and its batch norms folded."""

import hashlib

import torch
from torch import Tensor

from core.evaluation import PositionBatch
from nets.blocks import channels_last, folded
from nets.config import Backend, Precision
from nets.dual import DualNet
from nets.planes import encode
from nets.runtimes.precision import DTYPES, narrow


class InferenceNet(torch.nn.Module):
    """A net from positions to logits and values, for inference only."""

    def __init__(self, model: DualNet, name: str, precision: Precision = Precision.FP32) -> None:
        super().__init__()
        self.net = channels_last(folded(model.nets[name])).requires_grad_(False)
        if precision is not Precision.FP32:
            narrow(self.net, precision)
        self._dtype = DTYPES[precision]
        self._planes = model.config.planes

    def forward(self, stones: Tensor, to_move: Tensor, last_moves: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [B, A] and values [B], float32. Arguments as in `nets.planes.encode`."""
        logits, values = self.net(encode(stones, to_move, last_moves, self._planes, self._dtype))
        return logits, values


def example_positions(count: int, cells: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return `count` empty boards as arguments of `InferenceNet`."""
    batch = PositionBatch.empty(count, cells)
    return torch.from_numpy(batch.stones), torch.from_numpy(batch.to_move), torch.from_numpy(batch.last_moves)


def version_of(model: DualNet, backend: Backend, precision: Precision) -> int:
    """Return the version of an evaluator: 63 bits of the weights, the library and the precision."""
    digest = hashlib.blake2b(f"{model.config} {backend} {precision}".encode(), digest_size=8)
    for tensor in model.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()) >> 1
