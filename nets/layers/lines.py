"""Layers of line-pattern nets, whose modules keep to the range of integers (`nets.line_blocks`)."""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from core.compiled.line_nets.numbers import REACH, REGIONS
from nets.layers.parts import Conv, Layer, Linear, Norm, Shape

_HIDDEN = ("64", "2")
"""Units and number of the hidden layers that make line features, where the name of the layer says nothing."""
_PARTS = ("first", "second", "third", "fourth", "fifth")
"""Names of the layers that make them, and of the fully connected ones of a value head."""
_DIGITS = 3 * (2 * REACH + 1)
"""Three inputs for each cell of a pattern: an own stone, the opponent's, not on the board."""


@dataclass(frozen=True, slots=True)
class LineFeatures(Layer):
    """Features of the line patterns around each cell: a small net of their digits, one hidden layer after another."""

    PATTERN = r"lines-(?P<lines>\d{1,9})(?::(?P<units>\d{1,9})(?:x(?P<depth>[1-4]))?)?"
    EXAMPLE = "lines-32"

    channels: int
    units: int
    """Units of each hidden layer. They cost nothing in play, where the function is a table."""
    depth: int
    """Hidden layers."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """See `Layer.of`."""
        units, depth = _HIDDEN
        return cls(int(match["lines"]), int(match["units"] or units), int(match["depth"] or depth))

    def output(self, shape: Shape) -> Shape:
        """See `Layer.output`."""
        return Shape(self.channels, shape.width)

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        widths = (_DIGITS, *(self.units,) * self.depth, self.channels)
        return {name: Linear(*pair) for name, pair in zip(_PARTS, pairwise(widths), strict=False)}

    def holds(self, other: "LineFeatures") -> bool:
        """Return True if this function can start with the values of a smaller one (`nets.line_blocks`)."""
        return self.channels == other.channels and self.units >= other.units and self.depth >= other.depth


@dataclass(frozen=True, slots=True)
class LineSpread(Layer):
    """A depthwise 3x3 and a 1x1 convolution beside a shortcut."""

    PATTERN, EXAMPLE = "spread", "spread"

    channels: int

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        near = Conv(self.channels, self.channels, groups=self.channels)
        return {"near": near, "mix": Linear(self.channels, self.channels)}


class _LineHead(Layer):
    """A head of a line-pattern net."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> Layer:
        """Raise `ValueError`: other nets have none."""
        raise ValueError(f"{match[0]} is a head of a net whose trunk begins with lines")


@dataclass(frozen=True, slots=True)
class LinePolicy(_LineHead):
    """A product over the channels of each cell, whose weights may depend on the whole board."""

    PATTERN, EXAMPLE = r"cells(?:-(?P<hidden>\d{1,9}))?", "cells"

    channels: int
    pooled: int
    """Channels that the value head pools."""
    hidden: int
    """Hidden units that lead from these pools to the weights of a position; 0 for weights that are always the same."""

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        return {"linear": Linear(self.channels, 1), **self.dense()}

    def dense(self) -> dict[str, Linear]:
        """Return the fully connected layers by their names, in order; none for weights that are always the same."""
        widths = ((REGIONS**2 + 1) * self.pooled, self.hidden, self.channels)
        return {name: Linear(*pair) for name, pair in zip(_PARTS, pairwise(widths), strict=False) if self.hidden}

    def holds(self, other: "LinePolicy") -> bool:
        """Return True if this head can start with the policies of another one (`nets.dual.enlarged`)."""
        return self == other or (self.hidden > 0 and self == replace(other, hidden=self.hidden) and not other.hidden)


@dataclass(frozen=True, slots=True)
class LineValue(_LineHead):
    """Pooling over regions of the board, and two or three fully connected layers."""

    PATTERN, EXAMPLE = r"regions-(?P<regions>\d{1,9})-(?P<hidden>\d{1,9})(?:-(?P<more>\d{1,9}))?", "regions-15-32"

    channels: int
    pooled: int
    """Channels that are pooled."""
    hidden: tuple[int, ...]
    """Units of each hidden layer, of which there are one or two."""

    def parts(self) -> Mapping[str, Layer | Conv | Norm | Linear]:
        """See `Layer.parts`."""
        return {"mix": Linear(self.channels, self.pooled), **self.dense()}

    def dense(self) -> dict[str, Linear]:
        """Return the fully connected layers by their names, in order."""
        widths = ((REGIONS**2 + 1) * self.pooled, *self.hidden, 1)
        return {name: Linear(*pair) for name, pair in zip(_PARTS, pairwise(widths), strict=False)}

    def holds(self, other: "LineValue") -> bool:
        """Return True if this head can start with the values of a smaller one (`nets.line_blocks`)."""
        least = (*other.hidden, other.hidden[-1]) if len(other.hidden) < len(self.hidden) else other.hidden
        fits = len(least) == len(self.hidden) and all(map(operator.ge, self.hidden, least))
        return self.channels == other.channels and self.pooled == other.pooled and fits
