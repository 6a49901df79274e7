"""Which players of a tournament meet; imports nothing heavy, for whoever only needs the words."""

from enum import StrEnum


class Format(StrEnum):
    """Which players of a tournament meet."""

    ROUND_ROBIN = "round-robin"
    """Each meets each."""
    GAUNTLET = "gauntlet"
    """The first meets all others."""
