"""One handle over any player: moves, analyses that are read while they run, and pondering.

Searches run on a thread of the handle, so that its caller can stop it and read its results so far. A handle runs one
search at a time: a call ends the search of the call before.
"""

import math
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Self, SupportsIndex

from core.arguments import check_kind
from core.cores import Threads
from core.errors import UsageError
from core.opening_rules import Choice, Opening
from core.position import Position
from core.rules import Cell, Rules
from search.analysis import Analysis
from search.limit import Limit
from search.players import Decision, ForfeitError, How, Player, Report, Stop, make_move
from search.running import Found, Result, RunningSearch, Search


class NoAnalysisError(UsageError, ValueError):
    """The player tells no more than its move."""


class _Game:
    """The player of a game. A position with the first move of the last one is of its game, any other of a new one."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._context = ExitStack()
        self._in_game = player
        self._last: Position | None = None
        """The position of the last move; None outside a game."""

    def search(self, position: Position, limit: Limit | None, how: How) -> Found:
        """Return the decision of the player in its game and its view; one that was stopped or failed ends the game."""
        with self._in_game_of(position) as player:
            found = player.search(position, limit, how)
        if (decision := found[0]) is not None:
            make_move(position.copy(), decision.move, self._player.name)
        if not how.stop():
            self._last = position
        return found

    def choose_opening(self, position: Position, opening: Opening, seed: int, stop: Stop) -> Choice | tuple[Cell, ...]:
        """Return the choice of the player in its game; any position is of this game then."""
        with self._in_game_of(position) as player:
            found = player.choose_opening(position, opening, seed=seed, stop=stop)
        self._last = Position(position.rules)
        return found

    def prepare(self, rules: Rules, *, ponders: bool) -> None:
        """Start a game, and let the player load what its first decision needs; any position is of this game."""
        position = Position.from_moves(rules, (0,))
        with self._in_game_of(position) as player:
            if ponders:
                self._player.ponder(position, lambda: True)
                position.push(1)
            player.search(position, how=How(0, lambda: True))
        self._last = Position(rules)

    @contextmanager
    def _in_game_of(self, position: Position) -> Iterator[Player]:
        """Yield the player in the game of a position; what fails in the block ends the game.

        Errors name the program: those of a game leave that to a table of games.
        """
        last = self._last
        try:
            # Moves may be taken back: a program sets its board anew, which is quicker than its start.
            if last is None or last.rules != position.rules or (last.moves and position.moves[:1] != last.moves[:1]):
                self.close()
                self._in_game = self._context.enter_context(self._player.start_game())
            self._last = None
            yield self._in_game
        except ForfeitError as error:
            if not self._player.starts_games:
                raise
            raise ForfeitError(f"{self._player.name}: {error}", on_time=error.on_time) from error

    def close(self) -> None:
        """End the game."""
        self._last = None
        self._context.close()


class Engine:
    """A player as one handle: `play`, `analysis` and `ponder`, each of which ends the search of the call before.

    Close it, or use it as a context manager. Positions are copied: the caller may change its own meanwhile.

    >>> position = gomoku.Position()
    >>> with gomoku.Engine(gomoku.open_player("mentor")) as engine:
    ...     position.push(engine.play(position, gomoku.Limit(seconds=0.5)).move)
    """

    def __init__(self, player: Player) -> None:
        if not isinstance(player, Player):
            raise TypeError(f"an engine has a Player, such as FunctionPlayer(name, function), not {player!r}")
        self.name = player.name
        """The player's name in tables and records."""
        self.player = player
        """The player itself."""
        self._game = _Game(player)
        # One thread for all searches: the start of one waits until it gets a processor, on a busy machine too long.
        self._thread = Threads(1, "search")
        self._lock = threading.Lock()
        self._is_closed = False
        self._running: list[Search] = []
        """The last search."""
        weakref.finalize(self, _end_all, self._running, self._game)

    @property
    def can_analyse(self) -> bool:
        """True if the player has a search to show."""
        return self.limit is not None

    @property
    def limit(self) -> Limit | None:
        """The limit of an analysis that gets none; None for a player without analyses."""
        return self.player.limit

    def play(self, position: Position, limit: Limit | None = None, *, seed: int = 0) -> Decision:
        """Return the player's decision on a position: `start`, and the wait for its end."""
        return self.start(position, limit, seed=seed).wait()

    def start(
        self, position: Position, limit: Limit | None = None, *, seed: int = 0, until: float = math.inf
    ) -> RunningSearch[Decision]:
        """Start the search for a move and return it, to read, stop or wait for; `until` is that of `stop_at`.

        The same seed gives the same decision, unless a time limits it. `limit` replaces the player's own; players
        without a search ignore it. A program of its own (`engine:COMMAND`) is in a game: a position with the first move
        of the one of the call before is of that game, any other begins a new one.

        Raises `ValueError` for a position that is over and a closed engine. The search raises it for a limit that the
        player does not know and a move that cannot be played, and the errors of the player: `ForfeitError` if it cannot
        go on.
        """
        check_kind("seed", seed, SupportsIndex, "a whole number")
        game = self._game
        return self._start(
            position,
            lambda position, *told: game.search(position, limit, How(seed, *told)),
            _decision,
            limit=limit,
            until=until,
        )

    def analysis(
        self, position: Position, limit: Limit | None = None, *, lines: int | None = None
    ) -> RunningSearch[Analysis]:
        """Start an analysis and return it, to iterate over; its values are for the side to move, -1 to 1.

        `limit` replaces the player's own; with `Limit(seconds=math.inf)` it runs until it is stopped, its result is
        proven or memory is full. In its final view so many of the best moves as `lines` have a line of their own; None
        for those that cost nothing: eight of a tree search, and one of the mentor, which searches longer for more.

        Raises `NoAnalysisError` for a player that cannot, and `ValueError` for no line, or as `start` does.
        """
        check_kind("lines", lines, SupportsIndex | None, "a whole number")
        if lines is not None and lines < 1:
            raise ValueError(f"lines is {lines}; it must be 1 or more")
        player = self.player
        if not self.can_analyse:
            raise NoAnalysisError(f"{self.name} tells no more than its move: it has no analysis")
        return self._start(
            position,
            lambda position, stop, report: player.search(position, limit, How(None, stop, report, lines)),
            _view,
            limit=limit,
        )

    def ponder(self, position: Position) -> RunningSearch[None]:
        """Search a position in the background until the next call, which goes on from there where it continues it.

        Players that cannot ponder end at once. An error is one of the returned search alone.
        """
        player = self.player
        return self._start(position, lambda position, stop, report: player.ponder(position, stop), _nothing)

    def choose_opening(
        self, position: Position, opening: Opening, *, seed: int = 0
    ) -> "RunningSearch[Choice | tuple[Cell, ...]]":
        """Start the player's choice by an opening rule; see `Player.choose_opening` for its result."""
        game, found = self._game, []

        def work(position: Position, stop: Stop, report: Report) -> None:
            found.append(game.choose_opening(position, opening, seed, stop))

        return self._start(position, work, lambda _: found[0])

    def prepare(self, rules: Rules, *, ponders: bool = False) -> RunningSearch[None]:
        """Load and compile what a decision on a board needs, so that the first one does not wait for it.

        `ponders`: with what `ponder` needs.
        """
        game = self._game
        return self._start(Position(rules), lambda *how: game.prepare(rules, ponders=ponders), _nothing)

    def close(self) -> None:
        """End the search and the player's game; nothing else may be called then."""
        with self._lock:
            self._is_closed = True
            _end_all(self._running, self._game)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _start(
        self,
        position: Position,
        work: Callable[[Position, Stop, Report], Found | None],
        result: Callable[[Found], Result],
        *,
        limit: Limit | None = None,
        until: float = math.inf,
    ) -> RunningSearch[Result]:
        """End the last search and start the next one; `work` must not hold the engine."""
        check_kind("position", position, Position, "a Position, such as Position.from_moves(rules, 'h8 i9')")
        check_kind("limit", limit, Limit | None, "a Limit, such as Limit(nodes=200)")
        if position.is_game_over():
            raise ValueError("the game is over: there is nothing to search")
        position = position.copy()
        with self._lock:
            if self._is_closed:
                raise ValueError(f"the engine {self.name} is closed")
            _end_all(self._running)
            search = Search(self._thread, lambda stop, report: work(position, stop, report), until)
            self._running.append(search)
        return RunningSearch(self, search, result)


def _decision(found: Found) -> Decision:
    assert found[0] is not None
    return found[0]


def _view(found: Found) -> Analysis:
    assert found[1] is not None
    return found[1]


def _nothing(found: Found) -> None:
    pass


def _end_all(running: list[Search], game: _Game | None = None) -> None:
    while running:
        running.pop().end()
    if game is not None:
        game.close()
