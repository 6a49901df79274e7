"""Rewrites of nets for less than float32: a little time buys much of the precision back.

Measured with the built-in model on five times 10,000 positions of its own games: the worst error of a prior and of a
value (medians of the five), and the share of unchanged top moves:

    OpenVINO as the nets come    0.024  0.020  99.0 %        OpenVINO with `refine`       0.019  0.015  99.3 %

and on ten times 10,000 positions of self-play:

    torch, all in bfloat16       0.026  0.021  98.8 %        torch with `narrow`          0.019  0.022  99.3 %
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

    def __init__(self, layer: ConvNorm) -> None:
        super().__init__()
        self.conv, self.bias = _without_bias(layer.conv)
        self.activated = layer.layer.activated
        _diffuse(self.conv)

    def forward(self, x: Tensor) -> Tensor:
        """See `ConvNorm.forward`."""
        # Without an operation in between, OpenVINO would merge the addition into the convolution as its bias.
        x = torch.clamp(self.conv(x), -_UNREACHABLE, _UNREACHABLE) + self.bias
        return torch.relu(x) if self.activated else x


class _FineConv(_BiasApart):
    """A convolution with its bias apart and each weight as a sum of two."""

    def __init__(self, layer: ConvNorm) -> None:
        weight = _halves(layer.conv.weight)
        super().__init__(layer)
        self.conv.weight = weight
        self.conv.in_channels *= 2

    def forward(self, x: Tensor) -> Tensor:
        """See `ConvNorm.forward`; takes the planes once, or already twice."""
        return super().forward(x if x.shape[1] == self.conv.in_channels else torch.cat((x, x), dim=1))


class _BlockBiasApart(nn.Module):
    """A residual block whose second bias is added after the shortcut, in the same pass."""

    def __init__(self, block: ResidualBlock) -> None:
        super().__init__()
        self.first = _BiasApart(block.first)
        self.conv, self.bias = _without_bias(block.second.conv)
        _diffuse(self.conv)

    def forward(self, x: Tensor) -> Tensor:
        """See `ResidualBlock.forward`."""
        return torch.relu(x + self.conv(self.first(x)) + self.bias)


def _without_bias(conv: nn.Conv2d) -> tuple[nn.Conv2d, nn.Parameter]:
    assert conv.bias is not None
    bias, conv.bias = nn.Parameter(conv.bias.detach().view(1, -1, 1, 1)), None
    return conv, bias


def _halves(weight: Tensor) -> nn.Parameter:
    """Return weights [out, 2 in, ...] for [out, in, ...]: each weight rounded to bfloat16, and the remainder."""
    coarse = weight.bfloat16().float()
    return nn.Parameter(torch.cat((coarse, weight - coarse), dim=1))


def _diffuse(layer: nn.Conv2d | nn.Linear) -> None:
    """Round a layer's weights to bfloat16, the error of each carried over to the next of the same output.

    Neighbouring inputs are alike, so that the errors of a sum nearly cancel.
    """
    weight = layer.weight.detach()
    rows = weight.flatten(1)
    rounded, carried = torch.empty_like(rows), rows.new_zeros(len(rows))
    for column in range(rows.shape[1]):
        wanted = rows[:, column] + carried
        rounded[:, column] = wanted.bfloat16()
        carried = wanted - rounded[:, column]
    layer.weight = nn.Parameter(rounded.view(weight.shape), requires_grad=False)


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
    """Rewrite a folded net for OpenVINO's bfloat16.

    OpenVINO rounds the biases of convolutions along with their weights, which shifts whole planes and in the end every
    value. So biases are added apart. The first layer, whose few planes leave room in a register, gets weights of twice
    the precision. All other weights are rounded here, so that their errors nearly cancel (`_diffuse`).
    """
    for name, child in module.named_children():
        if type(child) is ResidualBlock:  # a subclass may compute something else
            setattr(module, name, _BlockBiasApart(child))
        elif isinstance(child, ConvNorm):
            kind = _FineConv if child.conv.in_channels <= _FEW_PLANES else _BiasApart
            setattr(module, name, kind(child))
        elif isinstance(child, nn.Linear):
            _diffuse(child)
        else:
            refine(child)
