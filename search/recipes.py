"""Recipes of players: what a process needs in order to make one, itself small and easy to send."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from search.players import Player


@runtime_checkable
class Recipe(Protocol):
    """A player that is not made yet. It can be pickled."""

    @property
    def name(self) -> str:
        """Name of the player."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that it is made from."""

    @property
    def starts_games(self) -> bool:
        """True if the player starts each game by itself (`Player.starts_games`)."""

    def make(self, files: Mapping[Path, Path]) -> Player:
        """Make the player. `files`: the place of each file in this process."""


def as_recipe(player: Recipe) -> Recipe:
    """Return a player or its recipe. Raises `TypeError` for anything else, such as the name of a player."""
    if not isinstance(player, Recipe):
        raise TypeError(f"a player is a Player, such as open_player('default'), not {player!r}")
    return player
