"""Players of tests, which decide on one position after the other."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from core.position import Position
from search.players import Decision, Player, never


class OneByOne(Player):
    """A player of `decide`, which a test writes."""

    def choose_batch(self, positions: Sequence[Position], *, seeds: Sequence[int], **asked: Any) -> list[Decision]:
        """See `Player`."""
        stop = asked.get("stop", never)
        return [self.decide(position, seed, stop) for position, seed in zip(positions, seeds, strict=True)]

    @abstractmethod
    def decide(self, position: Position, seed: int, stop: Callable[[], bool]) -> Decision:
        """Return a decision."""
