"""Rewrites of nets for less than float32: a little time buys much of the precision back.

Measured with the built-in model on ten times 10,000 positions of self-play: the worst error of a prior and of a value
(medians of the ten), and the share of unchanged top moves:

    torch, all in bfloat16       0.026  0.021  98.8 %        OpenVINO as the nets come    0.021  0.022  99.1 %
    torch with `narrow`          0.019  0.022  99.3 %        OpenVINO with `refine`       0.018  0.018  99.3 %
"""

import torch
from torch import Tensor, nn

from nets.blocks import ConvNorm, ResidualBlock
from nets.config import Precision

DTYPES = {Precision.FP32: torch.float32, Precision.BF16: torch.bfloat16, Precision.FP16: torch.float16}
"""torch's number format of each precision."""
_FEW_PLANES = 8
_UNREACHABLE = 1e30


class _BiasApart(nn.Module):
    """A convolution whose bias is added in float32, in the same pass."""

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__()
        self.conv, self.bias = _without_bias(conv)

    def forward(self, x: Tensor) -> Tensor:
        """See `Conv2d.forward`."""
        # Without an operation in between, OpenVINO would merge the addition into the convolution as its bias.
        return torch.clamp(self.conv(x), -_UNREACHABLE, _UNREACHABLE) + self.bias


class _FineConv(_BiasApart):
    """A convolution with its bias apart and each weight as a sum of two."""

    def __init__(self, conv: nn.Conv2d) -> None:
        super().__init__(conv)
        conv.weight = _halves(conv.weight)

    def forward(self, x: Tensor) -> Tensor:
        """See `Conv2d.forward`."""
        return super().forward(torch.cat((x, x), dim=1))


class _BlockBiasApart(nn.Module):
    """A residual block whose second bias is added after the shortcut, in the same pass."""

    def __init__(self, block: ResidualBlock) -> None:
        super().__init__()
        self.first = _BiasApart(block.first.conv)
        self.conv, self.bias = _without_bias(block.second.conv)

    def forward(self, x: Tensor) -> Tensor:
        """See `ResidualBlock.forward`."""
        return torch.relu(x + self.conv(torch.relu(self.first(x))) + self.bias)


class _FineLinear(nn.Module):
    """A fully connected layer with each weight as a sum of two."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear
        linear.weight = _halves(linear.weight)

    def forward(self, x: Tensor) -> Tensor:
        """See `Linear.forward`."""
        result: Tensor = self.linear(torch.cat((x, x), dim=1))
        return result


def _without_bias(conv: nn.Conv2d) -> tuple[nn.Conv2d, nn.Parameter]:
    assert conv.bias is not None
    bias, conv.bias = nn.Parameter(conv.bias.detach().view(1, -1, 1, 1)), None
    return conv, bias


def _halves(weight: Tensor) -> nn.Parameter:
    """Return weights [out, 2 in, ...] for [out, in, ...]: each weight rounded to bfloat16, and the remainder."""
    coarse = weight.bfloat16().float()
    return nn.Parameter(torch.cat((coarse, weight - coarse), dim=1))


class _WideLinear(nn.Module):
    """A fully connected layer that computes in float32."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.linear = linear

    def forward(self, x: Tensor) -> Tensor:
        """See `Linear.forward`."""
        result: Tensor = self.linear(x.float())
        return result


def narrow(module: nn.Module, precision: Precision) -> None:
    """Make a net's convolutions compute in `precision`, its fully connected layers, which cost little, in float32."""
    for name, child in module.named_children():
        if isinstance(child, nn.Conv2d):
            child.to(DTYPES[precision])
        elif isinstance(child, nn.Linear):
            setattr(module, name, _WideLinear(child))
        else:
            narrow(child, precision)


def refine(module: nn.Module) -> None:
    """Rewrite a folded net for OpenVINO's bfloat16; in float32 it computes the same as before.

    OpenVINO rounds the biases of convolutions along with their weights, which shifts whole planes and in the end every
    value. So biases are added apart. Some layers get weights of twice the precision at little cost: the first one,
    whose few planes leave room in a register, and the fully connected ones.
    """
    for name, child in module.named_children():
        if type(child) is ResidualBlock:  # a subclass may compute something else
            setattr(module, name, _BlockBiasApart(child))
        elif isinstance(child, ConvNorm):
            kind = _FineConv if child.conv.in_channels <= _FEW_PLANES else _BiasApart
            setattr(module, name, kind(child.conv))
        elif isinstance(child, nn.Linear):
            setattr(module, name, _FineLinear(child))
        else:
            refine(child)
