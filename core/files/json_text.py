"""JSON: from outside, parsed within the limits of this project, and values that any reader of ours takes."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from core.input_limits import MAX_INTEGER, MAX_JSON_DEPTH, quoted

_T = TypeVar("_T", bool, int, float, str, dict[str, Any], list[Any])


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `ValueError` with a message of one line.

    The text may come from anyone: a value that is nested more than `MAX_JSON_DEPTH` levels deep, a number above
    `MAX_INTEGER`, one that is not finite (`NaN`, `1e999`) and a key that stands twice in an object are refused.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except _TwiceError as error:
        raise ValueError(str(error)) from None
    except RecursionError:
        raise ValueError(too_deep(MAX_JSON_DEPTH)) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # no text in UTF-8, or an integer of more than 4,300 digits
        raise ValueError(_NO_TEXT if isinstance(error, UnicodeDecodeError) else TOO_LARGE) from None
    check_depth(value, MAX_JSON_DEPTH)
    return value


def plain(value: Any) -> Any:
    """Return `value` in JSON types: numpy scalars as Python numbers, numbers that are not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


class _TwiceError(Exception):
    """A key stands twice in an object: readers differ in which of the values they take."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise _TwiceError(f"the key {quoted(key)} stands twice in an object")
        values[key] = value
    return values


def value_at(
    record: Mapping[str, Any], key: str, kind: type[_T], *, low: float = -math.inf, high: float = math.inf
) -> _T:
    """Return the value at `key`, of the type `kind`; a number from `low` to `high`, where a float may be a whole one.

    Raises `ValueError` with the key and the right form.
    """
    if key not in record:
        raise ValueError(f"{key} is missing")
    return _typed(record[key], key, kind, low, high)


def values_at(
    record: Mapping[str, Any], key: str, kind: type[_T], *, low: float = -math.inf, high: float = math.inf
) -> list[_T]:
    """Return the list at `key`, whose items have the type `kind`, as in `value_at`. Raises `ValueError`."""
    return [_typed(item, f"an item of {key}", kind, low, high) for item in value_at(record, key, list)]


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    dict: "an object",
    list: "a list",
}


def _typed(value: Any, name: str, kind: type[_T], low: float, high: float) -> _T:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name} should be {_KINDS[kind]}")
    if isinstance(value, (int, float)) and not low <= value <= high:
        raise ValueError(f"{name} should be {low:g} or more" if high == math.inf else f"{name} is out of range")
    return value


TOO_LARGE = f"it holds a number above the limit of {MAX_INTEGER:,}"
_NO_TEXT = "it is no text in UTF-8"


def too_deep(limit: int) -> str:
    """Return the message about a value that is nested deeper than `limit` levels."""
    return f"it is nested more than {limit} levels deep"


def check_depth(value: Any, limit: int, *, finite: bool = True) -> None:
    """Raise `ValueError` for a value nested more than `limit` levels deep, and for a number that is not within limits.

    `finite`: a number that is not finite is none.
    """
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, (dict, list)):
                if depth == limit:
                    raise ValueError(too_deep(limit))
                below += item.values() if isinstance(item, dict) else item
            elif isinstance(item, float):
                if finite and not math.isfinite(item):
                    raise ValueError("it holds a number that is not finite")
            elif isinstance(item, int) and abs(item) > MAX_INTEGER:
                raise ValueError(TOO_LARGE)
        level, depth = below, depth + 1
