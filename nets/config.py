"""Settings of nets: their sizes and planes, and the choice of a runtime. Imports no torch."""

from dataclasses import dataclass
from enum import StrEnum

from core.limits import MAX_BLOCKS, MAX_FILTERS


class Planes(StrEnum):
    """The planes of a net's input."""

    THREE = "own-opponent-last"
    """Own stones, the opponent's, the opponent's last move (A II-B)."""
    FOUR = "own-opponent-last-colour"
    """Those of `THREE`, and all ones when the first player is to move (S)."""
    FIVE = "own-opponent-last-two-colour"
    """Own stones, the opponent's, the last two moves, all ones when the first player is to move (Y 3.1.1)."""


PLANE_COUNT = {Planes.THREE: 3, Planes.FOUR: 4, Planes.FIVE: 5}
LAST_MOVES = {Planes.THREE: 1, Planes.FOUR: 1, Planes.FIVE: 2}
"""Planes of last moves."""


class Backend(StrEnum):
    """The library that runs the nets."""

    AUTO = "auto"
    """torch on a GPU, OpenVINO on a CPU."""
    TORCH = "torch"
    OPENVINO = "openvino"
    ONNXRUNTIME = "onnxruntime"


class Precision(StrEnum):
    """The number format that the nets compute in."""

    AUTO = "auto"
    """The fastest that the device multiplies natively: float16 on a GPU, bfloat16 or float32 on a CPU."""
    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    """On a GPU only; as fast there as bfloat16, and eight times closer to float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeChoice:
    """The library and precision that run nets: a choice for a machine, never part of a run's configuration."""

    backend: Backend = Backend.AUTO
    precision: Precision = Precision.AUTO


class RuntimeNotice(UserWarning):
    """A slower runtime replaces the chosen one, or the runtime needs some seconds of preparation."""


_runtime = RuntimeChoice()


def set_runtime(choice: RuntimeChoice) -> None:
    """Set the runtime choice that this process uses from now on by default."""
    global _runtime
    _runtime = choice


def default_runtime() -> RuntimeChoice:
    """Return the choice that `set_runtime` set last."""
    return _runtime


@dataclass(frozen=True, slots=True, kw_only=True)
class NetConfig:
    """Sizes of the residual policy-value net of paper A (tables I to III)."""

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
    """Use one net for each colour (A III-B); false shares one net."""

    def __post_init__(self) -> None:
        for name in ("filters", "policy_filters", "value_filters", "value_hidden"):
            if not 1 <= getattr(self, name) <= MAX_FILTERS:
                raise ValueError(f"{name} is {getattr(self, name):,}; it must be from 1 to {MAX_FILTERS:,}")
        if not 0 <= self.blocks <= MAX_BLOCKS:
            raise ValueError(f"blocks is {self.blocks:,}; it must be from 0 to {MAX_BLOCKS:,}")
