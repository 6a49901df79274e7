"""Types and shapes of tensors in files. Imports nothing heavy."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TensorType:
    """The type and shape of a tensor."""

    dtype: str
    """`F32` or `I64`, and `F16` in files that store weights in half; files with other types are refused."""
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Numbers of the tensor."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.dtype} {self.shape}"


WEIGHTS = "F32"
HALVES = "F16"
"""Weights in a file of half the size; they are read as `WEIGHTS`."""
COUNTS = "I64"
