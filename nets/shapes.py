"""Tensors of a net by its configuration alone, without torch: a model file is checked before a net is built.

A new block of `nets.architectures` lists its tensors here too; `tests/nets/test_hostile_models.py` compares the two.
"""

from collections.abc import Iterator

from core.rules import Rules
from nets.config import PLANE_COUNT, NetConfig
from nets.tensor_file import COUNTS, WEIGHTS, TensorType

NORM_STATISTICS = ("running_mean", "running_var")
"""State of batch norms that is not trained."""


def net_names(config: NetConfig) -> tuple[str, ...]:
    """Return the names of a model's nets."""
    return ("black", "white") if config.dual else ("shared",)


def tensor_types(config: NetConfig, rules: Rules) -> dict[str, TensorType]:
    """Return the type and shape of each tensor of a model, by its name in a model file."""
    return {f"{net}.{name}": kind for net in net_names(config) for name, kind in _policy_value_net(config, rules.cells)}


def parameter_total(config: NetConfig, rules: Rules) -> int:
    """Return the number of trainable parameters, all nets of a model together."""
    return sum(
        kind.size
        for name, kind in tensor_types(config, rules).items()
        if kind.dtype == WEIGHTS and not name.endswith(NORM_STATISTICS)
    )


def _policy_value_net(config: NetConfig, cells: int) -> Iterator[tuple[str, TensorType]]:
    filters = config.filters
    yield from _conv_norm("stem", PLANE_COUNT[config.planes], filters, 3)
    for block in range(config.blocks):
        yield from _conv_norm(f"tower.{block}.first", filters, filters, 3)
        yield from _conv_norm(f"tower.{block}.second", filters, filters, 3)
    yield from _conv_norm("policy_conv", filters, config.policy_filters, 1)
    yield from _linear("policy", config.policy_filters * cells, cells)
    yield from _conv_norm("value_conv", filters, config.value_filters, 1)
    yield from _linear("value_hidden", config.value_filters * cells, config.value_hidden)
    yield from _linear("value", config.value_hidden, 1)


def _conv_norm(name: str, channels_in: int, channels_out: int, kernel_size: int) -> Iterator[tuple[str, TensorType]]:
    yield f"{name}.conv.weight", TensorType(WEIGHTS, (channels_out, channels_in, kernel_size, kernel_size))
    for part in ("conv.bias", "norm.weight", "norm.bias", *(f"norm.{each}" for each in NORM_STATISTICS)):
        yield f"{name}.{part}", TensorType(WEIGHTS, (channels_out,))
    yield f"{name}.norm.num_batches_tracked", TensorType(COUNTS, ())


def _linear(name: str, units_in: int, units_out: int) -> Iterator[tuple[str, TensorType]]:
    yield f"{name}.weight", TensorType(WEIGHTS, (units_out, units_in))
    yield f"{name}.bias", TensorType(WEIGHTS, (units_out,))
