"""Who can be sat at a board: one protocol, and the players that need no net."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.errors import FailedError
from core.position import Position
from core.rules import Cell
from core.streams import Purpose, generator
from search.analysis import Analysis
from search.limits import Limit


class ForfeitError(FailedError, RuntimeError):
    """A player cannot go on and loses the game it is in; says why."""

    def __init__(self, why: str, *, on_time: bool = False) -> None:
        super().__init__(why)
        self.on_time = on_time
        """Whether it was too slow."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a player decided on a position."""

    move: Cell
    value: float | None = None
    """Expected result for the side to move, -1 to 1; None for a player without an opinion."""
    policy: NDArray[np.float32] | None = None
    """[A] the distribution that the move was drawn from or is the best of; None for a player without one."""
    simulations: int = 0
    """Simulations, playouts or nodes spent."""
    seconds: float | None = None
    """Time it took, where the player keeps to a clock of its own and measures it; None elsewhere."""
    plies_to_end: int | None = None
    """Plies until the end of the game where its result is proven, the move included; None elsewhere."""
    value_decay: float = 1.0
    """Winning-value decay per ply in `value` (A III-C); 1 for a value that does not count plies."""


def never() -> bool:
    """The `stop` of a player that nobody stops."""
    return False


class Player(Protocol):
    """Chooses moves. Players keep nothing between calls, so one player may play many games at once.

    A player that inherits from this protocol writes `choose_batch` and gets `choose`.
    """

    name: str
    """The player's name in tables and records."""

    def choose(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        seed: int = 0,
        stop: Callable[[], bool] = never,
    ) -> Decision:
        """Return a decision on one position that is not over: `choose_batch` for a single position."""
        return self.choose_batch([position], seeds=[seed], limit=limit, stop=stop)[0]

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """Return a decision for each position, none of which is over; the same seed gives the same decision.

        `limit` replaces the player's own limit for this call; players without a search ignore it. `stop` is called
        often; after it returns True, the best moves found so far are returned soon.
        """


@runtime_checkable
class PlaysGames(Player, Protocol):
    """A player with a state for each game, such as an engine process; `start_game` gives the player of one game."""

    def start_game(self) -> AbstractContextManager[Player]:
        """Return a player for one game, whose positions it gets in order; leaving the context ends it.

        Its `choose_batch` raises `ForfeitError` where it cannot go on.
        """


@runtime_checkable
class Analyses(Player, Protocol):
    """A player whose search gives numbers for the root's moves, such as the mentor or a tree search."""

    def analyse(self, position: Position, limit: Limit | None = None, *, stop: Callable[[], bool] = never) -> Analysis:
        """Return the search's view of a position that is not over; `limit` and `stop` are those of `choose_batch`."""


@runtime_checkable
class Ponders(Player, Protocol):
    """A player that can think on while its opponent does."""

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        """Thinks about a position that is not over until `stop` says so; it is asked often.

        `choose` then goes on from there, where it is next asked about a position reached from this one.
        """


def decide_each(
    decide: Callable[[Position, int], Decision], positions: Sequence[Position], seeds: Sequence[int]
) -> list[Decision]:
    """`decide(position, seed)` for each position, on all cores; for players whose thinking is compiled."""
    if len(positions) == 1:
        return [decide(positions[0], seeds[0])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(decide, positions, seeds))


class RandomPlayer(Player):
    """Plays any legal move with equal chance."""

    name = "random"

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`."""
        return [
            Decision(int(generator(seed, Purpose.MOVE).choice(position.legal_moves())))
            for position, seed in zip(positions, seeds, strict=True)
        ]
