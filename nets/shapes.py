"""Tensors of a model by its configuration alone, without torch: a model file is checked before a net is built."""

import numpy as np
from numpy.typing import NDArray

from core.rules import BLACK, WHITE, Colour, Rules
from nets.config import NetConfig
from nets.layers import NORM_STATISTICS
from nets.tensor_types import WEIGHTS, TensorType


def net_colours(dual: bool) -> dict[str, Colour | None]:
    """Return the names of a model's nets, each with the side to move of its positions; None stands for both."""
    return {"black": BLACK, "white": WHITE} if dual else {"shared": None}


def net_names(config: NetConfig) -> tuple[str, ...]:
    """Return the names of a model's nets."""
    return tuple(net_colours(config.dual))


def rows_by_net(to_move: NDArray[np.int8], dual: bool) -> list[tuple[str, NDArray[np.intp]]]:
    """Return each net's name with its rows of a batch with `to_move` [B]; nets without a row are left out."""
    parts = {
        name: np.arange(len(to_move)) if colour is None else np.flatnonzero(to_move == colour)
        for name, colour in net_colours(dual).items()
    }
    return [(name, rows) for name, rows in parts.items() if len(rows)]


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
