"""Settings of nets: their layers and planes, and the choice of a runtime. Imports no torch."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from core.errors import Notice
from core.input_limits import MAX_BOARD_SIZE

if TYPE_CHECKING:
    from nets.layers.lines import LineFeatures, LinePolicy, LineValue
    from nets.layers.names import NetLayers
    from nets.targets import Target


class Planes(StrEnum):
    """The planes of a net's input."""

    TWO = "own-opponent"
    """Own stones, the opponent's."""
    THREE = "own-opponent-last"
    """Own stones, the opponent's, the opponent's last move (A II-B)."""
    FOUR = "own-opponent-last-colour"
    """Those of `own-opponent-last`, and all ones when the first player is to move (S)."""
    FIVE = "own-opponent-last-two-colour"
    """Own stones, the opponent's, the last two moves, all ones when the first player is to move (Y 3.1.1)."""


PLANE_COUNT = {Planes.TWO: 2, Planes.THREE: 3, Planes.FOUR: 4, Planes.FIVE: 5}
LAST_MOVES = {Planes.TWO: 0, Planes.THREE: 1, Planes.FOUR: 1, Planes.FIVE: 2}
"""Planes of last moves."""
COLOUR_PLANES = {Planes.TWO: 0, Planes.THREE: 0, Planes.FOUR: 1, Planes.FIVE: 1}
"""Planes of the colour to move."""


class Backend(StrEnum):
    """The library that runs the nets."""

    AUTO = "auto"
    """torch on a GPU, OpenVINO on a CPU."""
    TORCH = "torch"
    OPENVINO = "openvino"
    NUMBA = "numba"
    """Kernels of this program's own, for line-pattern nets alone, which they run by default."""


class Precision(StrEnum):
    """The number format that the nets compute in."""

    AUTO = "auto"
    """The fastest that the device multiplies natively: bfloat16, on older GPUs float16, else float32."""
    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    """On a GPU only; as fast there as bfloat16 and eight times closer to float32, but large numbers overflow."""
    INT16 = "int16"
    """Line-pattern nets only, which their kernels always compute in integers."""


AUTO_DEVICE, CPU_DEVICE = "auto", "cpu"
DEVICE_NAME = re.compile(rf"{AUTO_DEVICE}|{CPU_DEVICE}|cuda(:[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeChoice:
    """The library, precision and device that run nets: a choice for a machine, never part of a run's configuration."""

    backend: Backend = Backend.AUTO
    precision: Precision = Precision.AUTO
    device: str = AUTO_DEVICE
    """Of training too: `auto` takes a GPU if torch finds one, else the CPU; or `cpu`, `cuda`, `cuda:1`."""

    def runs_in_kernels(self, net: "NetConfig") -> bool:
        """Return True for a net that kernels of our own run: a search evaluates its leaves by itself then."""
        return self.backend in (Backend.AUTO, Backend.NUMBA) and net.has_lines


class RuntimeNotice(Notice):
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
    """A policy-value net, layer by layer (`nets.layers.names` lists their names); by default that of paper A.

    Raises `ValueError` for layers that do not exist or do not fit together.
    """

    planes: Planes = Planes.THREE
    """The input's planes."""
    trunk: tuple[str, ...] = ("conv3-32", "residual*2")
    """Layers from the planes to the heads (A table I)."""
    policy_head: tuple[str, ...] = ("conv1-2", "linear")
    """Layers from the trunk to the logits of all cells (A table II)."""
    value_head: tuple[str, ...] = ("conv1-1", "linear-32", "linear")
    """Layers from the trunk to the value, whose tanh is taken at the end (A table III)."""
    auxiliary: tuple[str, ...] = ()
    """Further heads, which learn beside policy and value and play no part in games: names of `nets.targets`."""
    batch_norm: bool = True
    """Normalise after each convolution; `pool` and `garb` have batch norms of their own in any case."""
    dual: bool = True
    """Use one net for each colour (A III-B); false shares one net."""

    def __post_init__(self) -> None:
        self.layers(MAX_BOARD_SIZE)

    @classmethod
    def tower(cls, filters: int, blocks: int, *, hidden: int = 32, **others: Any) -> Self:
        """Return the net of paper A with another width, number of residual blocks, and hidden layer of the value."""
        trunk = (f"conv3-{filters}", *([f"residual*{blocks}"] if blocks else []))
        return cls(trunk=trunk, value_head=("conv1-1", f"linear-{hidden}", "linear"), **others)

    @property
    def line_layers(self) -> "tuple[LineFeatures, LinePolicy, LineValue] | None":
        """The first layer and the heads of a line-pattern net; None for another net."""
        from nets.layers.lines import LineFeatures, LinePolicy, LineValue

        layers = self.layers(MAX_BOARD_SIZE)
        match layers.trunk[0], layers.heads["policy"][0], layers.heads["value"][0]:
            case LineFeatures() as first, LinePolicy() as policy, LineValue() as value:
                return first, policy, value
        return None

    @property
    def layer_names(self) -> str:
        """The layers of the trunk, the policy and the value, in one text."""
        return ", ".join((*self.trunk, *self.policy_head, *self.value_head))

    @property
    def has_lines(self) -> bool:
        """True for a line-pattern net."""
        return self.line_layers is not None

    def holds(self, other: "NetConfig") -> bool:
        """Return True if these nets can start as those of `other`.

        One net may start as that of White, and two as one. Line-pattern nets may have a larger function of patterns,
        larger heads, and more spreads.
        """
        other = replace(other, dual=self.dual)
        ours, theirs = self.line_layers, other.line_layers
        if ours is None or theirs is None:
            return self == other
        if not (ours[0].holds(theirs[0]) and ours[1].holds(theirs[1]) and ours[2].holds(theirs[2])):
            return False
        size, others = (len(net.layers(MAX_BOARD_SIZE).trunk) for net in (self, other))
        other = replace(other, trunk=self.trunk, policy_head=self.policy_head, value_head=self.value_head)
        return size >= others and self == other

    @property
    def targets(self) -> "list[Target]":
        """The targets of the net's heads: `policy`, `value`, and the auxiliary ones."""
        from nets.targets import targets_of

        return targets_of(self.auxiliary)

    def layers(self, size: int) -> "NetLayers":
        """Return the layers of a net for boards of `size`."""
        from nets.layers.names import net_layers  # the command line knows the runtimes without it

        return net_layers(
            PLANE_COUNT[self.planes],
            size,
            trunk=self.trunk,
            policy_head=self.policy_head,
            value_head=self.value_head,
            auxiliary=self.targets[2:],
            batch_norm=self.batch_norm,
        )


_in_use: dict[str, str] = {}


def note_use(**names: str) -> None:
    """Note `device` and `training_precision`, or `backend` and `precision`, when they begin; the last ones count."""
    _in_use.update(names)


def in_use() -> dict[str, str]:
    """Return the names that `note_use` has got in this process: its device, its runtime and their precisions."""
    return dict(_in_use)
