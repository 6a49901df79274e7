"""A stated value of the configuration: its source, its type and its bounds."""

import difflib
import json
import math
import typing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from core.errors import UsageError
from core.input_limits import MAX_INTEGER, MAX_REASON, shortened
from curriculum.config import Config
from curriculum.keys import BOUNDS, KEYS, SECTIONS, expected, nearest, value_of


class ConfigError(UsageError, ValueError):
    """A configuration that cannot be used; the message names the place, the key and a right value."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its source, not checked yet."""

    source: str
    """Place of the value, as a person would look for it: a file, `--set`, a flag."""
    key: str
    value: Any


def hint_of(source: str, key: str) -> Any:
    """Return the type of the setting `key`. Raises `ConfigError` with the nearest valid key."""
    if key in KEYS:
        return KEYS[key]
    if key in SECTIONS:
        example = next(valid for valid in KEYS if valid.startswith(f"{key}."))
        raise ConfigError(f"{source}: {key} is a section; name a key of it, as in {example}")
    section, _, name = key.rpartition(".")
    siblings = [valid for valid in KEYS if section and valid.startswith(f"{section}.")]
    meant = (
        difflib.get_close_matches(key, siblings, n=1, cutoff=0.75)
        or [valid for valid in KEYS if valid.rpartition(".")[2] == name]
        or difflib.get_close_matches(key, KEYS, n=1, cutoff=0.7)
    )
    valid = ", ".join(siblings) if siblings else f"seed and the keys of {', '.join(SECTIONS)}"
    ending = f"did you mean {' or '.join(meant)}?" if meant else f"valid are {valid}"
    raise ConfigError(f"{source}: there is no key {shortened(key, MAX_REASON)}; {ending}")


def checked(setting: Setting) -> Any:
    """Return the setting's value in its field's type, within its bounds. Raises `ConfigError`."""
    value = _converted(setting, setting.value, hint_of(setting.source, setting.key))
    items = value if isinstance(value, tuple) else (value,)
    for item in items:
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            _check_range(setting, item)
    if ("" in items or not items) and value_of(Config(), setting.key) not in ("", ()):
        raise _mistake(setting, "a name, not empty")
    if isinstance(value, tuple) and value and isinstance(value[0], int) and list(value) != sorted(value):
        raise _mistake(setting, "the minimum and then the maximum")
    return value


def _check_range(setting: Setting, number: float) -> None:
    if not math.isfinite(number):
        raise _mistake(setting, "a finite number")
    if number not in BOUNDS[setting.key]:
        raise _mistake(setting, str(BOUNDS[setting.key]))
    if number > MAX_INTEGER:  # the run's own file could not be read again
        raise _mistake(setting, f"at most {MAX_INTEGER:,}")


def _converted(setting: Setting, value: Any, hint: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        items = typing.get_args(hint)
        repeated = items[-1] is Ellipsis
        if not isinstance(value, (list, tuple)) or (not repeated and len(value) != len(items)):
            raise _mistake(setting, expected(hint))
        return tuple(_converted(setting, item, items[0]) for item in value)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        names = [str(member) for member in hint]
        if value not in names:
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
            raise ConfigError(
                f"{_place(setting)} is {shortened(shown, MAX_REASON)}{nearest(shortened(shown, MAX_REASON), names)}"
            )
        return hint(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise _mistake(setting, expected(hint))
    return value


def _place(setting: Setting) -> str:
    return f"{setting.source}: {setting.key}"


def _mistake(setting: Setting, right: str) -> ConfigError:
    shown = shortened(json.dumps(setting.value, default=str, ensure_ascii=False), MAX_REASON)
    return ConfigError(f"{_place(setting)} is {shown}; it must be {right}")
