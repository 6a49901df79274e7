"""Building blocks of the nets."""

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

Net = TypeVar("Net", bound=nn.Module)


class ConvNorm(nn.Module):
    """A convolution that keeps the board's size, and its batch norm; the convolution keeps its bias (A table I)."""

    def __init__(self, channels_in: int, channels_out: int, kernel_size: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel_size, padding=kernel_size // 2)
        self.norm: nn.Module = nn.BatchNorm2d(channels_out)
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")
        nn.init.zeros_(self.conv.bias)  # type: ignore[arg-type]  # Conv2d types its bias as optional

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels_in, D, D] to [B, channels_out, D, D]."""
        result: Tensor = self.norm(self.conv(x))
        return result

    def fold(self) -> None:
        """Merge the batch norm's running statistics into the convolution; for inference only."""
        if isinstance(self.norm, nn.BatchNorm2d):
            self.conv = fuse_conv_bn_eval(self.conv, self.norm)
            self.norm = nn.Identity()


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut (A table I)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, 3)
        self.second = ConvNorm(channels, channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to the same shape."""
        return torch.relu(x + self.second(torch.relu(self.first(x))))


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
