"""Layers of ordinary nets: convolutions, residual and attention blocks, pooling, fully connected layers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.input_limits import MAX_KERNEL, MAX_PADDING
from nets.layers.parts import Conv, Layer, Linear, Norm, Shape

if TYPE_CHECKING:
    from torch import Tensor

_MEAN_WIDTH, _WIDTH_SCALE = 14.0, 10.0
"""Of the board's width in global pooling; KataGo's numbers."""
_GARB_SPLIT = 3
"""One channel in so many is pooled (S III-C)."""


@dataclass(frozen=True, slots=True)
class Convolution(Layer):
    """A convolution with a bias, and as a rule batch norm and ReLU."""

    PATTERN = r"conv(?P<kernel>\d{1,3})-(?P<filters>\d{1,9})(?:-pad(?P<padding>\d{1,3}))?(?P<bare>-bare)?"
    EXAMPLE = "conv3-32"

    channels_in: int
    channels_out: int
    kernel: int
    padding: int
    normed: bool
    """True with batch norm."""
    activated: bool
    """True with ReLU."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        kernel, bare = int(match["kernel"]), match["bare"] is not None
        if kernel % 2 == 0 or kernel > MAX_KERNEL:
            raise ValueError(f"{match[0]} has a kernel of {kernel}; it must be odd and at most {MAX_KERNEL}")
        padding = kernel // 2 if match["padding"] is None else int(match["padding"])
        if not kernel // 2 <= padding <= max(kernel // 2, MAX_PADDING):
            raise ValueError(f"{match[0]} must have {kernel // 2} to {MAX_PADDING} rings of zeros")
        return cls(shape.channels, int(match["filters"]), kernel, padding, normed and not bare, activated=not bare)

    def output(self, shape: Shape) -> Shape:
        """See `Layer.output`."""
        return Shape(self.channels_out, shape.width + 2 * self.padding - self.kernel + 1)

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        conv = {"conv": Conv(self.channels_in, self.channels_out, self.kernel, self.padding)}
        return {**conv, "norm": Norm(self.channels_out)} if self.normed else conv

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        x = parts.norm(parts.conv(x)) if self.normed else parts.conv(x)
        return x.relu() if self.activated else x


@dataclass(frozen=True, slots=True)
class Residual(Layer):
    """Two 3x3 convolutions around a shortcut (A table I)."""

    PATTERN, EXAMPLE = "residual", "residual"

    channels: int
    normed: bool

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        return cls(shape.channels, normed)

    def parts(self) -> Mapping[str, Convolution]:
        """See `Layer.parts`."""
        first = Convolution(self.channels, self.channels, 3, 1, self.normed, activated=True)
        return {"first": first, "second": replace(first, activated=False)}

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        return (x + parts.second(parts.first(x))).relu()  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class PoolingBias(Layer):
    """Global pooling of some channels, which bias the others (S III-B2; KataGo)."""

    PATTERN, EXAMPLE = r"pool-(?P<pooled>\d{1,9})", "pool-32"

    channels: int
    """Channels that go on."""
    pooled: int
    """Channels that are pooled: mean, mean scaled with the board's width, maximum."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        pooled = int(match["pooled"])
        if pooled >= shape.channels:
            raise ValueError(f"{match[0]} pools all of the {shape.channels} channels, so that none goes on")
        return cls(shape.channels - pooled, pooled)

    def output(self, shape: Shape) -> Shape:
        """See `Layer.output`."""
        return Shape(self.channels, shape.width)

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        return {"norm": Norm(self.pooled), "linear": Linear(3 * self.pooled, self.channels)}

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        from torch import cat

        pooled, x = parts.norm(x[:, : self.pooled]).relu(), x[:, self.pooled :]
        mean = pooled.mean((2, 3))
        scaled = mean * ((x.shape[2] - _MEAN_WIDTH) / _WIDTH_SCALE)
        return _biased(x, parts.linear(cat((mean, scaled, pooled.amax((2, 3))), dim=1)))


@dataclass(frozen=True, slots=True)
class Attention(Layer):
    """The global attention residual block, GARB (S III-C; NoGoZero+): some channels, pooled, bias the rest."""

    PATTERN, EXAMPLE = "garb", "garb"

    channels: int
    pooled: int

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        if shape.channels < _GARB_SPLIT:
            raise ValueError(f"garb needs {_GARB_SPLIT} channels or more, not {shape.channels}")
        return cls(shape.channels, shape.channels // _GARB_SPLIT)

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        local = self.channels - self.pooled
        return {
            "local_norm": Norm(local),
            "local_conv": Conv(local, local),
            "pooled_norm": Norm(self.pooled),
            "pooled_conv": Conv(self.pooled, self.pooled),
            "linear": Linear(2 * self.pooled, local),
            "out_conv": Conv(local, self.channels),
        }

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        from torch import cat

        cut = self.channels - self.pooled
        local = parts.local_conv(parts.local_norm(x[:, :cut]).relu())
        pooled = parts.pooled_conv(parts.pooled_norm(x[:, cut:]).relu())
        bias = parts.linear(cat((pooled.mean((2, 3)), pooled.amax((2, 3))), dim=1))
        result: Tensor = x + parts.out_conv(_biased(local, bias))
        return result


@dataclass(frozen=True, slots=True)
class GlobalMaximum(Layer):
    """The maximum of each channel over the board."""

    PATTERN, EXAMPLE = "max", "max"

    channels: int

    def output(self, shape: Shape) -> Shape:
        """See `Layer.output`."""
        return Shape(self.channels, 0)

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        return x.amax((2, 3))


@dataclass(frozen=True, slots=True)
class FullyConnected(Layer):
    """A fully connected layer, with ReLU unless it is the last one of a head."""

    PATTERN, EXAMPLE = r"linear(?:-(?P<units>\d{1,9}))?", "linear-64 or linear"
    NEEDS_BOARD = False

    units_in: int
    units_out: int
    activated: bool
    """True with ReLU."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        units = match["units"]
        units_in = shape.channels * max(shape.width, 1) ** 2
        return cls(units_in, int(units) if units else outputs, activated=units is not None)

    def output(self, shape: Shape) -> Shape:
        """See `Layer.output`."""
        return Shape(self.units_out, 0)

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        return {"linear": Linear(self.units_in, self.units_out)}

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """See `Layer.forward`."""
        # reshape, not flatten: it reads channels-last memory in the order of the planes.
        x = parts.linear(x.reshape(x.shape[0], -1))
        return x.relu() if self.activated else x


def _biased(x: "Tensor", bias: "Tensor") -> "Tensor":
    """Return channels [B, C, D, D] plus a bias [B, C] of each."""
    return x + bias[:, :, None, None].to(x.dtype)
