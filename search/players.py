"""The protocol of all players, their decisions, and the random player."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.cores import cores
from core.errors import FailedError
from core.position import Position
from core.rules import Cell
from core.streams import Purpose, generator
from search.analysis import Analysis, Report
from search.limits import Limit


class ForfeitError(FailedError, RuntimeError):
    """A player cannot go on and loses its game; the message gives the reason.

    >>> raise gomoku.ForfeitError("it crashed")
    Traceback (most recent call last):
    search.players.ForfeitError: it crashed
    """

    def __init__(self, why: str, *, on_time: bool = False) -> None:
        super().__init__(why)
        self.on_time = on_time
        """True if the player was too slow."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A player's decision on a position.

    >>> decision = gomoku.open_engine("mentor:1").play(gomoku.Position())
    >>> decision.move, decision.value
    (112, 0.0)
    """

    move: Cell
    value: float | None = None
    """Expected result for the side to move, -1 to 1; None for a player without an evaluation."""
    policy: NDArray[np.float32] | None = None
    """[A] the distribution from which the move was drawn or taken as the best; None for a player without one."""
    simulations: int = 0
    """Positions searched, in the unit of `search.limits.Limit.nodes`."""
    seconds: float | None = None
    """Time of the move by the player's own clock; None for a player without one."""
    plies_to_end: int | None = None
    """Plies until the end of the game, the move included, if its result is proven, else None."""
    value_decay: float = 1.0
    """Winning-value decay per ply in `value` (A III-C); 1 for a value that does not count plies."""


def never() -> bool:
    """Return False: the `stop` of a search without interruption."""
    return False


class Player(Protocol):
    """Chooses moves. Players keep nothing between calls, so one player may play many games at once.

    A player that inherits from this protocol writes `choose_batch` and gets `choose`. A function will often do:
    `FunctionPlayer`.

    >>> player: gomoku.Player = gomoku.open_player("random")
    >>> [decision.move for decision in player.choose_batch([gomoku.Position()] * 2, seeds=[1, 2])]
    [..., ...]
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

        Its `choose_batch` raises `ForfeitError` if it cannot go on.
        """


@runtime_checkable
class Analyses(Player, Protocol):
    """A player whose search gives numbers for the root's moves, such as the mentor or a tree search."""

    @property
    def limit(self) -> Limit:
        """The limit of a search that gets none."""

    def analyse(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        stop: Callable[[], bool] = never,
        report: Report | None = None,
    ) -> Analysis:
        """Return the search's view of a position that is not over; `limit` and `stop` are those of `choose_batch`.

        `report` gets the analysis so far about ten times a second; a search of `Limit(seconds=math.inf)` goes on until
        `stop` returns True, the result is proven or memory is full.
        """


@runtime_checkable
class Thinks(Player, Protocol):
    """A player that shows its search while it chooses a move."""

    def think(
        self,
        position: Position,
        limit: Limit | None = None,
        *,
        seed: int = 0,
        stop: Callable[[], bool] = never,
        report: Report | None = None,
    ) -> tuple[Decision, Analysis]:
        """Return the decision that `choose` returns for the same arguments, and the analysis of its search.

        `report` gets the analysis so far about ten times a second.
        """


@runtime_checkable
class TellsBest(Player, Protocol):
    """A player whose search tells its best move while it runs, to a caller that can wait no longer."""

    best_so_far: Decision | None
    """The best move so far of the search that told one last. The caller sets None before a search. Any thread may read
    it; with several searches at once it belongs to any of them."""


@runtime_checkable
class Ponders(Player, Protocol):
    """A player that can search while its opponent does."""

    def ponder(self, position: Position, stop: Callable[[], bool]) -> None:
        """Search a position that is not over until `stop`, which is called often, returns True.

        The next `choose` goes on from there if its position continues this one.
        """


def decide_each(
    decide: Callable[[Position, int], Decision], positions: Sequence[Position], seeds: Sequence[int]
) -> list[Decision]:
    """Return `decide(position, seed)` for each position, on all cores; for players with a compiled search."""
    if len(positions) == 1:
        return [decide(positions[0], seeds[0])]
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(decide, positions, seeds))


class FunctionPlayer(Player):
    """A player from a function that returns a move, as a cell or its name, for each position.

    >>> first = gomoku.FunctionPlayer("first", lambda position: position.legal_moves()[0])
    >>> first.choose(gomoku.Position()).move
    0
    """

    def __init__(self, name: str, move: Callable[[Position], Cell | str]) -> None:
        """`move` gets a copy of each position, none of which is over."""
        self.name = name
        self._move = move

    def choose_batch(
        self,
        positions: Sequence[Position],
        *,
        seeds: Sequence[int],
        limit: Limit | None = None,
        stop: Callable[[], bool] = never,
    ) -> list[Decision]:
        """See `Player`. Raises the errors of `Position.push` for a move that the rules forbid."""
        decisions = []
        for position in positions:
            after = position.copy()
            after.push(self._move(position.copy()))
            decisions.append(Decision(after.moves[-1]))
        return decisions


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
