"""Line-pattern nets as integers, in which their kernels compute (`core.compiled.line_nets`). Needs no torch."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.compiled.line_nets import numbers, patterns
from core.compiled.line_nets.arrays import aligned_empty
from core.compiled.line_nets.evaluation import LineNet
from core.compiled.line_nets.numbers import (
    DENSE_BITS,
    DENSE_TOP,
    LANES,
    MIX_BITS,
    MIX_TOP,
    NEAR_BITS,
    NEAR_TOP,
    REGIONS,
    ROW_TOP,
    UNIT_BITS,
)
from core.compiled.line_nets.patterns import OFF_BOARD, PATTERNS, halves
from core.files.cache_folder import CacheFolder, user_cache_folder
from core.input_limits import MAX_TABLE_BYTES
from nets.layers.lines import LinePolicy, LineValue
from nets.layers.names import NetLayers

_MAX_FILES = 8
"""Saved tables: two a model, of 25 MB each."""
_WITHOUT = "every start computes the tables of the model, and no process shares their memory"
_CHUNK_UNITS = 768
"""First halves of patterns whose rows are computed together, times the units of a hidden layer."""
_DIGITS = 3
"""Inputs of a cell."""
_NEAR_UNIT_BITS = UNIT_BITS + 1
"""Sums of a depthwise convolution have units of 2^-8."""

Weights = Mapping[str, NDArray[Any]]


def line_net(layers: NetLayers, weights: Weights, *, shared: bool = False) -> LineNet:
    """Return the integers of a line-pattern net. `weights`: its tensors by their names (`NetLayers.tensors`).

    `shared`: with the table of the user's cache folder, whose memory all processes share.
    """
    spreads = [f"trunk.{number}" for number in range(1, len(layers.trunk))]
    head_weights = np.concatenate((weights["policy.0.linear.weight"], weights["value.0.mix.weight"]))
    head_bias = np.concatenate((weights["policy.0.linear.bias"], weights["value.0.mix.bias"]))
    (policy,), (value,) = layers.heads["policy"], layers.heads["value"]
    assert isinstance(policy, LinePolicy)
    assert isinstance(value, LineValue)
    # Without hidden units the weights of the policy are those of the heads' product.
    channels, pools = policy.channels, (REGIONS**2 + 1) * policy.pooled
    none = ((np.zeros((0, pools)), np.zeros(0)), (np.zeros((channels, 0)), np.zeros(channels)))
    (own, own_bias), (second, second_bias) = _dense_layers("policy", policy.dense(), weights) or none
    shared_weights = np.clip(weights["policy.0.linear.weight"][0], -MIX_TOP / 2**MIX_BITS, MIX_TOP / 2**MIX_BITS)
    layer = _dense_layers("value", value.dense(), weights)
    # The identity in place of a second hidden layer changes no integer.
    layer[1:-1] = layer[1:-1] or [(np.eye(value.hidden[0]), np.zeros(value.hidden[0]))]
    (dense, dense_bias), (deep, deep_bias), (last, last_bias) = layer
    last = np.append(_rounded(last, DENSE_BITS, DENSE_TOP), _bias(last_bias, UNIT_BITS + DENSE_BITS))
    return LineNet(
        table=(_shared_table if shared else _table)(tuple(layers.trunk[0].parts()), weights),
        near=np.stack([_taps(weights[f"{name}.near.weight"]) for name in spreads]),
        near_bias=np.stack([_near_bias(weights[f"{name}.near.bias"]) for name in spreads]),
        mix=np.stack([_packed(weights[f"{name}.mix.weight"], MIX_BITS, MIX_TOP) for name in spreads]),
        mix_bias=np.stack([_bias(weights[f"{name}.mix.bias"], UNIT_BITS + MIX_BITS) for name in spreads]),
        heads=_packed(head_weights, MIX_BITS, MIX_TOP),
        heads_bias=_bias(head_bias, UNIT_BITS + MIX_BITS),
        own=_packed(_pooled(own), DENSE_BITS, DENSE_TOP),
        own_bias=_bias(own_bias, UNIT_BITS + DENSE_BITS),
        policy=_packed(second, DENSE_BITS, DENSE_TOP),
        policy_bias=_bias(second_bias + shared_weights, UNIT_BITS + DENSE_BITS),
        dense=_packed(_pooled(dense), DENSE_BITS, DENSE_TOP),
        dense_bias=_bias(dense_bias, UNIT_BITS + DENSE_BITS),
        deep=_packed(deep, DENSE_BITS, DENSE_TOP),
        deep_bias=_bias(deep_bias, UNIT_BITS + DENSE_BITS),
        last=last.astype(np.int32),
    )


def _dense_layers(head: str, names: Iterable[str], weights: Weights) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return weights and biases of a head's fully connected layers."""
    return [(weights[f"{head}.0.{name}.weight"], weights[f"{head}.0.{name}.bias"]) for name in names]


def _pooled(weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights [n, 10 pooled] with a zero for the policy's output, which has a place among the pooled ones."""
    units, pools = len(weights), REGIONS**2 + 1
    apart = weights.reshape(units, pools, weights.shape[1] // pools)
    return np.pad(apart, ((0, 0), (0, 0), (1, 0))).reshape(units, weights.shape[1] + pools)


def _shared_table(parts: Iterable[str], weights: Weights) -> NDArray[np.int16]:
    """Return the table of a net from its file, which is written at the first use; made here where it cannot be."""
    digest = hashlib.sha256()
    for path in (Path(__file__), Path(patterns.__file__), Path(numbers.__file__)):
        digest.update(path.read_bytes())
    for name in sorted(name for name in weights if name.startswith("trunk.0.")):
        digest.update(np.ascontiguousarray(weights[name]).tobytes())
    folder, name = CacheFolder(user_cache_folder() / "tables", _WITHOUT), f"{digest.hexdigest()[:32]}.table"
    if (data := folder.read(name, MAX_TABLE_BYTES, mapped=True)) is None:
        table = _table(parts, weights)
        if not folder.write(name, table.data.cast("B")):
            return table
        folder.keep_newest(_MAX_FILES)
        data = folder.read(name, MAX_TABLE_BYTES, mapped=True)
    return table if data is None else np.frombuffer(data, np.int16).reshape(PATTERNS, -1)


def _table(parts: Iterable[str], weights: Weights) -> NDArray[np.int16]:
    """Return [PATTERNS, C] the features of each pattern. `parts`: names of the layers that make them."""
    first, *others = (
        (weights[f"trunk.0.{name}.weight"].astype(np.float64).T, weights[f"trunk.0.{name}.bias"].astype(np.float64))
        for name in parts
    )
    # The first layer is a sum over the cells of a pattern, so each half has its share.
    before, after = halves()
    cut = _DIGITS * before.shape[1]
    shares = _inputs(before) @ first[0][:cut] + first[1], _inputs(after) @ first[0][cut:]
    # A row is a cache line or two.
    table = aligned_empty((len(before), len(after), len(others[-1][1])), np.int16)
    chunk = max(1, _CHUNK_UNITS // len(first[1]))
    # Memory that is used again: fresh pages for each step would take more time than the sums.
    room = [np.empty((chunk * len(after), len(bias))) for _, bias in (first, *others)]
    for start in range(0, len(before), chunk):
        share = shares[0][start : start + chunk, None]
        x, *sums = (each[: len(share) * len(after)] for each in room)
        np.add(share, shares[1], out=x.reshape(len(share), *shares[1].shape))
        for (weight, bias), y in zip(others, sums, strict=True):
            np.matmul(np.maximum(x, 0.0, out=x), weight, out=y)
            y += bias
            x = y
        table[start : start + chunk] = _rounded(x, UNIT_BITS, ROW_TOP, out=x).reshape(-1, *table.shape[1:])
    return table.reshape(PATTERNS, -1)


def _inputs(digits: NDArray[np.int8]) -> NDArray[np.float64]:
    """Return the inputs [n, 3 cells] of digits [n, cells]."""
    kinds = np.stack([digits == digit for digit in (1, 2, OFF_BOARD)], axis=2)
    return kinds.reshape(len(digits), -1).astype(np.float64)


def _rounded(values: NDArray[Any], bits: int, top: int, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return numbers in units of 2^-bits, rounded, from -top to top."""
    scaled: NDArray[np.float64] = np.multiply(values, 2.0**bits, out=out, dtype=np.float64)
    scaled += 0.5
    return np.clip(np.floor(scaled, out=scaled), -top, top, out=scaled)


def _bias(values: NDArray[Any], bits: int) -> NDArray[np.int32]:
    return _rounded(values, bits, 1 << 28).astype(np.int32)


def _taps(weights: NDArray[Any]) -> NDArray[np.int16]:
    """Return the weights of a depthwise convolution [C, 1, 3, 3] as [9, C]."""
    rounded = _rounded(weights.reshape(len(weights), 9), NEAR_BITS, NEAR_TOP)
    # Contiguous, since the kernels read flat memory.
    return np.ascontiguousarray(rounded.T, dtype=np.int16)


def _near_bias(values: NDArray[Any]) -> NDArray[np.int16]:
    # Each of nine products is rounded down, by half a unit on average.
    return _rounded(values + 4.5 / 2.0**_NEAR_UNIT_BITS, _NEAR_UNIT_BITS, 1 << 10).astype(np.int16)


def _packed(weights: NDArray[Any], bits: int, top: int) -> NDArray[np.int16]:
    """Return weights [outputs, inputs] by 16 outputs and pairs of inputs: [outputs / 16, inputs / 2, 16, 2]."""
    outputs, inputs = weights.shape
    blocks = _rounded(weights, bits, top).astype(np.int16).reshape(outputs // LANES, LANES, inputs // 2, 2)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3))
