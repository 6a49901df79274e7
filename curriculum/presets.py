"""Sources of a run's configuration: a preset, a file, `--set` and flags, each over the one before.

All of them use the same dotted keys, the fields of `curriculum.config.Config`: `seed`, `search.simulations`. Values are
checked against types and bounds of their fields. An error names the place of the mistake and the nearest valid name.
"""

import dataclasses
import itertools
import os
import tomllib
import types
import typing
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from core.arguments import check_kind
from core.errors import Notice
from core.files.atomic import TooLargeError, read_bytes
from core.input_limits import MAX_CONFIG_BYTES, MAX_REASON, shortened
from curriculum.config import DROPPED, Config
from curriculum.keys import KEYS, SECTIONS, nearest, value_of
from curriculum.stated import ConfigError, Setting, checked, hint_of
from curriculum.toml_text import toml_table, toml_value

_PRESET, _BASE, _CHAIN = "preset", "base", "chain"
"""Keys of the preset of a run, of the preset or file under a preset or file, and of the presets of a chain."""
_NOTHING: Mapping[str, Any] = types.MappingProxyType({})
_MAX_BASES = 8
"""Files that may be under a file."""
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


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings as a user states them, each source over the one before."""

    preset: str | None = None
    file: Path | None = None
    assignments: Sequence[str] = ()
    """`key=value`"""
    flags: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys and values; None leaves a setting alone."""


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
    flags: Mapping[str, Any] = _NOTHING,
) -> Config:
    """Return the configuration of `preset` (None: the defaults), then `file`, then `assignments`, then `flags`.

    >>> config = gomoku.load_config("smoke", assignments=["seed=7"])

    `assignments` are `key=value` texts. `flags` maps dotted keys to values; None leaves a setting alone. A `scale`
    below 1 is applied to the result, but for values of a file that states the scale too, as the file of a run does.
    Raises `ConfigError`.
    """
    check_kind("assignments", assignments, list | tuple, 'a list of texts, such as ["seed=7"]')
    settings = _collected(Choice(preset, None if file is None else Path(file), assignments, flags))
    given = {setting.key: setting for setting in settings}
    config = _build(given)
    under = (key for key in _SMALLEST if key not in given or not _is_at_scale(given[key], given))
    return _replaced(config, {key: scaled(key, value_of(config, key), config.scale) for key in under})


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
        setting = _assignment(text.strip(), f"{source}: {text.strip()}")
        if setting.key.partition(".")[0] not in sections:
            raise ConfigError(
                f"{source}: {setting.key} cannot change during a run; settings of {', '.join(sections)} can"
            )
        changes[setting.key] = scaled(setting.key, checked(setting), config.scale)
    return _replaced(config, changes)


def _is_dropped(setting: Setting) -> bool:
    """Return True for a setting of an earlier version, with a `Notice` if it was in use."""
    if setting.key in DROPPED and setting.value:
        warnings.warn(f"{setting.source}: {setting.key} is no setting any more, and has no effect", Notice, 3)
    return setting.key in DROPPED


def _replaced(config: Config, changes: Mapping[str, Any], given: Mapping[str, Setting] = _NOTHING) -> Config:
    """Return the configuration with other values of some keys. Raises `ConfigError`, with the sources of `given`."""
    found = {key: value for key, value in changes.items() if "." not in key}
    for section in SECTIONS:
        keys = [key for key in changes if key.startswith(f"{section}.")]
        try:
            values = {key.partition(".")[2]: changes[key] for key in keys}
            found[section] = dataclasses.replace(getattr(config, section), **values)
        except ValueError as error:
            sources = dict.fromkeys(given[key].source for key in keys if key in given)
            raise ConfigError(f"{', '.join(sources)}{': ' if sources else ''}[{section}] {error}") from error
    return dataclasses.replace(config, **found)


def revised(config: Config, choice: Choice) -> Config:
    """Return the configuration of a run with what its user states now, at the run's scale.

    Its preset is the one that it was made from, whose settings do not count again. Raises `ConfigError`.
    """
    if choice.preset not in (None, config.preset):
        raise ConfigError(
            f"the run was made from the preset {config.preset}, not {choice.preset}: leave --preset out, and change "
            "single settings with --set"
        )
    stated = {setting.key: setting for setting in _explicit(choice)}
    return _replaced(
        config,
        {
            key: checked(setting) if _is_at_scale(setting, stated) else scaled(key, checked(setting), config.scale)
            for key, setting in stated.items()
        },
    )


def _is_at_scale(setting: Setting, given: Mapping[str, Setting]) -> bool:
    """Return True for a value from the source of the scale, which states both for the same budget."""
    return "scale" in given and given["scale"].source == setting.source


def _collected(choice: Choice) -> list[Setting]:
    """Return all settings of a choice; a later one replaces an earlier one of the same key. Raises `ConfigError`."""
    explicit = _explicit(choice)
    for setting in explicit:
        if setting.key == _PRESET and choice.preset not in (None, setting.value):
            raise ConfigError(
                f"{setting.source}: preset is {setting.value}, but the command line has --preset {choice.preset}: give "
                "one of them"
            )
    return [*(_preset(choice.preset) if choice.preset is not None else ()), *explicit]


def _explicit(choice: Choice) -> list[Setting]:
    """Return the settings of a file, of `--set` and of flags, without those of a preset. Raises `ConfigError`."""
    settings, flags = _file(choice.file, ()) if choice.file is not None else [], choice.flags
    stated = [_assignment(text) for text in choice.assignments]
    for setting in stated:
        if setting.key == _PRESET:
            raise ConfigError(f"{setting.source}: write it as --preset {setting.value}")
    return [*settings, *stated, *(Setting(_flag(key), key, flags[key]) for key in flags if flags[key] is not None)]


def read_config(path: Path) -> Config:
    """Return the configuration in a file; settings that it leaves out have their defaults. Raises `ConfigError`."""
    return read_text(_read(path), str(path))


def read_text(text: str, source: str) -> Config:
    """Return the configuration in a TOML text; errors name its `source`. Raises `ConfigError`."""
    return _build({setting.key: setting for setting in _settings(_toml(text, source), source)})


def check_fields(config: Config) -> None:
    """Check the type and the bounds of every setting. Raises `ConfigError` for a configuration made in code."""
    for key in KEYS:
        checked(Setting("the configuration", key, value_of(config, key)))


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


def _read(path: Path) -> str:
    try:
        return read_bytes(path, MAX_CONFIG_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except TooLargeError as error:
        raise ConfigError(str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text") from error


def _preset(name: str, source: str | None = None) -> list[Setting]:
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


def _file(path: Path, above: tuple[Path, ...]) -> list[Setting]:
    """Return the settings of a file, those of its base first. `above`: the files that it is the base of.

    Raises `ConfigError`.
    """
    source = str(path)
    table = _toml(_read(path), source)
    named = [key for key in (_BASE, _PRESET) if key in table and table[key] != Config().preset]
    if len(named) > 1:
        raise ConfigError(f"{source}: {_PRESET} and {_BASE} both name the settings that it changes: give one of them")
    if not named:
        return _settings(table, source)
    base = table.pop(named[0])
    if not isinstance(base, str) or not base:
        raise ConfigError(f"{source}: {named[0]} must be the name of a preset or a TOML file")
    if named[0] == _PRESET or not base.endswith(".toml"):
        return [*_preset(base, f"{source}: {named[0]} = {shortened(base, MAX_REASON)}"), *_settings(table, source)]
    found = path.parent / base
    if not os.path.lexists(found):
        place = shortened(str(found), MAX_REASON)
        raise ConfigError(f"{source}: {_BASE} = {shortened(base, MAX_REASON)}: there is no file {place}")
    if any(found.resolve() == each.resolve() for each in (*above, path)):
        raise ConfigError(f"{source}: {_BASE} = {base} makes a circle of files")
    if len(above) == _MAX_BASES:
        raise ConfigError(f"{source}: more than {_MAX_BASES} files are a {_BASE} of another")
    return [*_file(found, (*above, path)), *_settings(table, source)]


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return toml_table(text)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error


def _settings(table: Mapping[str, Any], source: str) -> list[Setting]:
    settings = []
    for name, value in table.items():
        if isinstance(value, dict):
            if name not in SECTIONS:
                raise ConfigError(
                    f"{source}: there is no section {shortened(name, MAX_REASON)}{nearest(name, SECTIONS)}"
                )
            stated = (Setting(source, f"{name}.{key}", item) for key, item in value.items())
            settings += [setting for setting in stated if not _is_dropped(setting)]
        else:
            settings.append(Setting(source, name, value))
    return settings


def _assignment(text: str, source: str | None = None) -> Setting:
    source = source or f"--set {shortened(text, MAX_REASON)}"
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise ConfigError(f"{source}: write it as section.key=value")
    return Setting(source, key, _parsed(value, hint_of(source, key)))


def _parsed(text: str, hint: Any) -> Any:
    """Return the value of `text` in TOML, where quotes and brackets may be left out."""
    if typing.get_origin(hint) is tuple and not text.startswith("["):
        item = typing.get_args(hint)[0]
        return [_parsed(part.strip(), item) for part in text.split(",")]
    if isinstance(hint, type) and issubclass(hint, str) and not text.startswith(('"', "'")):
        return text
    try:
        return toml_table(f"value = {text}")["value"]
    except (ValueError, KeyError):
        return text


def _flag(key: str) -> str:
    return "--" + key.rpartition(".")[2].replace("_", "-")


def _build(given: Mapping[str, Setting]) -> Config:
    return _replaced(Config(), {key: checked(setting) for key, setting in given.items()}, given)
