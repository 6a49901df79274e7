"""Completion of names on the command line, for the shell: presets, players, settings and their values."""

from pathlib import Path

from curriculum.arena import player_names

_PLAYER_SETTINGS = ("imitation.teacher", "imitation.opponent", "imitation.bar_opponent", "start")


def presets(incomplete: str) -> list[str]:
    """Complete the name of a preset."""
    from curriculum.presets import chain_names, preset_names

    return [name for name in (*preset_names(), *chain_names()) if name.startswith(incomplete)]


def players(incomplete: str) -> list[str]:
    """Complete a player, or a file that may be one."""
    return [name for name in player_names.EXAMPLES if name.startswith(incomplete)] or [
        str(path) for path in sorted(Path().glob(f"{incomplete}*"))
    ]


def settings(incomplete: str) -> list[str]:
    """Complete `key=value`: the key, and then a value that is a name."""
    from curriculum.keys import KEYS, names_of

    key, equals, value = incomplete.partition("=")
    if not equals:
        return [f"{key}=" for key in KEYS if key.startswith(incomplete)]
    if key in _PLAYER_SETTINGS:
        return [f"{key}={name}" for name in players(value)]
    return [f"{key}={name}" for name in (names_of(key) if key in KEYS else ()) if name.startswith(value)]


def keys(incomplete: str) -> list[str]:
    """Complete a key or a section of the configuration."""
    from curriculum.keys import KEYS, SECTIONS

    return [name for name in (*SECTIONS, *KEYS) if name.startswith(incomplete)]
