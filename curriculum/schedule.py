"""Settings that change during self-play: the `schedule` of a configuration."""

import re

from curriculum.config import FIXED, Config
from curriculum.presets import with_assignments
from curriculum.stated import ConfigError

_STAGE = re.compile(r"\s*(\d{1,9})\s*:(.+)", re.ASCII | re.DOTALL)
SECTIONS = ("search", "selfplay", "gate")
"""Sections whose settings may change."""
_OF_ALL_ROUNDS = FIXED | {"selfplay.iterations"}
"""Settings in them that the whole run has."""


def at_round(config: Config, number: int) -> Config:
    """Return the configuration of a round of self-play, the first of which is 0.

    Raises `ConfigError` for a stage of the schedule that cannot be read.
    """
    stages = []
    for stage in config.schedule:
        match = _STAGE.fullmatch(stage)
        if match is None:
            raise ConfigError(f"schedule: write a stage as ROUND: key=value; key=value, not {stage!r}")
        changes = match[2].split(";")
        for key in (change.partition("=")[0].strip() for change in changes):
            if key in _OF_ALL_ROUNDS:
                raise ConfigError(f"schedule: {key} is the same in all rounds: set it for the run")
        stages.append((int(match[1]), changes))
    for first, changes in sorted(stages, key=lambda stage: stage[0]):
        if first <= number:
            config = with_assignments(config, changes, SECTIONS, "schedule")
    return config
