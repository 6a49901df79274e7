"""Bounds of numeric settings, declared on the fields of a dataclass, and settings from JSON.

    @dataclass(frozen=True)
    class GateConfig:
        games: Annotated[int, POSITIVE] = 100
        threshold: Annotated[float, SHARE] = 0.5

        def __post_init__(self) -> None:
            check_bounds(self)

`str(bounds)` completes "it must be …" for readers of settings with messages of their own.
"""

import dataclasses
import functools
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True, repr=False)
class Bounds:
    """An interval of numbers. `str` completes "it must be …": `above 0`, `0 or more`, `from 0 to 1`."""

    low: float
    high: float = math.inf
    above: bool = False
    """Use True to exclude `low` itself."""

    def __contains__(self, number: float) -> bool:
        return (number > self.low if self.above else number >= self.low) and number <= self.high

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"above {self.low:,}" if self.above else f"{self.low:,} or more"
        return f"above {self.low:,} and at most {self.high:,}" if self.above else f"from {self.low:,} to {self.high:,}"

    __repr__ = __str__  # for `help` of a class of settings


POSITIVE = Bounds(0, above=True)
NON_NEGATIVE = Bounds(0)
SHARE = Bounds(0, 1)


def from_json(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Return the dataclass of these values, which have the types of JSON; those that are missing have their defaults.

    A name becomes the member of an enumeration, a list of names a tuple, and a float may be a whole number. Raises
    `TypeError` for a value of another type and for a name that is no field, and the `ValueError` of the class.
    """
    read = dict(values)
    for field in dataclasses.fields(typing.cast(Any, kind)):
        right, value = type(field.default), read.get(field.name, field.default)
        if issubclass(right, StrEnum):
            value = right(value)
        elif right is tuple and isinstance(value, list) and all(isinstance(name, str) for name in value):
            value = tuple(value)
        # `type` and not `isinstance`: true is an int to Python.
        if type(value) is not right and (right, type(value)) != (float, int):
            raise TypeError(f"{field.name} is of the wrong type")
        read[field.name] = value
    return kind(**read)


@functools.cache
def bounds_of(kind: type) -> Mapping[str, Bounds]:
    """Return the bounds of a dataclass's fields by name; fields without bounds are left out."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return {
        name: bounds
        for name, hint in hints.items()
        for bounds in getattr(hint, "__metadata__", ())
        if isinstance(bounds, Bounds)
    }


@functools.cache
def _whole_fields(kind: type) -> frozenset[str]:
    """Return the fields of a dataclass that hold no fraction."""
    hints = typing.get_type_hints(kind)
    return frozenset(name for name, hint in hints.items() if float not in (hint, *typing.get_args(hint)))


def check_bounds(settings: Any) -> None:
    """Raise `ValueError` for the first field of a dataclass that is out of its bounds.

    Raises `TypeError` for no number, and for a fraction where whole numbers are.

    A tuple's items are checked one by one. A field whose default is None may be None.
    """
    kind: type = type(settings)
    bounds = bounds_of(kind)
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if field.name not in bounds or (value is None and field.default is None):
            continue
        items = value if isinstance(value, tuple) else (value,)
        if field.name in _whole_fields(kind) and any(isinstance(item, float) for item in items):
            raise TypeError(f"{field.name} is {value!r}; it must be a whole number, {bounds[field.name]}")
        try:
            is_out = any(item not in bounds[field.name] for item in items)
        except TypeError as error:
            raise TypeError(f"{field.name} is {value!r}; it must be a number, {bounds[field.name]}") from error
        if is_out:
            raise ValueError(f"{field.name} is {value}; it must be {bounds[field.name]}")
