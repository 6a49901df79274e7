"""A line-pattern net with a larger function of patterns that starts with the values of a smaller one (Net2Net).

A new unit is a copy of an old one, and the copies share its weights in the next layer at random, so that they learn
different things. A new hidden layer is the identity. (Chen, Goodfellow, Shlens, arXiv 1511.05641.)
"""

from dataclasses import replace

import torch
from torch import Tensor

from core.rules import Rules
from nets.config import NetConfig
from nets.dual import DualNet, make_model
from nets.layers.lines import LineFeatures

_SHARES = (0.5, 1.5)
"""Least and largest share of a copy, before all copies of a unit are scaled to one."""


def holds(config: NetConfig, other: NetConfig) -> bool:
    """Return True if nets of `config` can start as those of `other`, whose function of patterns alone is smaller."""
    ours, theirs = config.line_features, other.line_features
    if ours is None or theirs is None:
        return config == other
    return ours.holds(theirs) and replace(config, trunk=(other.trunk[0], *config.trunk[1:])) == other


def enlarged(model: DualNet, config: NetConfig, rules: Rules, seed: int) -> DualNet:
    """Return a model of `config`, which holds that of `model`, with the same policies and values but for rounding."""
    result = make_model(config, rules, seed)
    random = torch.Generator().manual_seed(seed % (1 << 63))
    for name, net in model.nets.items():
        weights = dict(net.state_dict())
        old, new = model.config.line_features, config.line_features
        if old is not None and new is not None and old != new:
            weights |= _larger(weights, old, new, random)
        result.nets[name].load_state_dict(weights)
    return result.eval()


def _larger(
    weights: dict[str, Tensor], old: LineFeatures, new: LineFeatures, random: torch.Generator
) -> dict[str, Tensor]:
    """Return the tensors of the function of patterns of a net."""
    layers = [(weights[f"trunk.0.{name}.weight"], weights[f"trunk.0.{name}.bias"]) for name in old.parts()]
    identity = (torch.eye(old.units), torch.zeros(old.units))
    layers[-1:-1] = [identity] * (new.depth - old.depth)
    copied = torch.arange(new.units) % old.units
    for at in range(new.depth):
        weight, bias = layers[at]
        layers[at] = weight[copied], bias[copied]
        after, after_bias = layers[at + 1]
        shares = torch.empty(len(after), new.units).uniform_(*_SHARES, generator=random)
        sums = torch.zeros(len(after), old.units).index_add_(1, copied, shares)
        layers[at + 1] = after[:, copied] * shares / sums[:, copied], after_bias
    return {
        f"trunk.0.{name}.{kind}": tensor
        for name, layer in zip(new.parts(), layers, strict=True)
        for kind, tensor in zip(("weight", "bias"), layer, strict=True)
    }
