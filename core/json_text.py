"""JSON from outside: parsed within the limits of this project."""

import json
import math
from typing import Any

from core.limits import MAX_INTEGER, MAX_JSON_DEPTH


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text. Raises `ValueError` with a message of one line.

    The text may come from anyone: a value that is nested more than `MAX_JSON_DEPTH` levels deep, a number above
    `MAX_INTEGER` and one that is not finite (`NaN`, `1e999`) are refused.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:  # no text in UTF-8, or an integer of more than 4,300 digits
        raise ValueError(_NO_TEXT if isinstance(error, UnicodeDecodeError) else _TOO_LARGE) from None
    _check(value)
    return value


_TOO_DEEP = f"it is nested more than {MAX_JSON_DEPTH} levels deep"
_TOO_LARGE = f"it holds a number above the limit of {MAX_INTEGER:,}"
_NO_TEXT = "it is no text in UTF-8"


def _check(value: Any) -> None:
    level, depth = [value], 0
    while level:
        below: list[Any] = []
        for item in level:
            if isinstance(item, (dict, list)):
                if depth == MAX_JSON_DEPTH:
                    raise ValueError(_TOO_DEEP)
                below += item.values() if isinstance(item, dict) else item
            elif isinstance(item, float):
                if not math.isfinite(item):
                    raise ValueError("it holds a number that is not finite")
            elif isinstance(item, int) and abs(item) > MAX_INTEGER:
                raise ValueError(_TOO_LARGE)
        level, depth = below, depth + 1
