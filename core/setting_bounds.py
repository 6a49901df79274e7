"""Bounds of numeric settings, declared on the fields of a dataclass, the check of its fields, and settings from JSON.

    @dataclass(frozen=True)
    class GateConfig:
        games: Annotated[int, POSITIVE] = 100
        threshold: Annotated[float, SHARE] = 0.5

        def __post_init__(self) -> None:
            check_settings(self)

`str(bounds)` completes "it must be …" for readers of settings with messages of their own.
"""

import dataclasses
import functools
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, TypeVar

from core.arguments import check_kind, member

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


@functools.cache
def _kinds(kind: type) -> Mapping[str, type]:
    """Return the kinds of the fields that hold an enumeration's member, True or False, or settings of their own."""
    found = {}
    for name, hint in typing.get_type_hints(kind).items():
        kinds = [each for each in (typing.get_args(hint) or (hint,)) if each is not NoneType]
        is_one = len(kinds) == 1 and isinstance(kinds[0], type)
        if is_one and (kinds[0] is bool or issubclass(kinds[0], StrEnum) or dataclasses.is_dataclass(kinds[0])):
            found[name] = kinds[0]
    return found


def check_settings(settings: Any) -> None:
    """Check the fields of a frozen dataclass; a text becomes the member of an enumeration that it names.

    Raises `ValueError` for the first field that is out of its bounds, or names no member, and `TypeError` for no
    number, for a fraction where whole numbers are, and for settings of another class.

    A number of numpy becomes one of Python. A tuple's items are checked one by one. A field whose default is None may
    be None.
    """
    kind: type = type(settings)
    bounds, kinds = bounds_of(kind), _kinds(kind)
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value is None and field.default is None:
            continue
        if right := kinds.get(field.name):
            if issubclass(right, StrEnum):
                # A text would not be the same object as the member, which searches compare.
                object.__setattr__(settings, field.name, member(field.name, value, right))
            else:
                check_kind(field.name, value, right, "True or False" if right is bool else right.__name__)
        if field.name not in bounds:
            continue
        if hasattr(value, "item"):  # a number of numpy, which has not all methods of Python's and is none of JSON
            value = value.item()
            object.__setattr__(settings, field.name, value)
        items = value if isinstance(value, tuple) else (value,)
        if field.name in _whole_fields(kind) and any(isinstance(item, float) for item in items):
            raise TypeError(f"{field.name} is {value!r}; it must be a whole number, {bounds[field.name]}")
        if any(isinstance(item, bool) for item in items):  # which is an int to Python
            raise TypeError(f"{field.name} is {value!r}; it must be a number, {bounds[field.name]}")
        try:
            is_out = any(item not in bounds[field.name] for item in items)
        except TypeError as error:
            raise TypeError(f"{field.name} is {value!r}; it must be a number, {bounds[field.name]}") from error
        if is_out:
            raise ValueError(f"{field.name} is {value}; it must be {bounds[field.name]}")
