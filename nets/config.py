"""What a net is built from. Needs no torch, so that a configuration can be read without it."""

from dataclasses import dataclass
from enum import StrEnum


class Planes(StrEnum):
    """How a position becomes the planes of a net's input."""

    THREE = "own-opponent-last"
    """Own stones, the opponent's, the opponent's last move (A II-B)."""
    FOUR = "own-opponent-last-colour"
    """The three, and all ones when the first player is to move (S)."""
    FIVE = "own-opponent-last-two-colour"
    """Own, the opponent's, last move, the move before it, all ones when the first player is to move (Y 3.1.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetConfig:
    """The residual policy-value net of paper A (tables I to III), and its sizes."""

    planes: Planes = Planes.THREE
    """The input's planes."""
    filters: int = 32
    """Filters of the trunk's convolutions."""
    blocks: int = 2
    """Residual blocks."""
    policy_filters: int = 2
    """Filters of the policy head's 1x1 convolution."""
    value_filters: int = 1
    """Filters of the value head's 1x1 convolution."""
    value_hidden: int = 32
    """Units of the value head's hidden layer."""
    dual: bool = True
    """One net a colour (A III-B); false shares one net."""

    def __post_init__(self) -> None:
        for name in ("filters", "policy_filters", "value_filters", "value_hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if self.blocks < 0:
            raise ValueError(f"blocks is {self.blocks}; it must be 0 or more")
