"""The base of all players, their decisions and reports, and the random player."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.cores import cores
from core.errors import FailedError
from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell
from core.streams import Purpose, generator, stream_key
from search.analysis import Analysis
from search.limit import Limit
from search.opening_choice import better_colour, even_stones


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
    policy: NDArray[np.float32] | None = field(default=None, repr=False)
    """[A] the distribution from which the move was drawn or taken as the best; None for a player without one."""
    simulations: int = 0
    """Positions searched, in the unit of `search.limit.Limit.nodes`."""
    seconds: float | None = None
    """Time of the move by the player's own clock; None for a player without one."""
    plies_to_end: int | None = None
    """Plies until the end of the game, the move included, if its result is proven, else None."""
    value_decay: float = 1.0
    """Winning-value decay per ply in `value` (A III-C); 1 for a value that does not count plies."""


Stop = Callable[[], bool]
"""Returns True when a search is to end soon; it is called often."""


def never() -> bool:
    """Return False: the `stop` of a search without interruption."""
    return False


Report = Callable[[Decision | Analysis], None]
"""Takes the best move so far of a search under way, or its analysis so far, on the thread that searches."""


class How(NamedTuple):
    """Further arguments of a search."""

    seed: int | None = None
    """None for a search whose view alone counts: it goes on where a single move is left to play."""
    stop: Stop = never
    report: Report | None = None
    lines: int | None = None
    """Number of the best moves that have a line of their own in the view; None for those that cost nothing."""


PLAIN = How()

Searched = tuple[Decision, Analysis | None]
"""A decision, and the view of the position of a player that has one."""

REPORT_EVERY_S = 0.1
"""Time between two analyses that a search reports: as often as an eye can read."""
BEST_EVERY_S = 0.005
"""Time between two best moves that a search reports, where it cannot tell when the move changes."""


class Reports:
    """The reports of one search: its best move so far, and its analysis about ten times a second.

    The first analysis comes after a tenth of a second.
    """

    def __init__(self, report: Report | None) -> None:
        """`report`: None for a search without reports."""
        self._report = report
        self._next_best = 0.0
        self._next = time.monotonic() + REPORT_EVERY_S

    def is_best_due(self, now: float) -> bool:
        """Return True if it is time for the best move; `now` is an instant of `time.monotonic`."""
        return self._report is not None and now >= self._next_best

    def is_due(self, now: float) -> bool:
        """Return True if it is time for an analysis."""
        return self._report is not None and now >= self._next

    def send_best(self, best: Decision) -> None:
        """Report the best move so far."""
        if self._report is not None:
            self._report(best)
            self._next_best = time.monotonic() + BEST_EVERY_S

    def send(self, analysis: Analysis) -> None:
        """Report the analysis so far."""
        if self._report is not None:
            self._report(analysis)
        # Counted from the end: a slow report must not follow the one before at once.
        self._next = time.monotonic() + REPORT_EVERY_S


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

    def make(self, files: Mapping[Path, Path]) -> "Player":
        """Make the player. `files`: the place of each file in this process."""


class Player(ABC):
    """Chooses moves. Players keep nothing between calls but what saves time, so one may play many games at once.

    A player writes `choose_batch`; the other methods have defaults for one without a search and without a state. A
    function will often do: `FunctionPlayer`. `search.engine.Engine` is the handle for one position at a time.

    >>> player: gomoku.Player = gomoku.open_player("random")
    >>> [decision.move for decision in player.choose_batch([gomoku.Position()] * 2, seeds=[1, 2])]
    [..., ...]
    """

    name: str
    """The player's name in tables and records."""
    limit: Limit | None = None
    """The limit of a search that gets none; None for a player that has no analysis."""
    starts_games = False
    """True for a player with a state for each game, such as an engine process."""
    compiles = False
    """True for a player whose first decision loads and compiles its search."""

    files: tuple[Path, ...] = ()
    """See `Recipe`: a player of this process is a recipe of itself."""

    def make(self, files: Mapping[Path, Path]) -> "Player":
        """See `Recipe`."""
        return self

    @abstractmethod
    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """Return a decision for each position, none of which is over; the same seed gives the same decision.

        `limit` replaces the player's own limit for this call; players without a search ignore it. `stop` is called
        often; after it returns True, the best moves found so far are returned soon.
        """

    def choose(self, position: Position, limit: Limit | None = None, *, seed: int = 0, stop: Stop = never) -> Decision:
        """Return a decision on one position that is not over: `choose_batch` for a single position."""
        decisions = self.choose_batch([position], seeds=[seed], limit=limit, stop=stop)
        check_decisions(self.name, decisions, 1)
        return decisions[0]

    def search(self, position: Position, limit: Limit | None = None, how: How = PLAIN) -> Searched:
        """Return the decision that `choose` returns for the same arguments, and the search's view of the position.

        A search of `Limit(seconds=math.inf)` goes on until `how.stop` returns True, the result is proven or memory is
        full. `how.report` gets the best move so far, and the view so far about ten times a second. A player without a
        limit of its own has no view.
        """
        return self.choose(position, limit, seed=how.seed or 0, stop=how.stop), None

    def ponder(self, position: Position, stop: Stop) -> None:  # noqa: B027 - none need do it
        """Search a position that is not over until `stop` returns True, or not at all.

        The next search goes on from there if its position continues this one.
        """

    def choose_opening(
        self, position: Position, opening: Opening, *, seed: int, limit: Limit | None = None, stop: Stop = never
    ) -> Choice | tuple[Cell, ...]:
        """Return the choice of an opening rule, or the stones that this side places now, in turn.

        By its values of positions, within the nodes of a move for each or the time of four moves for all; a player
        without values takes any stones, and White or Black by the seed.
        """

        def evaluate(positions: Sequence[Position], length: int) -> list[float]:
            seeds = [stream_key(seed, number, length) for number in range(len(positions))]
            usual = limit or self.limit
            effort = None if usual is None else usual.scaled(nodes=length, seconds=length / len(positions))
            found = self.choose_batch(positions, seeds=seeds, limit=effort, stop=stop)
            return [
                decision.value if decision.value is not None else 1.0 - 2.0 * generator(key, Purpose.OPENING).random()
                for decision, key in zip(found, seeds, strict=True)
            ]

        if opening.options(position.ply):
            return better_colour(evaluate([position], 1)[0])
        return even_stones(position, opening, seed, evaluate)

    def start_game(self) -> AbstractContextManager["Player"]:
        """Return a player for one game, whose positions it gets in order; leaving the context ends it.

        It raises `ForfeitError` if it cannot go on. A player without a state for each game is that player itself.
        """
        return nullcontext(self)


def as_recipe(player: Recipe) -> Recipe:
    """Return a player or its recipe. Raises `TypeError` for anything else, such as the name of a player."""
    if not isinstance(player, Recipe):
        raise TypeError(f"a player is a Player, such as open_player('default'), not {player!r}")
    return player


def check_decisions(name: str, decisions: Sequence[Decision], count: int) -> None:
    """Raise an error that names the player unless it has returned so many decisions."""
    if not isinstance(decisions, Sequence) or not all(isinstance(each, Decision) for each in decisions):
        raise TypeError(f"{name} returns {decisions!r}: choose_batch returns a list of Decisions")
    if len(decisions) != count:
        raise ValueError(f"{name} returns {len(decisions)} decisions on {count} positions")


def make_move(position: Position, move: Cell | str, name: str) -> None:
    """Push the move of a player. Raises the errors of `Position.push` with the player's name."""
    try:
        position.push(move)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} answers {move!r}: {error}") from error


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
        """`move` gets a copy of each position, none of which is over. Raises `TypeError` for what is no function."""
        if not callable(move):
            raise TypeError(f"a FunctionPlayer has a name and a function, not {move!r}")
        self.name = name
        self._move = move

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`. Raises the errors of `Position.push` for a move that the rules forbid."""
        decisions = []
        for position in positions:
            after, move = position.copy(), self._move(position.copy())
            make_move(after, move, self.name)
            decisions.append(Decision(after.moves[-1]))
        return decisions


class RandomPlayer(Player):
    """Plays any legal move with equal chance."""

    name = "random"

    def choose_batch(
        self, positions: Sequence[Position], *, seeds: Sequence[int], limit: Limit | None = None, stop: Stop = never
    ) -> list[Decision]:
        """See `Player`."""
        return [
            Decision(int(generator(seed, Purpose.MOVE).choice(position.legal_moves())))
            for position, seed in zip(positions, seeds, strict=True)
        ]
