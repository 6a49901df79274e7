"""Keys of the configuration: the type and the bounds of every setting, read from the fields of its dataclasses."""

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from core.setting_bounds import NON_NEGATIVE, Bounds, bounds_of
from curriculum.config import Config


def _fields(kind: type, prefix: str = "") -> Iterator[tuple[str, Any, Bounds]]:
    """Yield the dotted key, the type and the bounds of every setting below a configuration class."""
    for name, hint in typing.get_type_hints(kind).items():
        if dataclasses.is_dataclass(hint):
            yield from _fields(typing.cast(type, hint), f"{name}.")
        else:
            yield prefix + name, hint, bounds_of(kind).get(name, NON_NEGATIVE)


KEYS: Mapping[str, Any] = types.MappingProxyType({key: hint for key, hint, _ in _fields(Config)})
"""The type of every setting, by dotted key."""

BOUNDS: Mapping[str, Bounds] = types.MappingProxyType({key: bounds for key, _, bounds in _fields(Config)})
"""The bounds of every number; 0 or more where its field has none of its own."""

SECTIONS = tuple(dict.fromkeys(key.partition(".")[0] for key in KEYS if "." in key))
"""The names of the sections."""


def expected(hint: Any) -> str:
    """Return the kind of value that a type takes: `a whole number`, `a list of 2 names`."""
    if typing.get_origin(hint) is tuple:
        items = typing.get_args(hint)
        kind = "whole numbers" if items[0] is int else "names"
        return f"a list of {kind}" if items[-1] is Ellipsis else f"a list of {len(items)} {kind}"
    if issubclass(hint, StrEnum):
        return f"one of {', '.join(hint)}"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "text"}[hint]


def allowed(key: str) -> str:
    """Return the values that the setting `key` may have: `a whole number, above 0`."""
    hint = KEYS[key]
    # The rules check their own numbers.
    has_bounds = (hint in (int, float) or int in typing.get_args(hint)) and not key.startswith("rules.")
    return f"{expected(hint)}, {BOUNDS[key]}" if has_bounds else expected(hint)


def choices_of(hint: Any) -> type[StrEnum] | None:
    """Return the names that a type allows, alone or in a tuple; None for a type that is no choice of names."""
    kind = next((each for each in (hint, *typing.get_args(hint)) if isinstance(each, type)), str)
    return kind if issubclass(kind, StrEnum) else None


def names_of(key: str) -> list[str]:
    """Return the names that are values of the setting `key`; none for a setting that is no choice of names."""
    return ["true", "false"] if KEYS[key] is bool else list(choices_of(KEYS[key]) or ())


def value_of(config: Config, key: str) -> Any:
    """Return the value of the setting `key`."""
    section, dot, name = key.partition(".")
    return getattr(getattr(config, section), name) if dot else getattr(config, section)


def setting_value(config: Config, key: str) -> Any:
    """Return the value of the setting `key` in the types of JSON."""
    value = value_of(config, key)
    return list(value) if isinstance(value, tuple) else value


def nearest(name: str, valid: Iterable[str], listed: Iterable[str] | None = None) -> str:
    """Return the ending of an error message: the valid name nearest to `name`, or all valid ones, or those `listed`."""
    names = list(valid)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else f"; valid are {', '.join(listed or names)}"
