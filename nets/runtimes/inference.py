"""Nets as runtimes take them, their batch norms folded: `InferenceNet` from positions, `PlanesNet` from planes."""

import hashlib

import torch
from torch import Tensor, nn

from core.evaluation import PositionBatch
from nets.architectures import PolicyValueNet
from nets.blocks import channels_last, folded
from nets.config import Backend, Precision
from nets.dual import DualNet
from nets.planes import encode
from nets.runtimes.precision import DTYPES, narrow, refine


class InferenceNet(nn.Module):
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


class MergedHeads(nn.Module):
    """A folded `PolicyValueNet` whose two heads share one 1x1 convolution, so that the trunk's output is read once."""

    def __init__(self, net: PolicyValueNet) -> None:
        """Takes the parts of `net`, which is of no use any more."""
        super().__init__()
        self.stem, self.tower = net.stem, net.tower
        self.policy, self.value_hidden, self.value = net.policy, net.value_hidden, net.value
        self.heads = net.policy_conv  # a new one would draw random weights
        policy, value = net.policy_conv.conv, net.value_conv.conv
        assert policy.bias is not None
        assert value.bias is not None
        policy.weight = nn.Parameter(torch.cat((policy.weight, value.weight)))
        policy.bias = nn.Parameter(torch.cat((policy.bias, value.bias)))
        policy.out_channels += value.out_channels

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See `PolicyValueNet.forward`."""
        x = self.tower(torch.relu(self.stem(planes)))
        both = torch.relu(self.heads(x)).reshape(x.shape[0], -1)
        split = self.policy.in_features
        logits: Tensor = self.policy(both[:, :split])
        hidden = torch.relu(self.value_hidden(both[:, split:]))
        # Not as a matrix product: OpenVINO would merge it with the one before in some batch sizes and round the result.
        value = (hidden * self.value.weight[0]).sum(1) + self.value.bias
        return logits, torch.tanh(value)


class PlanesNet(nn.Module):
    """A net from planes to logits and values, for OpenVINO."""

    def __init__(self, model: DualNet, name: str, *, refined: bool) -> None:
        """`refined`: rewritten for bfloat16 (`nets.runtimes.precision.refine`)."""
        super().__init__()
        net = folded(model.nets[name])
        assert isinstance(net, PolicyValueNet)
        self.net = channels_last(MergedHeads(net)).requires_grad_(False)
        if refined:
            refine(self.net)
        self.planes = self.net.stem.conv.in_channels
        """Planes of the input: all of the configuration, or all of them twice."""

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [B, A] and values [B] for planes [B, D, D, C], channels last."""
        result: tuple[Tensor, Tensor] = self.net(planes.permute(0, 3, 1, 2))
        return result


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
