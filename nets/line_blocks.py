"""Modules of line-pattern nets: nets that see the board through the 11 cells around each cell in each direction.

In training they compute in floats, within the ranges of the integers of `core.compiled.line_nets.numbers`. For play
`nets.line_tables` rounds them to those integers.
"""

import functools
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from core.compiled.line_nets.numbers import (
    DENSE_BITS,
    DENSE_TOP,
    MEAN_SCALE,
    MIX_BITS,
    MIX_TOP,
    NEAR_BITS,
    NEAR_TOP,
    REGIONS,
    ROW_TOP,
    TOP,
    UNIT_BITS,
)
from core.compiled.line_nets.patterns import (
    DIRECTIONS,
    OFF_BOARD,
    all_patterns,
    digit_weights,
    empty_numbers,
    neighbours,
    region_edges,
)
from nets.layers.lines import LineFeatures, LinePolicy, LineSpread, LineValue
from nets.layers.parts import Linear

_TOP = TOP / 2**UNIT_BITS
_ROW_TOP = ROW_TOP / 2**UNIT_BITS
_NEAR_TOP = NEAR_TOP / 2**NEAR_BITS
_MIX_TOP = MIX_TOP / 2**MIX_BITS
_DENSE_TOP = DENSE_TOP / 2**DENSE_BITS
_SHARES = (0.5, 1.5)
"""Least and largest share of a copied unit, before the shares of all copies are scaled to one."""
_TABLE_PART = 1 << 16
"""Patterns of a table that are computed at once."""


class _SumOfRows(torch.autograd.Function):
    """Sums of four rows. torch's own gradient of them takes four times as long on a processor."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, places: Tensor) -> Tensor:
        """Return [n, C] for rows [m, C] and their `places` [n, 4]."""
        ctx.save_for_backward(places)
        ctx.rows = len(rows)
        return functional.embedding_bag(places, rows, mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of the rows: a product with the sparse matrix of their places."""
        (places,) = ctx.saved_tensors
        order = torch.argsort(places.reshape(-1))
        counts = torch.bincount(places.reshape(-1), minlength=ctx.rows)
        starts = functional.pad(torch.cumsum(counts, 0), (1, 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch calls its sparse matrices an early version
            shape = (ctx.rows, len(places))
            matrix = torch.sparse_csr_tensor(
                starts, order // places.shape[1], torch.ones_like(order, dtype=torch.float32), shape
            )
        return matrix @ gradients[0], None


class LineFeatureBlock(nn.Module):
    """Features of each cell: the sum over the four directions of a function of its line pattern."""

    def __init__(self, layer: LineFeatures) -> None:
        super().__init__()
        patterns = torch.from_numpy(all_patterns().copy())
        digits = torch.stack([patterns == digit for digit in (1, 2, OFF_BOARD)], dim=2).flatten(1)
        self.register_buffer("digits", digits, persistent=False)
        self.digits: Tensor
        self._parts = tuple(layer.parts())
        for name, part in layer.parts().items():
            assert isinstance(part, Linear)
            self.add_module(name, nn.Linear(part.units_in, part.units_out))

    def rows(self, numbers: Tensor) -> Tensor:
        """Return the function [n, channels] of the patterns with some `numbers` [n]."""
        return self.rows_of(self.digits[numbers].to(next(self.parameters()).dtype))

    def rows_of(self, digits: Tensor) -> Tensor:
        """Return the function [..., channels] of patterns [..., 33]: three inputs for each of the 11 cells."""
        *hidden, last = (self.get_submodule(name) for name in self._parts)
        for part in hidden:
            digits = torch.relu(part(digits))
        rows: Tensor = last(digits).float().clamp(-_ROW_TOP, _ROW_TOP)
        return rows

    def forward(self, planes: Tensor) -> Tensor:
        """Map planes [B, P, D, D], of which the first two are own and opponent's stones, to [B, channels, D, D]."""
        # Few patterns are on many cells: the function is computed once for each.
        seen, places = torch.unique(_numbers(planes), return_inverse=True)
        # Their number differs from batch to batch, and tensors of ever new sizes leave memory in pieces: a training of
        # two nets held 5 GB where it holds 1.4 now, and took a tenth more of the processors.
        step = 1 << max(len(seen).bit_length() - 4, 0)
        rows = self.rows(functional.pad(seen, (0, -len(seen) % step)).long())
        summed: Tensor = _SumOfRows.apply(rows, places.reshape(-1, len(DIRECTIONS)))  # type: ignore[no-untyped-call]
        return _on_board(self.clamped(summed), planes)

    @staticmethod
    def clamped(summed: Tensor) -> Tensor:
        """Return the sum over the directions within the range of features."""
        return summed.clamp(0, _TOP)


def larger_function(
    weights: Mapping[str, Tensor], old: LineFeatures, new: LineFeatures, random: torch.Generator
) -> dict[str, Tensor]:
    """Return the tensors of a larger function of patterns with the values of that of a net (Net2Net, arXiv 1511.05641).

    A new unit is a copy of an old one, and the copies share its weights in the next layer at random, so that they learn
    different things. A new hidden layer is the identity. `weights`: tensors of the net by their names.
    """
    layers = [(weights[f"trunk.0.{name}.weight"], weights[f"trunk.0.{name}.bias"]) for name in old.parts()]
    layers[-1:-1] = [(torch.eye(old.units), torch.zeros(old.units))] * (new.depth - old.depth)
    copied = torch.arange(new.units) % old.units
    for at in range(new.depth):
        (weight, bias), (after, after_bias) = layers[at : at + 2]
        shares = torch.empty(len(after), new.units).uniform_(*_SHARES, generator=random)
        sums = torch.zeros(len(after), old.units).index_add_(1, copied, shares)
        layers[at : at + 2] = [
            (weight[copied], bias[copied]),
            (after[:, copied] * shares / sums[:, copied], after_bias),
        ]
    return {
        f"trunk.0.{name}.{kind}": tensor
        for name, layer in zip(new.parts(), layers, strict=True)
        for kind, tensor in zip(("weight", "bias"), layer, strict=True)
    }


def larger_value_head(
    fresh: Mapping[str, Tensor], weights: Mapping[str, Tensor], old: LineValue, new: LineValue
) -> dict[str, Tensor]:
    """Return the tensors of a larger value head with the values of that of a net.

    New units begin at random, and the old ones do not read them. A new hidden layer begins as the identity. `fresh`:
    random tensors of the larger head; `weights`: those of the net, both by their names.
    """
    tensors = [(weights[f"value.0.{name}.weight"], weights[f"value.0.{name}.bias"]) for name in old.dense()]
    units = old.hidden[-1]
    tensors[-1:-1] = [(torch.eye(units), torch.zeros(units))] * (len(new.hidden) - len(old.hidden))
    found: dict[str, Tensor] = {}
    for name, (weight, bias) in zip(new.dense(), tensors, strict=True):
        larger, biases = (fresh[f"value.0.{name}.{kind}"].clone() for kind in ("weight", "bias"))
        larger[: len(weight)] = 0.0
        larger[: len(weight), : weight.shape[1]] = weight
        biases[: len(bias)] = bias
        found |= {f"value.0.{name}.weight": larger, f"value.0.{name}.bias": biases}
    return found


class _LineTable(nn.Module):
    """`LineFeatureBlock` for inference: its function of every pattern is a table."""

    def __init__(self, block: LineFeatureBlock) -> None:
        super().__init__()
        numbers = torch.arange(len(block.digits), device=block.digits.device)
        with torch.no_grad():
            self.register_buffer("table", torch.cat([block.rows(part) for part in torch.split(numbers, _TABLE_PART)]))
        self.table: Tensor

    def forward(self, planes: Tensor) -> Tensor:
        """See `LineFeatureBlock.forward`."""
        places = _numbers(planes).reshape(-1, len(DIRECTIONS))
        summed = functional.embedding_bag(places, self.table, mode="sum")
        return _on_board(LineFeatureBlock.clamped(summed), planes)


def with_tables(module: nn.Module) -> None:
    """Replace what a CUDA graph cannot hold in a line-pattern net: sizes that depend on the positions."""
    for name, child in module.named_children():
        if isinstance(child, LineFeatureBlock):
            setattr(module, name, _LineTable(child))
        else:
            with_tables(child)


def _numbers(planes: Tensor) -> Tensor:
    """Return [B, 4A] the numbers of the patterns of positions."""
    ways, empty = _numbering(planes.shape[2], planes.device)
    with torch.autocast(planes.device.type, enabled=False):
        digits = (planes[:, 0] + 2 * planes[:, 1]).reshape(len(planes), -1).float()
        # Up to 397,488, so exact in float32.
        return (digits @ ways + empty).to(torch.int32)


def _on_board(features: Tensor, planes: Tensor) -> Tensor:
    """Return features [B * A, C] as [B, C, D, D]."""
    batch, _, size, _ = planes.shape
    return features.reshape(batch, size, size, -1).permute(0, 3, 1, 2)


class LineSpreadBlock(nn.Module):
    """A depthwise 3x3 and a 1x1 convolution beside a shortcut."""

    def __init__(self, layer: LineSpread) -> None:
        super().__init__()
        self.near = nn.Conv2d(layer.channels, layer.channels, 3, padding=1, groups=layer.channels)
        self.mix = nn.Linear(layer.channels, layer.channels)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to the same shape."""
        near = functional.conv2d(
            x, self.near.weight.clamp(-_NEAR_TOP, _NEAR_TOP), self.near.bias, padding=1, groups=x.shape[1]
        )
        return (x + _product(near.clamp(0, _TOP), self.mix)).clamp(0, _TOP)


class LinePolicyHead(nn.Module):
    """The logit of each cell: a product over its channels, whose weights may depend on the whole board."""

    def __init__(self, layer: LinePolicy) -> None:
        super().__init__()
        self.linear = nn.Linear(layer.channels, 1)
        self._dense = tuple(layer.dense())
        for name, part in layer.dense().items():
            self.add_module(name, nn.Linear(part.units_in, part.units_out))
        self._value: tuple[LineValueHead, ...] = ()

    def read(self, value: "LineValueHead") -> None:
        """Take the units that a value head pools, without being its owner."""
        self._value = (value,)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to [B, 1, D, D]."""
        if not self._dense:
            return _product(x, self.linear)
        first, second = (self.get_submodule(name) for name in self._dense)
        hidden = _dense(self._value[0].units(x), first).clamp(0, _TOP)
        weight = (self.linear.weight.clamp(-_MIX_TOP, _MIX_TOP) + _dense(hidden, second)).clamp(-_MIX_TOP, _MIX_TOP)
        logits: Tensor = torch.einsum("bchw,bc->bhw", x, weight.to(x.dtype)) + self.linear.bias
        return logits[:, None]


class LineValueHead(nn.Module):
    """Means over nine regions of the board and maxima of some channels, and two or three fully connected layers."""

    def __init__(self, layer: LineValue) -> None:
        super().__init__()
        self.mix = nn.Linear(layer.channels, layer.pooled)
        self._dense = tuple(layer.dense())
        for name, part in layer.dense().items():
            self.add_module(name, nn.Linear(part.units_in, part.units_out))

    def units(self, x: Tensor) -> Tensor:
        """Return [B, 10 pooled] the means of the regions and the maxima, for [B, channels, D, D]."""
        pooled = _product(x, self.mix).clamp(0, _TOP).flatten(2).float()
        means = (pooled @ _regions(x.shape[2], x.device)).clamp(0, _TOP)
        # The regions first, then the channels, as the kernel has them.
        return torch.cat((means.transpose(1, 2).flatten(1), pooled.amax(2)), dim=1)

    def forward(self, x: Tensor) -> Tensor:
        """Map [B, channels, D, D] to [B, 1]."""
        units = self.units(x)
        *hidden, last = (self.get_submodule(name) for name in self._dense)
        for part in hidden:
            units = _dense(units, part).clamp(0, _TOP)
        return _dense(units, last)


# A tensor that inference made first could not be used in training afterwards.
@functools.cache
@torch.inference_mode(mode=False)
def _numbering(size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return [A, 4A] the weight of each cell's digit in each pattern's number, and [4A] those of an empty board."""
    cells, directions = size * size, len(DIRECTIONS)
    ways = np.zeros((cells + 1, cells, directions), dtype=np.float32)
    centres = np.arange(cells)[:, None, None]
    np.add.at(ways, (neighbours(size), centres, np.arange(directions)[:, None]), digit_weights())
    empty = torch.from_numpy(empty_numbers(size).reshape(-1).astype(np.float32))
    return torch.from_numpy(ways[:cells].reshape(cells, -1)).to(device), empty.to(device)


@functools.cache
@torch.inference_mode(mode=False)
def _regions(size: int, device: torch.device) -> Tensor:
    """Return [A, 9] the share of each cell in the mean of each region."""
    edges = region_edges(size)
    result = np.zeros((size, size, REGIONS, REGIONS), dtype=np.float32)
    for row in range(REGIONS):
        for column in range(REGIONS):
            rows, columns = (slice(edges[at], edges[at + 1]) for at in (row, column))
            area = (rows.stop - rows.start) * (columns.stop - columns.start)
            result[rows, columns, row, column] = MEAN_SCALE / area
    return torch.from_numpy(result.reshape(size * size, -1)).to(device)


def _product(x: Tensor, linear: nn.Linear) -> Tensor:
    """Return the product of channels [B, C, D, D] with a layer's weights, as far as its integers reach."""
    weight = linear.weight.clamp(-_MIX_TOP, _MIX_TOP)[:, :, None, None]
    return functional.conv2d(x, weight, linear.bias)


def _dense(x: Tensor, linear: nn.Module) -> Tensor:
    assert isinstance(linear, nn.Linear)
    return functional.linear(x, linear.weight.clamp(-_DENSE_TOP, _DENSE_TOP), linear.bias)
