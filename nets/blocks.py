"""Building blocks of the nets: a module for each kind of layer."""

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from nets.layers import (
    Attention,
    Convolution,
    FullyConnected,
    GlobalMaximum,
    Layer,
    LineFeatures,
    LinePolicy,
    LineSpread,
    LineValue,
    PoolingBias,
    Residual,
)
from nets.line_blocks import LineFeatureBlock, LinePolicyHead, LineSpreadBlock, LineValueHead

Net = TypeVar("Net", bound=nn.Module)

_MEAN_WIDTH, _WIDTH_SCALE = 14.0, 10.0
"""Of the board's width in global pooling; KataGo's numbers."""


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


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut (A table I)."""

    def __init__(self, layer: Residual) -> None:
        super().__init__()
        self.first, self.second = (ConvNorm(convolution) for convolution in layer.convolutions)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to the same shape."""
        return torch.relu(x + self.second(self.first(x)))


class GlobalPoolingBias(nn.Module):
    """Some channels, pooled over the board, bias the others (S III-B2; KataGo)."""

    def __init__(self, layer: PoolingBias) -> None:
        super().__init__()
        self.pooled = layer.pooled
        self.norm = nn.BatchNorm2d(layer.pooled)
        self.linear = nn.Linear(3 * layer.pooled, layer.channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, pooled + channels, D, D] to [B, channels, D, D]."""
        pooled, x = torch.relu(self.norm(x[:, : self.pooled])), x[:, self.pooled :]
        mean = pooled.mean((2, 3))
        scaled = mean * ((x.shape[2] - _MEAN_WIDTH) / _WIDTH_SCALE)
        return _biased(x, self.linear(torch.cat((mean, scaled, pooled.amax((2, 3))), dim=1)))


class GlobalAttentionBlock(nn.Module):
    """The global attention residual block, GARB (S III-C; NoGoZero+)."""

    def __init__(self, layer: Attention) -> None:
        super().__init__()
        self.local = local = layer.channels - layer.pooled
        self.local_norm = nn.BatchNorm2d(local)
        self.local_conv = nn.Conv2d(local, local, 3, padding=1)
        self.pooled_norm = nn.BatchNorm2d(layer.pooled)
        self.pooled_conv = nn.Conv2d(layer.pooled, layer.pooled, 3, padding=1)
        self.linear = nn.Linear(2 * layer.pooled, local)
        self.out_conv = nn.Conv2d(local, layer.channels, 3, padding=1)
        for conv in (self.local_conv, self.pooled_conv, self.out_conv):
            _initialise(conv)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to the same shape."""
        local = self.local_conv(torch.relu(self.local_norm(x[:, : self.local])))
        pooled = self.pooled_conv(torch.relu(self.pooled_norm(x[:, self.local :])))
        bias = self.linear(torch.cat((pooled.mean((2, 3)), pooled.amax((2, 3))), dim=1))
        result: Tensor = x + self.out_conv(_biased(local, bias))
        return result


class BoardMaximum(nn.Module):
    """The maximum of each channel over the board."""

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to [B, channels]."""
        return x.amax((2, 3))


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


def module_of(layer: Layer) -> nn.Module:
    """Return a layer with new weights."""
    match layer:
        case Convolution():
            return ConvNorm(layer)
        case Residual():
            return ResidualBlock(layer)
        case PoolingBias():
            return GlobalPoolingBias(layer)
        case Attention():
            return GlobalAttentionBlock(layer)
        case GlobalMaximum():
            return BoardMaximum()
        case FullyConnected():
            return Dense(layer)
        case LineFeatures():
            return LineFeatureBlock(layer)
        case LineSpread():
            return LineSpreadBlock(layer)
        case LinePolicy():
            return LinePolicyHead(layer)
        case LineValue():
            return LineValueHead(layer)


def _initialise(conv: nn.Conv2d) -> None:
    nn.init.kaiming_normal_(conv.weight, nonlinearity="relu")
    nn.init.zeros_(conv.bias)  # type: ignore[arg-type]  # Conv2d types its bias as optional


def _biased(x: Tensor, bias: Tensor) -> Tensor:
    """Return channels [B, C, D, D] plus a bias [B, C] of each."""
    return x + bias[:, :, None, None].to(x.dtype)


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
