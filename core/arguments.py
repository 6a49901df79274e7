"""Arguments of the library: a wrong one is named at once, with the right form."""

from enum import StrEnum
from types import UnionType
from typing import Any, TypeVar

Member = TypeVar("Member", bound=StrEnum)


def check_kind(name: str, value: object, kind: type | UnionType, right: str) -> None:
    """Raise `TypeError` for a value of another kind. `right` completes "it must be …"."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}; it must be {right}")


def member(name: str, value: Any, kind: type[Member]) -> Member:
    """Return the member of an enumeration, or of this text. Raises `ValueError` for any other value."""
    try:
        return kind(value)
    except ValueError:
        raise ValueError(f"{name} is {value!r}; it must be one of {', '.join(kind)}") from None
