"""Modules of layers: torch's side of `nets.layers`, with classes of their own for layers that runtimes know."""

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nets.layers.board import Convolution, FullyConnected, Residual
from nets.layers.lines import LineFeatures, LinePolicy, LineSpread, LineValue
from nets.layers.parts import Conv, Layer, Linear, Norm
from nets.line_blocks import LineFeatureBlock, LinePolicyHead, LineSpreadBlock, LineValueHead

Net = TypeVar("Net", bound=nn.Module)


class LayerModule(nn.Module):
    """A layer, whose function is `Layer.forward` over the modules of its parts."""

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        self.layer = layer
        for name, part in layer.parts().items():
            self.add_module(name, _part(part) if isinstance(part, Conv | Norm | Linear) else module_of(part))
        for child in self.children():
            if isinstance(child, nn.Conv2d):
                _initialise(child)

    def forward(self, x: Tensor) -> Tensor:
        """See `Layer.forward`."""
        return self.layer.forward(self, x)


def _part(part: Conv | Norm | Linear) -> nn.Module:
    match part:
        case Conv():
            ins, outs = part.channels_in, part.channels_out
            return nn.Conv2d(ins, outs, part.kernel, padding=part.padding, groups=part.groups)
        case Norm():
            return nn.BatchNorm2d(part.channels)
        case Linear():
            return nn.Linear(part.units_in, part.units_out)


class ConvNorm(nn.Module):
    """A convolution, which keeps its bias, its batch norm (A table I) and its ReLU, as far as it has them."""

    def __init__(self, layer: Convolution) -> None:
        super().__init__()
        self.conv = nn.Conv2d(layer.channels_in, layer.channels_out, layer.kernel, padding=layer.padding)
        self.norm: nn.Module = nn.BatchNorm2d(layer.channels_out) if layer.normed else nn.Identity()
        self.activated = layer.activated
        _initialise(self.conv)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels_in, D, D] to [B, channels_out, D, D], or a larger board with more padding."""
        x = self.norm(self.conv(x))
        return torch.relu(x) if self.activated else x

    def fold(self) -> None:
        """Merge the batch norm's running statistics into the convolution; for inference only."""
        if isinstance(self.norm, nn.BatchNorm2d):
            self.conv = fuse_conv_bn_eval(self.conv, self.norm)
            self.norm = nn.Identity()


class ResidualBlock(LayerModule):
    """Two 3x3 convolutions around a shortcut (A table I)."""

    first: ConvNorm
    second: ConvNorm


class Dense(nn.Module):
    """A fully connected layer, with ReLU unless it is the last one of a head."""

    def __init__(self, layer: FullyConnected) -> None:
        super().__init__()
        self.linear = nn.Linear(layer.units_in, layer.units_out)
        self.activated = layer.activated

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, ...], `units_in` numbers a row, to [B, units_out]."""
        # reshape, not flatten: it reads channels-last memory in the order of the planes.
        x = self.linear(x.reshape(x.shape[0], -1))
        return torch.relu(x) if self.activated else x


_OWN_MODULES: dict[type[Layer], Callable[[Any], nn.Module]] = {
    Convolution: ConvNorm,
    Residual: ResidualBlock,
    FullyConnected: Dense,
    LineFeatures: LineFeatureBlock,
    LineSpread: LineSpreadBlock,
    LinePolicy: LinePolicyHead,
    LineValue: LineValueHead,
}
"""Of layers that runtimes know."""


def module_of(layer: Layer) -> nn.Module:
    """Return a layer with new weights."""
    return _OWN_MODULES.get(type(layer), LayerModule)(layer)


def _initialise(conv: nn.Conv2d) -> None:
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    nn.init.zeros_(conv.bias)  # type: ignore[arg-type]  # Conv2d types its bias as optional


def channels_last(net: Net) -> Net:
    """Return `net` with its convolutions' weights channels last in memory, as planes are (`nets.planes`)."""
    result: Net = net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it
    return result


def folded(net: Net) -> Net:
    """Return a copy of `net` for inference, its batch norms folded into the convolutions."""
    result = copy.deepcopy(net).eval()
    for module in result.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return result
