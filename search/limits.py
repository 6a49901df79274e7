"""How long to think about a move."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What ends a search, whichever comes first; None sets no limit.

    Raises `ValueError` for a number out of range, and where nothing ends the search.
    """

    depth: int | None = None
    """Plies to look ahead; forced replies and what follows the last ply are not counted."""
    nodes: int | None = None
    """Positions to look at."""
    seconds: float | None = None
    """Time to think."""

    def __post_init__(self) -> None:
        numbers = (("depth", self.depth), ("nodes", self.nodes), ("seconds", self.seconds))
        for name, number in numbers:
            if number is not None and not number > 0:
                raise ValueError(f"{name} is {number}; it must be more than 0")
        if all(number is None for _, number in numbers):
            raise ValueError("a limit names at least one of depth, nodes and seconds")
