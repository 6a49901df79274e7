"""The settings of runs, explained and compared."""

import functools
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.errors import BadDataError, UsageError
from curriculum.config import Config
from curriculum.explanations import explanations
from curriculum.keys import KEYS, SECTIONS, allowed, nearest, setting_value
from curriculum.presets import preset_names, read_config, read_text, resolve, setting_text
from curriculum.stated import ConfigError
from gomoku_cli.printable import shown


class UnknownSourceError(UsageError, ValueError):
    """A name of no configuration; the message says what has one."""


class UnusableSourceError(BadDataError, ValueError):
    """A file or folder that is missing, or without a configuration."""


def config_of(name: str) -> Config:
    """Return the configuration that `name` has: a preset, a run folder, a model, a TOML file, or `defaults`.

    A model is a file or a built-in one.

    Raises `UnknownSourceError`, `UnusableSourceError`, `ConfigError`, and `CheckpointError` for a model file.
    """
    from curriculum.run.folder import is_run, why_no_run

    path = Path(name)
    if name == "defaults":
        return Config()
    if is_run(path):
        return read_config(path / "config.toml")
    if path.suffix == ".safetensors":
        return _config_of_model(path)
    if path.is_file():
        return resolve(file=path)
    if path.is_dir():
        raise UnusableSourceError(why_no_run(path))
    if path.suffix or path.parent != Path("."):
        raise UnusableSourceError(f"there is no file or folder {name}")
    if name in preset_names():
        return resolve(name)
    from nets.checkpoint import BUILT_IN

    if name not in BUILT_IN:
        known = dict.fromkeys(("defaults", *preset_names(), *BUILT_IN))
        raise UnknownSourceError(f"{name} is no preset, model, file or run folder{nearest(name, known)}")
    return _config_of_model(BUILT_IN[name])


def config_of_run(path: Path) -> Config | None:
    """Return the configuration of the run in `path`; None if it cannot be read."""
    with suppress(ConfigError):
        return read_config(path / "config.toml")
    return None


def _config_of_model(path: Path) -> Config:
    from nets.checkpoint import check_model

    text = check_model(path).made.get("config")
    if not isinstance(text, str):
        raise UnusableSourceError(f"{path} does not hold the configuration of its run")
    return read_text(text, f"the configuration in {path}")


def keys_of(names: Sequence[str]) -> list[str]:
    """Return the keys that `names` select: keys, and sections with all keys below; all keys without any name.

    Raises `ConfigError` with the nearest name.
    """
    found: list[str] = []
    for name in names:
        part = [key for key in KEYS if key == name or key.startswith(f"{name}.")]
        if not part:
            meant = [key for key in KEYS if key.rpartition(".")[2] == name]
            ending = f"; did you mean {' or '.join(meant)}?" if meant else nearest(name, (*SECTIONS, *KEYS), SECTIONS)
            raise ConfigError(f"there is no setting {shown(name)}{ending}")
        found += part
    return list(dict.fromkeys(found)) or list(KEYS)


def listing(config: Config, keys: Iterable[str]) -> list[dict[str, Any]]:
    """Return a row for each key: its value, its default, and the first sentence of its explanation."""
    defaults = Config()
    return [
        {
            "key": key,
            "value": setting_value(config, key),
            "default": setting_value(defaults, key),
            "explanation": explanations()[key].first_sentence,
        }
        for key in keys
    ]


def explanation(key: str) -> dict[str, Any]:
    """Return everything about a setting: meaning, allowed values, default, and the presets that change it."""
    defaults, known = Config(), explanations()[key]
    return {
        "key": key,
        "explanation": known.text,
        "allowed": allowed(key),
        "values": dict(known.values),
        "default": setting_value(defaults, key),
        "presets": {
            name: setting_value(config, key)
            for name, config in _presets().items()
            if setting_text(config, key) != setting_text(defaults, key)
        },
    }


@functools.cache
def _presets() -> dict[str, Config]:
    return {name: resolve(name) for name in preset_names()}


def differences(configs: Sequence[Config]) -> list[tuple[str, list[str]]]:
    """Return the settings that are not the same in all configurations, each with its values as TOML."""
    texts = {key: [setting_text(config, key) for config in configs] for key in KEYS}
    return [(key, values) for key, values in texts.items() if len(set(values)) > 1]
