"""Layers of a net by their names, with the tensors of each, without torch: a file is checked before a net is built.

A net has a trunk and two heads, each a list of names:

    conv3-32     convolution of 3x3 cells to 32 channels, batch norm, ReLU; the board keeps its size
    conv3-32-pad3    the same with 3 rings of zeros around the board, which grows (S III-D)
    conv3-1-bare     without batch norm and ReLU
    residual     two 3x3 convolutions around a shortcut (A table I)
    pool-32      32 of the channels, pooled over the board, bias the others, which alone go on (S III-B2)
    garb         global attention residual block (S III-C)
    max          maximum of each channel over the board
    linear-64    64 units, fully connected, ReLU
    linear       the output of a head
    residual*4   four of them

A policy head ends with `linear`, or with one plane of logits (`conv3-1-bare`); a value head with `linear`.

Line-pattern nets have layers of their own, in this order alone. They fit every board:

    lines-32     trunk: features of 32 channels, a sum over the four directions of a function of the 11 cells around
                 each cell; ReLU
    spread       trunk: depthwise 3x3 convolution, ReLU, 1x1 convolution, added to its input; ReLU
    cells        policy head: a product over the channels of each cell
    regions-15-32    value head: 1x1 convolution to 15 channels, ReLU; their means over nine regions of the board and
                 their maxima; 32 hidden units
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.compiled.line_nets.numbers import CHANNELS_STEP, LANES, MAX_CHANNELS, POOLED, REACH, REGIONS
from core.limits import MAX_FILTERS, MAX_KERNEL, MAX_LAYERS, MAX_PADDING, quoted
from nets.tensor_types import COUNTS, WEIGHTS, TensorType

NORM_STATISTICS = ("running_mean", "running_var")
"""State of batch norms that is not trained."""
_PATTERN = re.compile(
    r"(?:conv(?P<kernel>\d{1,3})-(?P<filters>\d{1,9})(?:-pad(?P<padding>\d{1,3}))?|residual|pool-(?P<pooled>\d{1,9})"
    r"|garb|max|linear(?:-(?P<units>\d{1,9}))?|lines-(?P<lines>\d{1,9})|spread|cells"
    r"|regions-(?P<regions>\d{1,9})-(?P<hidden>\d{1,9}))(?P<bare>-bare)?(?:\*(?P<times>\d{1,9}))?",
    re.ASCII,
)
_EXAMPLES = (
    "conv3-32, residual, pool-32, garb, max, linear-64 or linear, and lines-32, spread, cells, regions-15-32 of "
    "line-pattern nets, with *4 for four of them"
)

LINE_UNITS = 64
"""Units of the hidden layers that make line features."""
_DIGITS = 3 * (2 * REACH + 1)
"""Three inputs for each cell of a pattern: an own stone, the opponent's, not on the board."""

Tensors = Iterator[tuple[str, TensorType]]


class Convolution(NamedTuple):
    """A convolution with a bias, and as a rule batch norm and ReLU."""

    channels_in: int
    channels_out: int
    kernel: int
    """Cells along an edge of the kernel, odd."""
    padding: int
    """Rings of zeros around the board; half the kernel keeps its size."""
    normed: bool
    """True with batch norm."""
    activated: bool
    """True with ReLU."""

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield "conv.weight", TensorType(WEIGHTS, (self.channels_out, self.channels_in, self.kernel, self.kernel))
        yield "conv.bias", TensorType(WEIGHTS, (self.channels_out,))
        if self.normed:
            yield from _named("norm", _norm(self.channels_out))


class Residual(NamedTuple):
    """Two 3x3 convolutions around a shortcut."""

    channels: int
    normed: bool

    @property
    def convolutions(self) -> tuple[Convolution, Convolution]:
        """The first and the second convolution."""
        first = Convolution(self.channels, self.channels, 3, 1, self.normed, activated=True)
        return first, first._replace(activated=False)

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        for name, convolution in zip(("first", "second"), self.convolutions, strict=True):
            yield from _named(name, convolution.tensors())


class PoolingBias(NamedTuple):
    """Global pooling of some channels, which bias the others."""

    channels: int
    """Channels that go on."""
    pooled: int
    """Channels that are pooled: mean, mean scaled with the board's width, maximum."""

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield from _named("norm", _norm(self.pooled))
        yield from _named("linear", _linear(3 * self.pooled, self.channels))


class Attention(NamedTuple):
    """The global attention residual block: two thirds of its channels are convolved, biased by the rest, and added."""

    channels: int
    pooled: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        local = self.channels - self.pooled
        for name, channels in (("local", local), ("pooled", self.pooled)):
            yield from _named(f"{name}_norm", _norm(channels))
            yield from _named(f"{name}_conv", _conv(channels, channels))
        yield from _named("linear", _linear(2 * self.pooled, local))
        yield from _named("out_conv", _conv(local, self.channels))


class GlobalMaximum(NamedTuple):
    """The maximum of each channel over the board."""

    def tensors(self) -> Tensors:
        """Yield nothing."""
        yield from ()


class FullyConnected(NamedTuple):
    """A fully connected layer."""

    units_in: int
    units_out: int
    activated: bool
    """True with ReLU."""

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield from _named("linear", _linear(self.units_in, self.units_out))


class LineFeatures(NamedTuple):
    """Features of the line patterns around each cell: a small net of their digits, one hidden layer after another."""

    channels: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield from _named("first", _linear(_DIGITS, LINE_UNITS))
        yield from _named("second", _linear(LINE_UNITS, LINE_UNITS))
        yield from _named("third", _linear(LINE_UNITS, self.channels))


class LineSpread(NamedTuple):
    """A depthwise 3x3 and a 1x1 convolution beside a shortcut."""

    channels: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield "near.weight", TensorType(WEIGHTS, (self.channels, 1, 3, 3))
        yield "near.bias", TensorType(WEIGHTS, (self.channels,))
        yield from _named("mix", _linear(self.channels, self.channels))


class LinePolicy(NamedTuple):
    """A product over the channels of each cell."""

    channels: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield from _named("linear", _linear(self.channels, 1))


class LineValue(NamedTuple):
    """Pooling over regions of the board, and two fully connected layers."""

    channels: int
    pooled: int
    """Channels that are pooled."""
    hidden: int
    """Hidden units."""

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield from _named("mix", _linear(self.channels, self.pooled))
        yield from _named("first", _linear((REGIONS**2 + 1) * self.pooled, self.hidden))
        yield from _named("second", _linear(self.hidden, 1))


LineLayer = LineFeatures | LineSpread | LinePolicy | LineValue
Layer = LineLayer | Convolution | Residual | PoolingBias | Attention | GlobalMaximum | FullyConnected


class NetLayers(NamedTuple):
    """The layers of a net, in order."""

    trunk: tuple[Layer, ...]
    policy: tuple[Layer, ...]
    value: tuple[Layer, ...]

    def tensors(self) -> Tensors:
        """Yield all tensors by their names in the net."""
        for part, layers in self._asdict().items():
            for number, layer in enumerate(layers):
                yield from _named(f"{part}.{number}", layer.tensors())


def net_layers(
    planes: int,
    size: int,
    *,
    trunk: Sequence[str],
    policy_head: Sequence[str],
    value_head: Sequence[str],
    batch_norm: bool,
) -> NetLayers:
    """Return the layers of a net from `planes` planes of a board of `size`.

    Raises `ValueError` with the name of a layer that does not exist or does not fit; no error depends on the size.
    """
    layers, shape = _chain(trunk, _Shape(planes, size), "trunk", batch_norm, outputs=None)
    if isinstance(layers[0], LineFeatures):
        return _line_net(layers, policy_head, value_head)
    if not isinstance(layers[0], Convolution):
        raise ValueError("trunk must begin with a convolution, such as conv3-32, or with lines-32")
    if not shape.width:
        raise ValueError("trunk must keep the board: max and linear are for heads")
    policy, plane = _chain(policy_head, shape, "policy_head", batch_norm, outputs=size * size)
    if plane.width and (plane != _Shape(1, size) or not _is_bare(policy[-1])):
        raise ValueError(f"policy_head must end with linear, or with one plane of {size}x{size}, such as conv3-1-bare")
    value, vector = _chain(value_head, shape, "value_head", batch_norm, outputs=1)
    if vector.width:
        raise ValueError("value_head must end with linear")
    if any(isinstance(layer, LineFeatures | LineSpread) for layer in (*layers, *policy, *value)):
        raise ValueError("trunk must begin with lines, if it has lines or spread layers; heads have none")
    return NetLayers(layers, policy, value)


def _line_net(trunk: tuple[Layer, ...], policy_head: Sequence[str], value_head: Sequence[str]) -> NetLayers:
    """Return the layers of a line-pattern net. Raises `ValueError` for layers that it cannot have."""
    features, *others = trunk
    assert isinstance(features, LineFeatures)
    if features.channels % CHANNELS_STEP or features.channels > MAX_CHANNELS:
        raise ValueError(
            f"trunk: lines-{features.channels} must have a multiple of {CHANNELS_STEP} channels, at most {MAX_CHANNELS}"
        )
    if not others or not all(isinstance(layer, LineSpread) for layer in others):
        raise ValueError("trunk: after lines come spread layers alone, at least one")
    if list(policy_head) != ["cells"]:
        raise ValueError("policy_head of a net of lines must be cells")
    heads = _parsed(value_head, "value_head")
    match = heads[0][1]
    if len(heads) > 1 or not match["regions"]:
        raise ValueError("value_head of a net of lines must be regions, such as regions-15-32")
    pooled, hidden = int(match["regions"]), int(match["hidden"])
    if pooled != POOLED or hidden % LANES:
        raise ValueError(f"value_head: regions must have {POOLED} channels, and a multiple of {LANES} hidden units")
    channels = features.channels
    return NetLayers(trunk, (LinePolicy(channels),), (LineValue(channels, pooled, hidden),))


class _Shape(NamedTuple):
    """The output of a layer: channels, and the width of the board; 0 for units alone."""

    channels: int
    width: int


def _chain(
    names: Sequence[str], shape: _Shape, part: str, normed: bool, *, outputs: int | None
) -> tuple[tuple[Layer, ...], _Shape]:
    """Return the layers of a part and the shape of its output; `outputs`: units of a final `linear`."""
    layers: list[Layer] = []
    parsed = _parsed(names, part)
    for number, (name, match) in enumerate(parsed, start=1):
        if name == "linear" and (number < len(parsed) or outputs is None):
            raise ValueError(f"{part}: linear, without a number of units, can only be the last layer of a head")
        if not shape.width and not name.startswith("linear"):
            raise ValueError(f"{part}: {name} needs a board, but an earlier layer left single units")
        layer, shape = _layer(name, match, shape, normed, outputs or 0)
        layers.append(layer)
    if not shape.width and outputs is not None and parsed[-1][0] != "linear":
        raise ValueError(f"{part} must end with linear")
    return tuple(layers), shape


def _parsed(names: Sequence[str], part: str) -> list[tuple[str, re.Match[str]]]:
    """Return the name of each layer, without repetitions, and its match."""
    found: list[tuple[str, re.Match[str]]] = []
    for name in names:
        match = _PATTERN.fullmatch(name)
        if match is None or (match["bare"] and not match["kernel"]):
            raise ValueError(f"{part}: there is no layer {quoted(name)}; valid are {_EXAMPLES}")
        _check_numbers(part, name, match)
        times = 1 if match["times"] is None else int(match["times"])
        if not 1 <= times <= MAX_LAYERS - len(found):
            raise ValueError(f"{part} must have 1 to {MAX_LAYERS} layers")
        found += [(name.partition("*")[0], match)] * times
    if not found:
        raise ValueError(f"{part} must have 1 to {MAX_LAYERS} layers")
    return found


def _check_numbers(part: str, name: str, match: re.Match[str]) -> None:
    for number in (match[group] for group in ("filters", "pooled", "units", "lines", "regions", "hidden")):
        if number is not None and not 1 <= int(number) <= MAX_FILTERS:
            raise ValueError(f"{part}: {name} has {int(number):,} channels; it must be from 1 to {MAX_FILTERS:,}")
    if match["kernel"] is not None:
        kernel = int(match["kernel"])
        if kernel % 2 == 0 or kernel > MAX_KERNEL:
            raise ValueError(f"{part}: {name} has a kernel of {kernel}; it must be odd and at most {MAX_KERNEL}")
        if match["padding"] is not None and not kernel // 2 <= int(match["padding"]) <= MAX_PADDING:
            raise ValueError(f"{part}: {name} must have {kernel // 2} to {MAX_PADDING} rings of zeros")


def _layer(name: str, match: re.Match[str], shape: _Shape, normed: bool, outputs: int) -> tuple[Layer, _Shape]:
    channels, width = shape
    if match["kernel"]:
        kernel, filters, bare = int(match["kernel"]), int(match["filters"]), match["bare"] is not None
        padding = kernel // 2 if match["padding"] is None else int(match["padding"])
        layer = Convolution(channels, filters, kernel, padding, normed and not bare, activated=not bare)
        return layer, _Shape(filters, width + 2 * padding - kernel + 1)
    if match["pooled"]:
        pooled = int(match["pooled"])
        if pooled >= channels:
            raise ValueError(f"{name} pools all of the {channels} channels, so that none goes on")
        return PoolingBias(channels - pooled, pooled), _Shape(channels - pooled, width)
    if name == "residual":
        return Residual(channels, normed), shape
    if name == "garb":
        if channels < _GARB_SPLIT:
            raise ValueError(f"garb needs {_GARB_SPLIT} channels or more, not {channels}")
        return Attention(channels, channels // _GARB_SPLIT), shape
    if name == "max":
        return GlobalMaximum(), _Shape(channels, 0)
    if match["lines"]:
        return LineFeatures(int(match["lines"])), _Shape(int(match["lines"]), width)
    if name == "spread":
        return LineSpread(channels), shape
    if name == "cells" or match["regions"]:
        raise ValueError(f"{name} is a head of a net whose trunk begins with lines")
    units_in = channels * max(width, 1) ** 2
    units_out = int(match["units"]) if match["units"] else outputs
    return FullyConnected(units_in, units_out, activated=match["units"] is not None), _Shape(units_out, 0)


_GARB_SPLIT = 3
"""One channel in so many is pooled (S III-C)."""


def _is_bare(layer: Layer) -> bool:
    return isinstance(layer, Convolution) and not layer.activated


def _named(name: str, tensors: Tensors) -> Tensors:
    return ((f"{name}.{part}", kind) for part, kind in tensors)


def _conv(channels_in: int, channels_out: int) -> Tensors:
    yield "weight", TensorType(WEIGHTS, (channels_out, channels_in, 3, 3))
    yield "bias", TensorType(WEIGHTS, (channels_out,))


def _norm(channels: int) -> Tensors:
    for part in ("weight", "bias", *NORM_STATISTICS):
        yield part, TensorType(WEIGHTS, (channels,))
    yield "num_batches_tracked", TensorType(COUNTS, ())


def _linear(units_in: int, units_out: int) -> Tensors:
    yield "weight", TensorType(WEIGHTS, (units_out, units_in))
    yield "bias", TensorType(WEIGHTS, (units_out,))
