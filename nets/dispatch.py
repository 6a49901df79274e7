"""The net that evaluates a position: in a model of two, that of the side to move (A III-B)."""

import numpy as np
from numpy.typing import NDArray

from core.rules import BLACK, WHITE, Colour
from nets.config import NetConfig


def net_colours(dual: bool) -> dict[str, Colour | None]:
    """Return the names of a model's nets, each with the side to move of its positions; None stands for both."""
    return {"black": BLACK, "white": WHITE} if dual else {"shared": None}


def net_names(config: NetConfig) -> tuple[str, ...]:
    """Return the names of a model's nets."""
    return tuple(net_colours(config.dual))


def rows_of(to_move: NDArray[np.int8], colour: Colour | None) -> NDArray[np.intp]:
    """Return the rows of a batch with `colour` to move, of `to_move` [B]; None stands for both."""
    return np.arange(len(to_move)) if colour is None else np.flatnonzero(to_move == colour)


def rows_by_net(to_move: NDArray[np.int8], dual: bool) -> list[tuple[str, NDArray[np.intp]]]:
    """Return each net's name with its rows of a batch with `to_move` [B]; nets without a row are left out."""
    parts = {name: rows_of(to_move, colour) for name, colour in net_colours(dual).items()}
    return [(name, rows) for name, rows in parts.items() if len(rows)]
