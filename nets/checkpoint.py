"""Model files: one safetensors file holds the nets' tensors and the metadata to rebuild and use them.

Tensors are named `black.*` and `white.*`, or `shared.*`. Nothing is ever unpickled. A file is checked against its own
header and `core.input_limits` before a tensor is read, and as a whole before torch is imported or a net is built.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadDataError
from core.files.json_text import parse_json
from core.input_limits import MAX_MODEL_BYTES, MAX_PARAMETERS, MAX_REASON, shortened
from core.rules import Rules, shipped_variant
from core.setting_bounds import from_json
from nets.config import NetConfig
from nets.shapes import fits, parameter_total, tensor_types
from nets.tensor_file import TensorFile, TensorFileError, open_tensors, write_tensors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nets.dual import DualNet

FORMAT = "gomoku-model-2"
_WEIGHTS = Path(__file__).parent / "weights"
BUILT_IN = {path.stem: path for path in sorted(_WEIGHTS.glob("**/*.safetensors"))}
"""The models inside the package, by their names as players: `default`, `paper`, `default-VARIANT` for each variant of
the rules that has a net of its own, and those of papers Y and S by their presets."""
DEFAULT_MODEL = BUILT_IN["default"]
_TABLES_OF_MADE = ("search", "results")
_OF_EVERY_NET = {"planes", "trunk", "policy_head", "value_head"}


def model_file(path: Path | str, rules: Rules | None = None) -> Path:
    """Return the file of a built-in model where the text is its name, else the path itself.

    For `rules` of a variant with a net of its own it is that net.
    """
    if not isinstance(path, str) or path not in BUILT_IN:
        return Path(path)
    own = f"{path}-{shipped_variant(rules.variant)}" if rules is not None else path
    return BUILT_IN.get(own, BUILT_IN[path])


class CheckpointError(BadDataError, ValueError):
    """The file holds no usable model; the message names the fault."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The metadata of a model file."""

    path: Path
    net: NetConfig
    rules: Rules
    """Rules that it was made for, or those that it was read for."""
    made: dict[str, Any]
    """Origin and results: preset, phase, step, parent, results of matches."""
    parameters: int
    """Trainable parameters, all nets together."""

    def plays(self, rules: Rules) -> bool:
        """Return True for the model's own rules, and for other boards that its weights fit unchanged (Y 4.4)."""
        return rules == self.rules or (rules.connect == self.rules.connect and fits(self.net, self.rules, rules))


def save_model(path: Path, model: "DualNet", made: Mapping[str, Any], *, half: bool = False) -> None:
    """Write the model, whole or not at all; `half` stores weights in 16 bits. `made` must be JSON.

    Raises `NotFiniteError`.
    """
    tensors = {
        f"{name}.{key}": (tensor.half() if half and tensor.is_floating_point() else tensor).detach().cpu().contiguous()
        for name, net in model.nets.items()
        for key, tensor in net.state_dict().items()
    }
    metadata = {
        "format": FORMAT,
        "net": json.dumps(asdict(model.config)),
        "rules": json.dumps(asdict(model.rules)),
        "made": json.dumps(dict(made)),
    }
    write_tensors(path, tensors, metadata)


def read_info(path: Path) -> ModelInfo:
    """Read the metadata of a model file and check its header, but no weights. Raises `CheckpointError`."""
    with _opened(path) as (_, info):
        return info


def check_model(path: Path) -> ModelInfo:
    """Read the metadata of a model file and check all of it, without torch. Raises `CheckpointError`."""
    with _opened(path) as (file, info):
        file.arrays()
        return info


def load_arrays(path: Path, rules: Rules | None = None) -> "tuple[dict[str, NDArray[Any]], ModelInfo]":
    """Read the tensors of a model file by their names, without torch, for its own or for other rules.

    Raises `CheckpointError`, also for rules that the model does not play.
    """
    with _opened(path) as (file, info):
        if rules is None:
            return file.arrays(), info
        if not info.plays(rules):
            raise CheckpointError(f"{path} plays {info.rules}, not {rules}")
        return file.arrays(), replace(info, rules=rules)


def load_model(path: Path | str, rules: Rules | None = None) -> tuple["DualNet", ModelInfo]:
    """Load the model of a file or a built-in one (`default`, `paper`) with torch, for its own or for other rules.

    `default` has a net for some variants of the rules (`BUILT_IN`), which is loaded then.

    Its nets are on the CPU, in evaluation mode.

    >>> model, info = gomoku.load_model("default")
    >>> info.rules.size, sorted(model.nets)
    (15, ['shared'])

    Raises `CheckpointError`, also for rules that the model does not play.
    """
    arrays, info = load_arrays(model_file(path, rules), rules)
    # Imported here, so that a file is refused without torch.
    import torch

    from nets.blocks import channels_last
    from nets.dual import DualNet

    model = channels_last(DualNet(info.net, info.rules))
    for name, part in model.nets.items():
        part.load_state_dict({key: torch.from_numpy(arrays[f"{name}.{key}"]) for key in part.state_dict()})
    return model.eval(), info


@contextmanager
def _opened(path: Path) -> Iterator[tuple[TensorFile, ModelInfo]]:
    """Open a model file whose header, metadata and tensors' shapes have been checked."""
    try:
        with open_tensors(path, MAX_MODEL_BYTES) as file:
            net, rules, made = _read_metadata(path, {"made": "{}", **file.metadata})
            parameters = parameter_total(net, rules)
            if parameters > MAX_PARAMETERS:
                raise TensorFileError(f"its net has {parameters:,} parameters; the limit is {MAX_PARAMETERS:,}")
            file.require(tensor_types(net, rules))
            yield file, ModelInfo(path, net, rules, made, parameters)
    except FileNotFoundError as error:
        raise CheckpointError(f"there is no model file {path}") from error
    except OSError as error:
        raise CheckpointError(f"{path} is no model file: {error.strerror}") from error
    except TensorFileError as error:
        raise CheckpointError(f"{path} is no model file: {shortened(str(error), MAX_REASON)}") from error


def _read_metadata(path: Path, metadata: Mapping[str, str]) -> tuple[NetConfig, Rules, dict[str, Any]]:
    if metadata.get("format") != FORMAT:
        raise CheckpointError(f"{path} is a safetensors file, but no model of this program ({FORMAT})")
    try:
        net, rules, made = (_table(name, metadata[name]) for name in ("net", "rules", "made"))
        if missing := _OF_EVERY_NET - net.keys():
            raise TypeError(f"{min(missing)} is missing")
        for name in _TABLES_OF_MADE:
            if not isinstance(made.get(name, {}), dict):
                raise TypeError(f"{name} is no table")
        return from_json(NetConfig, net), from_json(Rules, rules), made
    except (KeyError, TypeError, ValueError) as error:
        reason = shortened(str(error), MAX_REASON)
        raise CheckpointError(f"{path}: its metadata describes no net of this version: {reason}") from error


def _table(name: str, text: str) -> dict[str, Any]:
    table = parse_json(text)
    if not isinstance(table, dict):
        raise TypeError(f"{name} is no table")
    return table
