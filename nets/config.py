"""What a net is built from, and what may run it. Needs no torch, so that a configuration can be read without it."""

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


class Backend(StrEnum):
    """What runs the nets."""

    AUTO = "auto"
    """On a GPU torch, on a CPU OpenVINO."""
    TORCH = "torch"
    OPENVINO = "openvino"
    ONNXRUNTIME = "onnxruntime"


class Precision(StrEnum):
    """What the nets compute with."""

    AUTO = "auto"
    """The fastest that the device multiplies natively: float16 on a GPU, bfloat16 or float32 on a CPU."""
    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    """On a GPU alone; as fast there as bfloat16, and eight times closer to float32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeChoice:
    """How nets are run: a matter of the machine, never of a run's configuration."""

    backend: Backend = Backend.AUTO
    precision: Precision = Precision.AUTO


class RuntimeNotice(UserWarning):
    """What runs the nets is not what was chosen but something slower, or needs some seconds to be prepared."""


_runtime = RuntimeChoice()


def set_runtime(choice: RuntimeChoice) -> None:
    """Chooses how this process runs nets from now on, wherever nothing else is said."""
    global _runtime
    _runtime = choice


def default_runtime() -> RuntimeChoice:
    """What `set_runtime` chose last."""
    return _runtime


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
