"""Files of tensors for others: finite numbers alone, and equal tensors and metadata give equal bytes.

The library writes the texts of the metadata in an order of chance; here they are sorted. So a run that was killed has
the files of an undisturbed one, and the hashes by which models name each other.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import FailedError
from core.files.atomic import atomic_path

if TYPE_CHECKING:
    from torch import Tensor

_LENGTH_BYTES = _ALIGNMENT = 8


class NotFiniteError(FailedError, ArithmeticError):
    """Numbers that are not finite would be written or used; the message names the first of them."""


def check_finite(tensors: "Mapping[str, Tensor]", subject: str) -> None:
    """Raise `NotFiniteError` for tensors with a number that is not finite: `SUBJECT holds ...`."""
    import torch

    if not tensors or bool(torch.stack([tensor.isfinite().all() for tensor in tensors.values()]).all()):
        return
    first = next(name for name, tensor in tensors.items() if not tensor.isfinite().all())
    raise NotFiniteError(f"{subject} holds numbers that are not finite, first in {first}")


def write_tensors(path: Path, tensors: "Mapping[str, Tensor]", metadata: Mapping[str, str]) -> None:
    """Write tensors of the CPU and texts as a safetensors file, whole or not at all. Raises `NotFiniteError`."""
    from safetensors.torch import save

    check_finite(tensors, str(path))
    data = save(dict(tensors), dict(metadata))
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    header = json.loads(data[_LENGTH_BYTES:end])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with atomic_path(path) as temporary:
        temporary.write_bytes(len(text).to_bytes(_LENGTH_BYTES, "little") + text + data[end:])
