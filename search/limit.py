"""The limit of a search."""

from dataclasses import dataclass
from typing import Annotated

from core.setting_bounds import POSITIVE, check_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The end of a search: the limit that is reached first ends it; None sets no limit.

    `depth`: plies of the mentor's search, without forced replies and extensions; tree searches refuse it. `nodes`:
    positions searched, which are nodes of the mentor, simulations of a tree search, playouts of pure MCTS. `seconds`:
    time for the move.

    >>> gomoku.Limit(nodes=2000, seconds=0.5)
    Limit(depth=None, nodes=2000, seconds=0.5)

    Raises `ValueError` for a number that is not above 0, and if no limit is set.
    """

    depth: Annotated[int | None, POSITIVE] = None
    nodes: Annotated[int | None, POSITIVE] = None
    seconds: Annotated[float | None, POSITIVE] = None

    def scaled(self, *, nodes: float, seconds: float) -> "Limit":
        """Return the limit with so many times the nodes and the seconds; depth stays."""
        return Limit(
            depth=self.depth,
            nodes=self.nodes and max(1, round(nodes * self.nodes)),
            seconds=self.seconds and seconds * self.seconds,
        )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.depth is None and self.nodes is None and self.seconds is None:
            raise ValueError("a limit names at least one of depth, nodes and seconds")
