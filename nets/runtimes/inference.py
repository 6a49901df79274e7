"""Nets as runtimes take them, their batch norms folded: `InferenceNet` from positions, `PlanesNet` from planes."""

import hashlib

import torch
from torch import Tensor, nn

from nets.blocks import ConvNorm, Dense, channels_last, folded
from nets.config import Backend, Precision
from nets.dual import DualNet, PolicyValueNet
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


class _ConvHeads(nn.Module):
    """Two heads that share their 1x1 convolution, so that the trunk's output is read once."""

    def __init__(self, policy: nn.Sequential, value: nn.Sequential) -> None:
        super().__init__()
        first, second = policy[0], value[0]
        assert isinstance(first, ConvNorm)
        assert isinstance(second, ConvNorm)
        self.conv = first  # a new one would draw random weights
        assert first.conv.bias is not None
        assert second.conv.bias is not None
        first.conv.weight = nn.Parameter(torch.cat((first.conv.weight, second.conv.weight)))
        first.conv.bias = nn.Parameter(torch.cat((first.conv.bias, second.conv.bias)))
        first.conv.out_channels += second.conv.out_channels
        self.policy, self.value = policy[1:], value[1:]
        dense = policy[1]
        assert isinstance(dense, Dense)
        self._split = dense.linear.in_features

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        both = self.conv(x).reshape(x.shape[0], -1)
        return self.policy(both[:, : self._split]), self.value(both[:, self._split :])

    @staticmethod
    def fits(policy: nn.Sequential, value: nn.Sequential) -> bool:
        """Return True for heads that each begin with a 1x1 convolution and a fully connected layer."""
        return all(
            len(head) > 1
            and isinstance(head[0], ConvNorm)
            and head[0].conv.kernel_size == (1, 1)
            and head[0].conv.padding == (0, 0)
            and head[0].layer.activated
            and isinstance(head[1], Dense)
            for head in (policy, value)
        )


class _TwoHeads(nn.Module):
    """Two heads on their own."""

    def __init__(self, policy: nn.Sequential, value: nn.Sequential) -> None:
        super().__init__()
        self.policy, self.value = policy, value

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.policy(x).reshape(x.shape[0], -1), self.value(x)


class _LastUnit(nn.Module):
    """The last layer of a value head, not as a matrix product.

    OpenVINO would merge that with the one before in some batch sizes and round the result.
    """

    def __init__(self, dense: nn.Module) -> None:
        super().__init__()
        assert isinstance(dense, Dense)
        self.weight, self.bias = dense.linear.weight, dense.linear.bias

    def forward(self, x: Tensor) -> Tensor:
        return (x.reshape(x.shape[0], -1) * self.weight[0]).sum(1) + self.bias


class MergedHeads(nn.Module):
    """A folded `PolicyValueNet`, its two heads merged where they allow it."""

    def __init__(self, net: PolicyValueNet) -> None:
        """Takes the parts of `net`, which is of no use any more."""
        super().__init__()
        self.trunk = net.trunk
        *hidden, last = net.value.children()
        value = nn.Sequential(*hidden, _LastUnit(last))
        heads = _ConvHeads if _ConvHeads.fits(net.policy, value) else _TwoHeads
        self.heads = heads(net.policy, value)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """See `PolicyValueNet.forward`."""
        logits, value = self.heads(self.trunk(planes))
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
        first = self.net.trunk[0].conv
        assert isinstance(first, nn.Conv2d)
        self.planes = first.in_channels
        """Planes of the input: all of the configuration, or all of them twice."""

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits [B, A] and values [B] for planes [B, D, D, C], channels last."""
        result: tuple[Tensor, Tensor] = self.net(planes.permute(0, 3, 1, 2))
        return result


def version_of(model: DualNet, backend: Backend, precision: Precision) -> int:
    """Return the version of an evaluator: 63 bits of the weights, the library and the precision."""
    digest = hashlib.blake2b(f"{model.config} {backend} {precision}".encode(), digest_size=8)
    for tensor in model.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return int.from_bytes(digest.digest()) >> 1
