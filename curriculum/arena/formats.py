"""Formats of a tournament; imports nothing heavy, so that help stays fast."""

from enum import StrEnum


class Format(StrEnum):
    """Format of a tournament: the players who meet."""

    ROUND_ROBIN = "round-robin"
    """Each player meets each other one."""
    GAUNTLET = "gauntlet"
    """The first player meets all others."""
