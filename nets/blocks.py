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
                nn.init.kaiming_normal_(child.weight, nonlinearity="relu")
                nn.init.zeros_(child.bias)  # type: ignore[arg-type]  # Conv2d types its bias as optional

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


class ConvNorm(LayerModule):
    """A convolution, which keeps its bias, its batch norm (A table I) and its ReLU, as far as it has them."""

    layer: Convolution
    conv: nn.Conv2d

    def fold(self) -> None:
        """Merge the batch norm's running statistics into the convolution; for inference only."""
        if isinstance(norm := getattr(self, "norm", None), nn.BatchNorm2d):
            self.conv = fuse_conv_bn_eval(self.conv, norm)
            self.norm = nn.Identity()


class ResidualBlock(LayerModule):
    """Two 3x3 convolutions around a shortcut (A table I)."""

    first: ConvNorm
    second: ConvNorm


class Dense(LayerModule):
    """A fully connected layer, with ReLU unless it is the last one of a head."""

    linear: nn.Linear


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
