"""The origin of a model in its metadata. It names files by name and hash, so that it tells nothing of a machine."""

import hashlib
import re
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from curriculum.arena.player_names import ENGINE, own_simulations, short_name
from curriculum.arena.players import PlayerSpecError, model_path
from curriculum.config import Config
from curriculum.keys import setting_value
from curriculum.presets import Choice, revised, to_toml
from nets.checkpoint import BUILT_IN, CheckpointError

_PLAYERS = ("start", "imitation.teacher", "imitation.opponent", "imitation.bar_opponent", "evaluation.opponents")
"""The settings that name players, whose files may be anywhere."""
_RESULT = ("games", "wins", "draws", "losses", "score", "score_interval", "elo", "elo_interval", "pairs")
"""The part of a match's results that a model keeps: no times, which differ from run to run, and no names."""


def file_hash(path: Path) -> str:
    """Return a hash of a model file, by which its descendants name it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def portable_name(spec: str) -> str:
    """Return the name of a player without the folders of its files: `hour#9bd69658c66df35e` for a run or a model."""
    if spec.startswith(f"{ENGINE}:"):
        return _stripped(spec)
    name, simulations = own_simulations(spec)
    try:
        path = model_path(name) if name not in BUILT_IN else None
    except (PlayerSpecError, CheckpointError):  # a file that is gone
        return _stripped(spec)
    if path is None:
        return spec
    short = _last_parts(short_name(str(Path(name).absolute())))
    known = f"{short}#{file_hash(path)}" if path.is_file() else short
    return known if simulations is None else f"{known}@{simulations}"


def _stripped(text: str) -> str:
    """Return a text without the folders of the paths in it: the command of an engine, a path, or any other."""
    if not re.search(r"[/\\]", text):
        return text
    kind, colon, command = text.partition(":")
    try:
        words = shlex.split(command) if kind == ENGINE else None
    except ValueError:
        words = None
    return _last_parts(text) if words is None else f"{kind}{colon}{shlex.join(map(_last_parts, words))}"


def _last_parts(word: str) -> str:
    """Return a word of a command line, or each side of its `=`, without folders."""
    return "=".join(re.split(r"[/\\]", part)[-1] for part in word.split("="))


def _portable_value(key: str, value: Any) -> Any:
    """Return the value of a setting, in the types of JSON, with players by `portable_name`."""
    if key not in _PLAYERS:
        return value
    return [portable_name(each) for each in value] if isinstance(value, list) else portable_name(str(value))


def portable_change(change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a change of a run's settings as the metadata of a model keep it."""
    pairs = change["settings"].items()
    settings = {key: [_portable_value(key, value) for value in pair] for key, pair in pairs}
    return {key: change[key] for key in change if key != "time"} | {"settings": settings}


def origin_of(config: Config, commit: str | None) -> dict[str, Any]:
    """Return what every model of a configuration says of its origin."""
    players = {key: _portable_value(key, setting_value(config, key)) for key in _PLAYERS}
    return {
        "preset": config.preset,
        "commit": commit,
        "search": asdict(config.search),
        "config": to_toml(revised(config, Choice(flags=players))),
    }


def result_of(match: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a match as the metadata of a model keep it."""
    return {key: match[key] for key in _RESULT if key in match}
