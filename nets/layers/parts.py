"""The base of layers, and the parts that they are made of."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nets.tensor_types import COUNTS, WEIGHTS, TensorType

if TYPE_CHECKING:
    from torch import Tensor

NORM_STATISTICS = ("running_mean", "running_var")
"""State of batch norms that is not trained."""
Tensors = Iterator[tuple[str, TensorType]]


class Shape(NamedTuple):
    """The output of a layer: channels, and the width of the board; 0 for units alone."""

    channels: int
    width: int


class Conv(NamedTuple):
    """A part of layers: a convolution with a bias."""

    channels_in: int
    channels_out: int
    kernel: int = 3
    """Cells along an edge of the kernel, odd."""
    padding: int = 1
    """Rings of zeros around the board; half the kernel keeps its size."""
    groups: int = 1

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        shape = (self.channels_out, self.channels_in // self.groups, self.kernel, self.kernel)
        yield "weight", TensorType(WEIGHTS, shape)
        yield "bias", TensorType(WEIGHTS, (self.channels_out,))


class Norm(NamedTuple):
    """A part of layers: a batch norm."""

    channels: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        for part in ("weight", "bias", *NORM_STATISTICS):
            yield part, TensorType(WEIGHTS, (self.channels,))
        yield "num_batches_tracked", TensorType(COUNTS, ())


class Linear(NamedTuple):
    """A part of layers: a fully connected layer of units, or of the channels of each cell."""

    units_in: int
    units_out: int

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        yield "weight", TensorType(WEIGHTS, (self.units_out, self.units_in))
        yield "bias", TensorType(WEIGHTS, (self.units_out,))


class Layer:
    """A layer of a net: a frozen dataclass that says its name, its parts and its function. `LAYERS` lists all.

    A subclass states `PATTERN`, `EXAMPLE` and `parts`, with `forward` over them. One with more than `channels` among
    its fields has an `of`, and one that changes the shape an `output`.
    """

    PATTERN: ClassVar[str]
    """Its name as a regular expression; each named group is a number of channels or units, unless `of` checks it."""
    EXAMPLE: ClassVar[str]
    """An example of its name."""
    NEEDS_BOARD: ClassVar[bool] = True
    """False for layers that take single units too."""

    @classmethod
    def of(cls, match: re.Match[str], shape: Shape, *, normed: bool, outputs: int) -> "Layer":
        """Return the layer of a name, after layers that leave `shape`. Raises `ValueError` for one that cannot be.

        `normed`: convolutions have batch norms. `outputs`: of the head, 0 in a trunk.
        """
        make: Any = cls
        layer: Layer = make(shape.channels)
        return layer

    def output(self, shape: Shape) -> Shape:
        """Return the shape of the output for that of the input."""
        return shape

    def parts(self) -> Mapping[str, "Layer | Conv | Norm | Linear"]:
        """Return the parts with weights by their names, which are those of their tensors."""
        return {}

    def tensors(self) -> Tensors:
        """Yield the tensors by their names."""
        for name, part in self.parts().items():
            yield from named(name, part.tensors())

    def forward(self, parts: Any, x: "Tensor") -> "Tensor":
        """Return the output for x [B, C, D, D], or for units [B, C]. `parts` has a module of each part by its name."""
        raise NotImplementedError


def named(name: str, tensors: Tensors) -> Tensors:
    """Return the tensors of a part with its name in front of theirs."""
    return ((f"{name}.{part}", kind) for part, kind in tensors)
