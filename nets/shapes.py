"""Tensors of a model by its configuration alone, without torch: a model file is checked before a net is built."""

from core.rules import Rules
from nets.config import NetConfig
from nets.dispatch import net_names
from nets.layers.parts import NORM_STATISTICS
from nets.tensor_types import WEIGHTS, TensorType


def tensor_types(config: NetConfig, rules: Rules) -> dict[str, TensorType]:
    """Return the type and shape of each tensor of a model, by its name in a model file."""
    tensors = dict(config.layers(rules.size).tensors())
    return {f"{net}.{name}": kind for net in net_names(config) for name, kind in tensors.items()}


def parameter_total(config: NetConfig, rules: Rules) -> int:
    """Return the number of trainable parameters, all nets of a model together."""
    return sum(
        kind.size
        for name, kind in tensor_types(config, rules).items()
        if kind.dtype == WEIGHTS and not name.endswith(NORM_STATISTICS)
    )


def fits(config: NetConfig, made_for: Rules, rules: Rules) -> bool:
    """Return True if the weights of a model made for some rules fit a model for others unchanged (Y 4.4)."""
    return tensor_types(config, made_for) == tensor_types(config, rules)
