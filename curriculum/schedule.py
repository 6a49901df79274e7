"""Settings that change during self-play: the `schedule` of a configuration."""

import re

from curriculum.config import Config
from curriculum.presets import with_assignments
from curriculum.stated import ConfigError

_STAGE = re.compile(r"\s*(\d{1,9})\s*:(.+)", re.ASCII | re.DOTALL)
SECTIONS = ("search", "selfplay", "gate")
"""Sections whose settings may change."""


def at_round(config: Config, number: int) -> Config:
    """Return the configuration of a round of self-play, the first of which is 0.

    Raises `ConfigError` for a stage of the schedule that cannot be read.
    """
    stages = []
    for stage in config.schedule:
        match = _STAGE.fullmatch(stage)
        if match is None:
            raise ConfigError(f"schedule: write a stage as ROUND: key=value; key=value, not {stage!r}")
        stages.append((int(match[1]), match[2]))
    for first, text in sorted(stages, key=lambda stage: stage[0]):
        if first <= number:
            config = with_assignments(config, text.split(";"), SECTIONS, "schedule")
    return config
