"""TOML: texts of anyone, read within limits, and values written."""

import json
import tomllib
from typing import Any

from core.input_limits import MAX_INTEGER, MAX_TOML_DEPTH, MAX_TOML_DOTS

_TOO_LARGE = f"it holds a number above the limit of {MAX_INTEGER:,}"


def toml_table(text: str) -> dict[str, Any]:
    """Return the values of a TOML text. Raises `ValueError` with a message of one line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_TOML_DOTS:
            raise ValueError(f"line {number} has more than {MAX_TOML_DOTS} dots")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_TOML_DEPTH} levels deep") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # an integer of more than 4,300 digits
        raise ValueError(_TOO_LARGE) from None
    level: list[Any] = [table]
    for _ in range(MAX_TOML_DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, (dict, list)):
                below += value.values() if isinstance(value, dict) else value
            elif isinstance(value, int) and abs(value) > MAX_INTEGER:
                raise ValueError(_TOO_LARGE)
        level = below
    if level:
        raise ValueError(f"it is nested more than {MAX_TOML_DEPTH} levels deep")
    return table


def toml_value(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML shares JSON's escapes, except for one control character that JSON leaves unescaped.
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return repr(value)
