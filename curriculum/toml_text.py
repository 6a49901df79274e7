"""TOML: texts of anyone, read within limits, and values written."""

import json
import tomllib
from typing import Any

from core.files.json_text import TOO_LARGE, check_depth, too_deep
from core.input_limits import MAX_TOML_DEPTH, MAX_TOML_DOTS


def toml_table(text: str) -> dict[str, Any]:
    """Return the values of a TOML text. Raises `ValueError` with a message of one line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MAX_TOML_DOTS:
            raise ValueError(f"line {number} has more than {MAX_TOML_DOTS} dots")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(too_deep(MAX_TOML_DEPTH)) from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # an integer of more than 4,300 digits
        raise ValueError(TOO_LARGE) from None
    check_depth(table, MAX_TOML_DEPTH, finite=False)
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
