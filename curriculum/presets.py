"""Sources of a run's configuration: a preset, a file, `--set` and flags, each over the one before.

All of them use the same dotted keys, the fields of `curriculum.config.Config`: `seed`, `search.simulations`. Values are
checked against types and bounds of their fields. An error names the place of the mistake and the nearest valid name.
"""

import dataclasses
import difflib
import itertools
import json
import math
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.files.atomic import TooLargeError, read_bytes
from core.limits import MAX_CONFIG_BYTES, MAX_INTEGER, MAX_REASON, MAX_TOML_DEPTH, MAX_TOML_DOTS, shortened
from curriculum.config import Config
from curriculum.keys import BOUNDS, KEYS, SECTIONS, expected, nearest, value_of


class ConfigError(UsageError, ValueError):
    """A configuration that cannot be used; the message names the place, the key and a right value."""


@dataclasses.dataclass(frozen=True, slots=True)
class _Setting:
    """A value and its source, not checked yet."""

    source: str
    """Place of the value, as a person would look for it: a file, `--set`, a flag."""
    key: str
    value: Any


_PRESET, _BASE, _CHAIN = "preset", "base", "chain"
"""Keys of the preset under a file, of the preset under a preset, and of the presets that a chain is made of."""
_SMALLEST: Mapping[str, int] = {
    "basics.positions": 64,
    "basics.epochs": 1,
    "imitation.games": 2,
    "imitation.passes": 1,
    "imitation.bar_every": 1,
    "search.simulations": 8,
    "selfplay.games": 2,
    "selfplay.epochs": 1,
    "selfplay.fast_simulations": 2,
    "gate.simulations": 8,
}
"""The settings that `scale` multiplies, and their smallest results."""


def preset_names() -> list[str]:
    """Return the names of the shipped presets of one run, in alphabetical order."""
    return [name for name in _all_names() if not chain_of(name)]


def chain_names() -> list[str]:
    """Return the names of the shipped presets of several runs (`chain_of`)."""
    return [name for name in _all_names() if chain_of(name)]


def _all_names() -> list[str]:
    folder = resources.files("curriculum").joinpath("presets")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def resolve(
    preset: str | None = None,
    *,
    file: Path | str | None = None,
    assignments: Sequence[str] = (),
    flags: Mapping[str, Any] = types.MappingProxyType({}),
) -> Config:
    """Return the configuration of `preset` (None: the defaults), then `file`, then `assignments`, then `flags`.

    >>> config = gomoku.load_config("smoke", assignments=["seed=7"])

    `assignments` are `key=value` texts. `flags` maps dotted keys to values; None leaves a setting alone. A `scale`
    below 1 is applied to the result. Raises `ConfigError`.
    """
    config = _build(_collected(preset, None if file is None else Path(file), assignments, flags))
    return _replaced(config, {key: scaled(key, value_of(config, key), config.scale) for key in _SMALLEST})


def chain_of(preset: str | None) -> tuple[str, ...]:
    """Return the presets that a chain is made of, in order; none for any other preset.

    Each run of a chain starts from the model of the one before (Y 4.4).
    """
    if preset not in _all_names():
        return ()
    return tuple(_preset_table(preset).get(_CHAIN, ()))


def scaled(key: str, value: Any, scale: float) -> Any:
    """Return the value of a setting at a scale of its budget; most settings do not depend on it."""
    if key not in _SMALLEST or scale == 1.0:
        return value
    return max(min(value, _SMALLEST[key]), round(value * scale))


def with_assignments(config: Config, assignments: Iterable[str], sections: Sequence[str], source: str) -> Config:
    """Return the configuration with `key=value` texts applied, at its scale. Only keys of `sections` are valid.

    Raises `ConfigError` with the `source` of the texts.
    """
    changes: dict[str, Any] = {}
    for text in assignments:
        setting = _assignment(text, f"{source}: {text}")
        if setting.key.partition(".")[0] not in sections:
            raise ConfigError(
                f"{source}: {setting.key} cannot change during a run; settings of {', '.join(sections)} can"
            )
        changes[setting.key] = scaled(setting.key, _checked(setting, _hint(setting.source, setting.key)), config.scale)
    return _replaced(config, changes)


def with_values(config: Config, values: Mapping[str, Any]) -> Config:
    """Return the configuration with other values, of the types of JSON, by key. Raises `ConfigError`."""
    given = (_Setting("its settings", key, value) for key, value in values.items())
    return _replaced(config, {each.key: _checked(each, _hint(each.source, each.key)) for each in given})


def _replaced(config: Config, changes: Mapping[str, Any]) -> Config:
    """Return the configuration with other values of some keys. Raises `ConfigError`."""
    for key, value in changes.items():
        section, dot, name = key.partition(".")
        if not dot:
            config = dataclasses.replace(config, **{key: value})
            continue
        try:
            replacement: Any = dataclasses.replace(getattr(config, section), **{name: value})
        except ValueError as error:
            raise ConfigError(f"[{section}] {error}") from error
        config = dataclasses.replace(config, **{section: replacement})
    return config


def revised(
    config: Config,
    original: Config,
    preset: str | None = None,
    *,
    file: Path | None = None,
    assignments: Sequence[str] = (),
    flags: Mapping[str, Any] = types.MappingProxyType({}),
) -> Config:
    """Return the configuration of a run with what its user states now, at the run's scale.

    `preset` must be the one that the run was made from (`original`): other values of a preset than then or now are
    refused. Raises `ConfigError`.
    """
    stated = {setting.key: setting for setting in _explicit(file, assignments, flags) if not _is_no_preset(setting)}
    values = {key: _at_scale(setting, config.scale) for key, setting in stated.items()}
    for setting in {setting.key: setting for setting in (_preset(preset) if preset else ())}.values():
        value = _at_scale(setting, config.scale)
        if setting.key not in stated and value not in (value_of(original, setting.key), value_of(config, setting.key)):
            was = toml_value(value_of(config, setting.key))
            raise ConfigError(
                f"the run has {setting.key} = {was}, but {setting.source} has {toml_value(value)}: name the "
                "preset that it was made from, or change single settings with --set"
            )
    return _replaced(config, values)


def _at_scale(setting: _Setting, scale: float) -> Any:
    return scaled(setting.key, _checked(setting, _hint(setting.source, setting.key)), scale)


def _collected(
    preset: str | None, file: Path | None, assignments: Sequence[str], flags: Mapping[str, Any]
) -> list[_Setting]:
    """Return all settings of the arguments of `resolve`; a later one replaces an earlier one of the same key.

    The `preset` of a file is the preset under it. Raises `ConfigError`.
    """
    explicit = _explicit(file, assignments, flags)
    own = [setting for setting in explicit if setting.key == _PRESET and not _is_no_preset(setting)]
    source = f"--preset {preset}"
    if own:
        named = str(_checked(own[0], str))
        if preset not in (None, named):
            raise ConfigError(
                f"{own[0].source}: preset is {named}, but the command line has {source}: give one of them"
            )
        preset, source = named, f"{own[0].source}: preset = {named}"
    base = _preset(preset, source) if preset is not None else []
    return [*base, *(setting for setting in explicit if setting.key != _PRESET)]


def _is_no_preset(setting: _Setting) -> bool:
    return setting.key == _PRESET and setting.value == Config().preset


def _explicit(file: Path | None, assignments: Sequence[str], flags: Mapping[str, Any]) -> list[_Setting]:
    """Return the settings of a file, of `--set` and of flags, without those of a preset. Raises `ConfigError`."""
    settings = _toml(_read(file), str(file)) if file is not None else []
    stated = [_assignment(text) for text in assignments]
    for setting in stated:
        if setting.key == _PRESET:
            raise ConfigError(f"{setting.source}: write it as --preset {setting.value}")
    return [*settings, *stated, *(_Setting(_flag(key), key, flags[key]) for key in flags if flags[key] is not None)]


def read_config(path: Path) -> Config:
    """Return the configuration in a file; settings that it leaves out have their defaults. Raises `ConfigError`."""
    return read_text(_read(path), str(path))


def read_text(text: str, source: str) -> Config:
    """Return the configuration in a TOML text; errors name its `source`. Raises `ConfigError`."""
    return _build(_toml(text, source))


def check_fields(config: Config) -> None:
    """Check the type and the bounds of every setting. Raises `ConfigError` for a configuration made in code."""
    for key, hint in KEYS.items():
        _checked(_Setting("the configuration", key, value_of(config, key)), hint)


def to_toml(config: Config, comments: Callable[[str], Iterable[str]] = lambda name: ()) -> str:
    """Return the configuration as TOML with every key; `read_config` gives the same configuration back.

    `comments` returns the lines above a key or a section, by its name.
    """
    lines = []
    for section, keys in itertools.groupby(KEYS, key=lambda key: key.rpartition(".")[0]):
        lines += ["", *(f"# {line}" for line in comments(section)), f"[{section}]"] if section else []
        for key in keys:
            explained = [f"# {line}" for line in comments(key)]
            lines += ["", *explained] if explained and lines[-1:] != [f"[{section}]"] else explained
            lines.append(f"{key.rpartition('.')[2]} = {setting_text(config, key)}")
    return "\n".join(lines).lstrip() + "\n"


def setting_text(config: Config, key: str) -> str:
    """Return the value of the setting `key` as TOML."""
    return toml_value(value_of(config, key))


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


def _read(path: Path) -> str:
    try:
        return read_bytes(path, MAX_CONFIG_BYTES).decode()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except TooLargeError as error:
        raise ConfigError(str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text") from error


def _preset(name: str, source: str | None = None) -> list[_Setting]:
    """Return the settings of a preset, that under it first. `source`: the place of its name. Raises `ConfigError`."""
    source = source or f"--preset {name}"
    if name not in _all_names():
        raise ConfigError(f"{source}: there is no such preset{nearest(name, _all_names())}")
    table = _preset_table(name)
    if _CHAIN in table:
        raise ConfigError(f"{source} is a chain of {', '.join(table[_CHAIN])}: it is for gomoku train --preset alone")
    base = table.pop(_BASE, None)
    return [*(_preset(base) if base else ()), *_settings(table, f"preset {name}")]


def _preset_table(name: str) -> dict[str, Any]:
    return tomllib.loads(resources.files("curriculum").joinpath("presets", f"{name}.toml").read_text("utf-8"))


def _toml(text: str, source: str) -> list[_Setting]:
    try:
        table = _table(text)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    return _settings(table, source)


def _settings(table: Mapping[str, Any], source: str) -> list[_Setting]:
    settings = []
    for name, value in table.items():
        if isinstance(value, dict):
            if name not in SECTIONS:
                raise ConfigError(f"{source}: there is no section {_shortened(name)}{nearest(name, SECTIONS)}")
            settings += [_Setting(source, f"{name}.{key}", item) for key, item in value.items()]
        else:
            settings.append(_Setting(source, name, value))
    return settings


def _table(text: str) -> dict[str, Any]:
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


_TOO_LARGE = f"it holds a number above the limit of {MAX_INTEGER:,}"


def _assignment(text: str, source: str | None = None) -> _Setting:
    source = source or f"--set {_shortened(text)}"
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise ConfigError(f"{source}: write it as section.key=value")
    return _Setting(source, key, _parsed(value, _hint(source, key)))


def _parsed(text: str, hint: Any) -> Any:
    """Return the value of `text` in TOML, where quotes and brackets may be left out."""
    if typing.get_origin(hint) is tuple and not text.startswith("["):
        item = typing.get_args(hint)[0]
        return [_parsed(part.strip(), item) for part in text.split(",")]
    if isinstance(hint, type) and issubclass(hint, str) and not text.startswith(('"', "'")):
        return text
    try:
        return _table(f"value = {text}")["value"]
    except (ValueError, KeyError):
        return text


def _flag(key: str) -> str:
    return "--" + key.rpartition(".")[2].replace("_", "-")


def _hint(source: str, key: str) -> Any:
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
    raise ConfigError(f"{source}: there is no key {_shortened(key)}; {ending}")


def _build(settings: Iterable[_Setting]) -> Config:
    given = {setting.key: setting for setting in settings}
    values = {key: _checked(setting, _hint(setting.source, key)) for key, setting in given.items()}
    sections: dict[str, Any] = {}
    defaults = Config()
    for section in SECTIONS:
        changes = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{section}.")}
        try:
            sections[section] = dataclasses.replace(getattr(defaults, section), **changes)
        except ValueError as error:
            sources = dict.fromkeys(item.source for key, item in given.items() if key.startswith(f"{section}."))
            raise ConfigError(f"{', '.join(sources)}: [{section}] {error}") from error
    top = {key: value for key, value in values.items() if "." not in key}
    return dataclasses.replace(defaults, **top, **sections)


def _checked(setting: _Setting, hint: Any) -> Any:
    """Return the setting's value in its field's type. Raises `ConfigError`."""
    value = _converted(setting, setting.value, hint)
    items = value if isinstance(value, tuple) else (value,)
    for item in items:
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            _check_range(setting, item)
    if ("" in items or not items) and value_of(Config(), setting.key) not in ("", ()):
        raise _mistake(setting, "a name, not empty")
    if isinstance(value, tuple) and value and isinstance(value[0], int) and list(value) != sorted(value):
        raise _mistake(setting, "the minimum and then the maximum")
    return value


def _check_range(setting: _Setting, number: float) -> None:
    if not math.isfinite(number):
        raise _mistake(setting, "a finite number")
    if number > MAX_INTEGER:  # the run's own file could not be read again
        raise _mistake(setting, f"at most {MAX_INTEGER:,}")
    if number not in BOUNDS[setting.key]:
        raise _mistake(setting, str(BOUNDS[setting.key]))


def _converted(setting: _Setting, value: Any, hint: Any) -> Any:
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
            raise ConfigError(f"{_place(setting)} is {_shortened(shown)}{nearest(_shortened(shown), names)}")
        return hint(value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise _mistake(setting, expected(hint))
    return value


def _place(setting: _Setting) -> str:
    return f"{setting.source}: {setting.key}"


def _mistake(setting: _Setting, right: str) -> ConfigError:
    shown = _shortened(json.dumps(setting.value, default=str, ensure_ascii=False))
    return ConfigError(f"{_place(setting)} is {shown}; it must be {right}")


def _shortened(text: str) -> str:
    return shortened(text, MAX_REASON)
