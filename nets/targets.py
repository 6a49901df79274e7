"""Targets of training: what heads learn. One declaration each, from which samples, heads, losses and metrics follow.

A model has the targets `policy` and `value`, and those of `net.auxiliary`, whose heads play no part in games. A new one
is an entry of `AUXILIARY`. Imports no torch: losses are written with the methods of tensors.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.rules import Cell, Colour

if TYPE_CHECKING:
    from torch import Tensor

_TOLERANCE = 1e-3
"""Of the sum of a policy target, and of a value target."""


class FinishedGame(NamedTuple):
    """A game with T positions to learn from, of which targets are made."""

    to_move: NDArray[np.int8]
    """[T] the side to move."""
    moves: tuple[Cell, ...]
    """[T] the move that was played at each position; the last one ended the game."""
    winner: Colour | None
    """None after a draw."""
    policies: NDArray[np.float32]
    """[T, A] the policy that the nets shall have."""
    values: NDArray[np.float32]
    """[T] the value that they shall have, for the side to move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Numbers of a sample, and the head that learns them.

    A row of zeros stands for a sample that has no such target, as basic positions have none of a game: its loss must be
    0.
    """

    name: str
    """Of the head in the net; `NAME_loss` in the metrics."""
    array: str
    """Its array in files of samples."""
    units: int | None = None
    """Numbers of a sample: None for one a cell, which symmetries move; 0 for a single number, in an array [B]."""
    head: tuple[str, ...] = ()
    """Layers from the trunk; without them those of `net.NAME_head`."""
    of_game: Callable[[FinishedGame], NDArray[np.float32]]
    """Returns the target of each position of a game: [T, units], [T, A] or [T]."""
    loss: Callable[["Tensor", "Tensor"], "Tensor"]
    """Returns the losses [B] for outputs and targets, both [B, units], [B, A] or [B], in float32."""
    weight: float = 1.0
    """Of its mean in the sum of losses."""
    is_right: Callable[[NDArray[Any]], bool] = lambda rows: bool(np.isfinite(rows).all())
    """Returns False for rows that no sample has: files come from anyone."""

    def shape(self, cells: int) -> tuple[int, ...]:
        """Return the shape of a sample's target."""
        return (cells,) if self.units is None else (self.units,) if self.units else ()

    def outputs(self, cells: int) -> int:
        """Return the number of outputs of its head."""
        return cells if self.units is None else self.units or 1


def cross_entropy(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """Return the cross entropy [B] of logits with distributions, both [B, n]."""
    return -(targets * outputs.log_softmax(dim=1)).sum(dim=1)


def _are_policies(rows: NDArray[Any]) -> bool:
    return bool(((rows >= 0) & (rows <= 1 + _TOLERANCE)).all() and (abs(rows.sum(axis=1) - 1) <= _TOLERANCE).all())


POLICY = Target(
    name="policy",
    array="policies",
    of_game=lambda game: game.policies,
    loss=cross_entropy,
    is_right=_are_policies,
)
VALUE = Target(
    name="value",
    array="values",
    units=0,
    of_game=lambda game: game.values,
    loss=lambda outputs, targets: (targets - outputs) ** 2,
    is_right=lambda rows: bool((abs(rows) <= 1 + _TOLERANCE).all()),
)
AUXILIARY: list[Target] = []
"""Targets that a net may have besides, by their names in `net.auxiliary`."""


def all_targets() -> list[Target]:
    """Return every target that a file of samples may have."""
    return [POLICY, VALUE, *AUXILIARY]


def targets_of(auxiliary: Iterable[str]) -> list[Target]:
    """Return the targets of a net with these auxiliary ones. Raises `ValueError` for a name that does not exist."""
    known = {target.name: target for target in AUXILIARY}
    for name in auxiliary:
        if name not in known:
            raise ValueError(f"there is no auxiliary target {name!r}; valid are {', '.join(known) or 'none so far'}")
    return [POLICY, VALUE, *(known[name] for name in auxiliary)]
