"""Model files: one safetensors file holds the nets' tensors and the metadata to rebuild and use them.

Tensors are named `black.*` and `white.*`, or `shared.*`. Nothing is ever unpickled. `read_info` reads the metadata
without torch.
"""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from core.errors import BadDataError
from core.files import atomic_path
from core.rules import Rules
from nets.config import NetConfig, Planes

if TYPE_CHECKING:
    from nets.dual import DualNet

FORMAT = "gomoku-model-1"
DEFAULT_MODEL = Path(__file__).parent / "weights" / "default.safetensors"
"""The model inside the package; the player named `default`."""
_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
"""State of batch norms that is not trained."""


class CheckpointError(BadDataError, ValueError):
    """The file holds no usable model; the message names the fault."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The metadata of a model file."""

    path: Path
    net: NetConfig
    rules: Rules
    made: dict[str, Any]
    """Origin and results: preset, phase, step, parent, results of matches."""
    parameters: int
    """Trainable parameters, all nets together."""


def save_model(path: Path, model: "DualNet", made: Mapping[str, Any]) -> None:
    """Write the model, whole or not at all. `made` must be JSON."""
    from safetensors.torch import save

    tensors = {
        f"{name}.{key}": tensor.detach().cpu().contiguous()
        for name, net in model.nets.items()
        for key, tensor in net.state_dict().items()
    }
    metadata = {
        "format": FORMAT,
        "net": json.dumps(asdict(model.config)),
        "rules": json.dumps(asdict(model.rules)),
        "made": json.dumps(dict(made)),
    }
    with atomic_path(path) as temporary:
        temporary.write_bytes(save(tensors, metadata))


def read_info(path: Path) -> ModelInfo:
    """Read the metadata of a model file, without a check of its weights. Raises `CheckpointError`."""
    with _opened(path, "numpy") as file:
        net, rules, made = _read_metadata(path, file.metadata() or {})
        trained = [name for name in file.keys() if not name.endswith(_STATISTICS)]  # noqa: SIM118  # not a mapping
        parameters = sum(math.prod(file.get_slice(name).get_shape()) for name in trained)
    return ModelInfo(path, net, rules, made, parameters)


@contextmanager
def _opened(path: Path, framework: str) -> Iterator[Any]:
    try:
        with safe_open(path, framework=framework) as file:
            yield file
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no model file {path}") from error
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} is no model file, or was cut short: {error}") from error


def load_model(path: Path) -> tuple["DualNet", ModelInfo]:
    """Load the model of a file, in evaluation mode on the CPU. Raises `CheckpointError`."""
    from nets.blocks import channels_last
    from nets.dual import DualNet, parameter_count

    with _opened(path, "pt") as file:
        metadata = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a mapping
    net, rules, made = _read_metadata(path, metadata)
    model = channels_last(DualNet(net, rules))
    needed = {f"{name}.{key}": tensor for name, part in model.nets.items() for key, tensor in part.state_dict().items()}
    if missing := sorted(needed.keys() - tensors.keys()):
        raise CheckpointError(f"{path} lacks {len(missing)} of the net's tensors, {missing[0]} among them")
    if foreign := sorted(tensors.keys() - needed.keys()):
        raise CheckpointError(f"{path} holds {len(foreign)} tensors that the net lacks, {foreign[0]} among them")
    for name, tensor in needed.items():
        found = tensors[name]
        if found.shape != tensor.shape:
            raise CheckpointError(f"{path}: {name} is {tuple(found.shape)} where the net has {tuple(tensor.shape)}")
        if found.is_floating_point() and not bool(found.isfinite().all()):
            raise CheckpointError(f"{path}: {name} holds numbers that are not finite")
    for name, part in model.nets.items():
        part.load_state_dict({key.partition(".")[2]: tensors[key] for key in needed if key.startswith(f"{name}.")})
    return model.eval(), ModelInfo(path, net, rules, made, parameter_count(model))


def _read_metadata(path: Path, metadata: Mapping[str, str]) -> tuple[NetConfig, Rules, dict[str, Any]]:
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but no model of this program ({FORMAT})")
    try:
        net = json.loads(metadata["net"])
        net["planes"] = Planes(net["planes"])
        rules, made = json.loads(metadata["rules"]), json.loads(metadata.get("made", "{}"))
        for kind, values in ((NetConfig, net), (Rules, rules)):
            # `type` and not `isinstance`: true is an int to Python.
            wrong = [
                each.name
                for each in fields(kind)
                if type(values.get(each.name, each.default)) is not type(each.default)
            ]
            if wrong:
                raise TypeError(f"{', '.join(wrong)} is of the wrong type")
        if not isinstance(made, dict):
            raise TypeError("made is of the wrong type")
        return NetConfig(**net), Rules(**rules), made
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path}: its metadata describes no net of this version: {error}") from error
