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
                 each cell; ReLU. The function has two hidden layers of 64 units
    lines-32:256     two of 256 units; only training takes longer, since a table holds the function in play
    lines-32:256x3   three hidden layers, of 4 at most
    spread       trunk: depthwise 3x3 convolution, ReLU, 1x1 convolution, added to its input; ReLU
    cells        policy head: a product over the channels of each cell
    cells-64     whose weights depend on the means and maxima of the value head, by 64 hidden units
    regions-15-32    value head: 1x1 convolution to 15 channels, ReLU; their means over nine regions of the board and
                 their maxima; 32 hidden units
    regions-15-128-64    two hidden layers, of 128 and 64 units
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.compiled.line_nets.numbers import CHANNELS_STEP, LANES, MAX_CHANNELS, MAX_DENSE, POOLED
from core.input_limits import MAX_FILTERS, MAX_LAYERS, quoted
from nets.layers.board import Attention, Convolution, FullyConnected, GlobalMaximum, PoolingBias, Residual
from nets.layers.lines import LineFeatures, LinePolicy, LineSpread, LineValue
from nets.layers.parts import Layer, Shape, Tensors, named
from nets.targets import Target

LAYERS: list[type[Layer]] = [
    Convolution,
    Residual,
    PoolingBias,
    Attention,
    GlobalMaximum,
    FullyConnected,
    LineFeatures,
    LineSpread,
    LinePolicy,
    LineValue,
]
"""All layers, by their names in `net.trunk` and the heads."""


class NetLayers(NamedTuple):
    """The layers of a net, in order."""

    trunk: tuple[Layer, ...]
    heads: dict[str, tuple[Layer, ...]]
    """By the names of their targets: `policy`, `value`, and the auxiliary ones."""

    def tensors(self) -> Tensors:
        """Yield all tensors by their names in the net."""
        for part, layers in {"trunk": self.trunk, **self.heads}.items():
            for number, layer in enumerate(layers):
                yield from named(f"{part}.{number}", layer.tensors())


def net_layers(
    planes: int,
    size: int,
    *,
    trunk: Sequence[str],
    policy_head: Sequence[str],
    value_head: Sequence[str],
    auxiliary: Iterable[Target],
    batch_norm: bool,
) -> NetLayers:
    """Return the layers of a net from `planes` planes of a board of `size`.

    Raises `ValueError` with the name of a layer that does not exist or does not fit; no error depends on the size.
    """
    layers, shape = _chain(trunk, Shape(planes, size), "trunk", batch_norm, outputs=None)
    if isinstance(layers[0], LineFeatures):
        heads = _line_heads(layers, policy_head, value_head)
    else:
        if not isinstance(layers[0], Convolution):
            raise ValueError("trunk must begin with a convolution, such as conv3-32, or with lines-32")
        if not shape.width:
            raise ValueError("trunk must keep the board: max and linear are for heads")
        if any(isinstance(layer, LineFeatures | LineSpread) for layer in layers):
            raise ValueError("trunk must begin with lines, if it has lines or spread layers")
        heads = {
            "policy": _head(policy_head, shape, "policy_head", batch_norm, None, size),
            "value": _head(value_head, shape, "value_head", batch_norm, 1, size),
        }
    for target in auxiliary:
        heads[target.name] = _head(target.head, shape, f"{target.name} head", batch_norm, target.units, size)
    return NetLayers(layers, heads)


def _head(
    names: Sequence[str], shape: Shape, part: str, normed: bool, units: int | None, size: int
) -> tuple[Layer, ...]:
    """Return the layers of a head with so many outputs; None for one a cell."""
    head, output = _chain(names, shape, part, normed, outputs=size * size if units is None else units or 1)
    if any(isinstance(layer, LineFeatures | LineSpread) for layer in head):
        raise ValueError("trunk must begin with lines, if it has lines or spread layers; heads have none")
    if output.width and units is not None:
        raise ValueError(f"{part} must end with linear")
    if output.width and (output != Shape(1, size) or not _is_bare(head[-1])):
        raise ValueError(f"{part} must end with linear, or with one plane of {size}x{size}, such as conv3-1-bare")
    return head


def _line_heads(
    trunk: tuple[Layer, ...], policy_head: Sequence[str], value_head: Sequence[str]
) -> dict[str, tuple[Layer, ...]]:
    """Return the heads of a line-pattern net. Raises `ValueError` for layers that it cannot have."""
    features, *others = trunk
    assert isinstance(features, LineFeatures)
    if features.channels % CHANNELS_STEP or features.channels > MAX_CHANNELS:
        raise ValueError(
            f"trunk: lines-{features.channels} must have a multiple of {CHANNELS_STEP} channels, at most {MAX_CHANNELS}"
        )
    if not others or not all(isinstance(layer, LineSpread) for layer in others):
        raise ValueError("trunk: after lines come spread layers alone, at least one")
    policies, heads = _parsed(policy_head, "policy_head"), _parsed(value_head, "value_head")
    (kind, policy), (value_kind, match) = policies[0], heads[0]
    if len(policies) > 1 or kind is not LinePolicy:
        raise ValueError("policy_head of a net of lines must be cells, such as cells or cells-64")
    if len(heads) > 1 or value_kind is not LineValue:
        raise ValueError("value_head of a net of lines must be regions, such as regions-15-32")
    units = int(policy["hidden"] or 0)
    if units % LANES or units > MAX_DENSE:
        raise ValueError(f"policy_head: cells must have a multiple of {LANES} hidden units, at most {MAX_DENSE}")
    pooled, hidden = int(match["regions"]), tuple(int(units) for units in match.group("hidden", "more") if units)
    if pooled != POOLED or any(units % LANES for units in hidden):
        raise ValueError(f"value_head: regions must have {POOLED} channels, and a multiple of {LANES} hidden units")
    if hidden[0] > MAX_DENSE and len(hidden) > 1:
        raise ValueError(f"value_head: the first of two hidden layers has at most {MAX_DENSE} units")
    channels = features.channels
    return {"policy": (LinePolicy(channels, pooled, units),), "value": (LineValue(channels, pooled, hidden),)}


def _chain(
    names: Sequence[str], shape: Shape, part: str, normed: bool, *, outputs: int | None
) -> tuple[tuple[Layer, ...], Shape]:
    """Return the layers of a part and the shape of its output; `outputs`: units of a final `linear`."""
    layers: list[Layer] = []
    parsed = _parsed(names, part)
    for number, (kind, match) in enumerate(parsed, start=1):
        name = match[0]
        if name == "linear" and (number < len(parsed) or outputs is None):
            raise ValueError(f"{part}: linear, without a number of units, can only be the last layer of a head")
        if not shape.width and kind.NEEDS_BOARD:
            raise ValueError(f"{part}: {name} needs a board, but an earlier layer left single units")
        try:
            layer = kind.of(match, shape, normed=normed, outputs=outputs or 0)
        except ValueError as error:
            raise ValueError(f"{part}: {error}") from error
        layers.append(layer)
        shape = layer.output(shape)
    if not shape.width and outputs is not None and parsed[-1][1][0] != "linear":
        raise ValueError(f"{part} must end with linear")
    return tuple(layers), shape


def _parsed(names: Sequence[str], part: str) -> list[tuple[type[Layer], re.Match[str]]]:
    """Return the class of each layer, without repetitions, and the match of its name."""
    found: list[tuple[type[Layer], re.Match[str]]] = []
    for name in names:
        single, star, repeated = name.partition("*")
        matches = [(kind, re.compile(kind.PATTERN, re.ASCII).fullmatch(single)) for kind in LAYERS]
        matched = [(kind, match) for kind, match in matches if match is not None]
        if not matched or (star and not re.fullmatch(r"\d{1,9}", repeated, re.ASCII)):
            examples = ", ".join(kind.EXAMPLE for kind in LAYERS)
            raise ValueError(
                f"{part}: there is no layer {quoted(name)}; valid are {examples}, with *4 for four of them"
            )
        for group, number in matched[0][1].groupdict().items():
            if group not in _NO_CHANNELS and number is not None and not 1 <= int(number) <= MAX_FILTERS:
                raise ValueError(f"{part}: {single} has {int(number):,} channels; it must be from 1 to {MAX_FILTERS:,}")
        times = int(repeated) if star else 1
        if not 1 <= times <= MAX_LAYERS - len(found):
            raise ValueError(f"{part} must have 1 to {MAX_LAYERS} layers")
        found += matched[:1] * times
    if not found:
        raise ValueError(f"{part} must have 1 to {MAX_LAYERS} layers")
    return found


_NO_CHANNELS = ("kernel", "padding", "bare")
"""Groups of names that `Convolution.of` checks."""


def _is_bare(layer: Layer) -> bool:
    return isinstance(layer, Convolution) and not layer.activated
