"""One handle over any player: moves, analyses that are read while they run, and pondering.

A search runs on a thread of its own, so that its caller can stop it and read its results so far. A handle runs one
search at a time: a call ends the search of the call before.
"""

import atexit
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from core.errors import UsageError
from core.position import Position
from search.analysis import Analysis, Report
from search.limits import Limit
from search.players import Analyses, Decision, Player, PlaysGames, Ponders

_Result = TypeVar("_Result")
_Stop = Callable[[], bool]


class NoAnalysisError(UsageError, ValueError):
    """The player tells no more than its move."""


class _Search(Generic[_Result]):
    """One call of a player, on a thread of its own."""

    def __init__(self, work: Callable[[_Stop], _Result]) -> None:
        """`work` gets the `stop` of its search."""
        self.future: Future[_Result] = Future()
        self._work = work
        self._stops = threading.Event()
        _SEARCHES.add(self)
        threading.Thread(target=self._run, name="search", daemon=True).start()

    def _run(self) -> None:
        try:
            result = self._work(self._stops.is_set)
        except BaseException as error:
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

    def stop(self) -> None:
        """Let the search end soon."""
        self._stops.set()

    def end(self) -> None:
        """Stop the search and wait for its end."""
        self.stop()
        wait([self.future])

    def result(self) -> _Result:
        """Wait for the result. Raises the error of the search; an exception of the wait itself ends the search."""
        try:
            wait([self.future])
        except BaseException:
            self.end()
            raise
        return self.future.result()


_SEARCHES: "weakref.WeakSet[_Search[Any]]" = weakref.WeakSet()


def _end_searches() -> None:
    for search in list(_SEARCHES):
        search.end()


# At its end a program waits for the threads of a search, and a search without a limit would never end. `atexit` comes
# after that wait; the hook of `concurrent.futures`, which is called before it, has no public name.
getattr(threading, "_register_atexit", atexit.register)(_end_searches)


class _Game:
    """Plays with a player that has a state for each game. A position that continues the last one is of its game."""

    def __init__(self, player: PlaysGames) -> None:
        self._player = player
        self._context = ExitStack()
        self._in_game: Player = player
        self._last: Position | None = None
        """The position of the last move; None outside a game."""

    def choose(self, position: Position, limit: Limit | None, seed: int, stop: _Stop) -> Decision:
        """Return the decision of the player in its game; one that was stopped or failed ends the game."""
        last, self._last = self._last, None
        if last is None or last.rules != position.rules or position.moves[: last.ply] != last.moves:
            self.close()
            self._in_game = self._context.enter_context(self._player.start_game())
        decision = self._in_game.choose(position, limit, seed=seed, stop=stop)
        if not stop():
            self._last = position
        return decision

    def close(self) -> None:
        """End the game."""
        self._last = None
        self._context.close()


class RunningAnalysis(Iterator[Analysis]):
    """A search under way. Iterating gives its analysis so far about ten times a second, the final one last.

    A reader that is slower gets the newest one. Leaving its `with` block stops the search and waits for its end.

    >>> with engine.analysis(position, Limit(seconds=math.inf)) as analysis:
    ...     for info in analysis:
    ...         if info.nodes > 10_000:
    ...             break
    >>> final = analysis.wait()
    """

    def __init__(self, engine: "Engine", start: Callable[[Report], _Search[Analysis]]) -> None:
        """`start` starts the search with its report. See `Engine.analysis`."""
        self._engine = engine  # while it is read, the engine must not be collected, which would end the search
        self._changed = threading.Condition()
        self._newest: Analysis | None = None
        """The newest one that is not read yet."""
        self._has_ended = False
        """True once the final one, or the error, has reached the caller."""
        self._search = start(self._report)
        self._search.future.add_done_callback(self._end)

    def _report(self, analysis: Analysis) -> None:
        with self._changed:
            self._newest = analysis
            self._changed.notify_all()

    def _end(self, search: Future[Analysis]) -> None:
        with self._changed:
            self._changed.notify_all()

    def __next__(self) -> Analysis:
        """Return the next analysis so far. Raises the error of the search."""
        if self._has_ended:
            raise StopIteration
        with self._changed:
            self._changed.wait_for(lambda: self._newest is not None or self._search.future.done())
            info, self._newest = self._newest, None
        if info is None or self._search.future.done():
            return self.wait()
        return info

    def stop(self) -> None:
        """Let the search end soon, without a wait; any thread may call it."""
        self._search.stop()

    def wait(self) -> Analysis:
        """Wait for the end of the search and return its final analysis. Raises the error of the search."""
        try:
            return self._search.result()
        finally:
            self._has_ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._search.end()
        if error is None and not self._has_ended:
            self.wait()


class Engine:
    """A player as one handle: `play`, `analysis` and `ponder`, each of which ends the search of the call before.

    Close it, or use it as a context manager. Positions are copied: the caller may change its own meanwhile.

    >>> position = gomoku.Position()
    >>> with gomoku.Engine(gomoku.open_player("mentor")) as engine:
    ...     position.push(engine.play(position, gomoku.Limit(seconds=0.5)).move)
    """

    def __init__(self, player: Player) -> None:
        self.name = player.name
        """The player's name in tables and records."""
        self._player = player
        self._game = _Game(player) if isinstance(player, PlaysGames) else None
        self._lock = threading.Lock()
        self._is_closed = False
        self._pondering: Future[None] | None = None
        self._running: list[_Search[Any]] = []
        """The last search."""
        weakref.finalize(self, _end_all, self._running, self._game)

    @property
    def can_analyse(self) -> bool:
        """True if the player has a search to show."""
        return isinstance(self._player, Analyses)

    @property
    def limit(self) -> Limit | None:
        """The limit of an analysis that gets none; None for a player without analyses."""
        return self._player.limit if isinstance(self._player, Analyses) else None

    def play(self, position: Position, limit: Limit | None = None, *, seed: int = 0) -> Decision:
        """Return the player's decision on a position; the same seed gives the same one, unless a time limits it.

        `limit` replaces the player's own; players without a search ignore it. A program of its own (`engine:COMMAND`)
        is in a game: a position that continues the one of the call before is of that game, any other begins a new one.

        Raises `ValueError` for a position that is over, a limit that the player does not know and a closed engine, and
        the errors of the player: `ForfeitError` if it cannot go on.
        """

        def choose(position: Position, stop: _Stop) -> Decision:
            if self._game is not None:
                return self._game.choose(position, limit, seed, stop)
            return self._player.choose(position, limit, seed=seed, stop=stop)

        return self._start(position, choose).result()

    def analysis(self, position: Position, limit: Limit | None = None) -> RunningAnalysis:
        """Start an analysis and return it, to iterate over; its values are for the side to move, -1 to 1.

        `limit` replaces the player's own; with `Limit(seconds=math.inf)` it runs until it is stopped, its result is
        proven or memory is full. Raises `NoAnalysisError` for a player that cannot, and `ValueError` as `play` does.
        """
        player = self._player
        if not isinstance(player, Analyses):
            raise NoAnalysisError(f"{self.name} tells no more than its move: it has no analysis")

        def start(report: Report) -> _Search[Analysis]:
            return self._start(
                position, lambda position, stop: player.analyse(position, limit, stop=stop, report=report)
            )

        return RunningAnalysis(self, start)

    def ponder(self, position: Position) -> None:
        """Search a position in the background until the next call, which goes on from there where it continues it.

        Positions that are over and players that cannot ponder are left alone. An error is raised by the next call.
        """
        if isinstance(self._player, Ponders) and not position.is_game_over():
            self._pondering = self._start(position, self._player.ponder).future

    def close(self) -> None:
        """End the search and the player's game; nothing else may be called then."""
        with self._lock:
            self._is_closed = True
            _end_all(self._running, self._game)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, position: Position, work: Callable[[Position, _Stop], _Result]) -> _Search[_Result]:
        """End the last search and start the next one."""
        if position.is_game_over():
            raise ValueError("the game is over: there is nothing to search")
        position = position.copy()
        with self._lock:
            if self._is_closed:
                raise ValueError(f"the engine {self.name} is closed")
            _end_all(self._running)
            pondering, self._pondering = self._pondering, None
            if pondering is not None:
                pondering.result()
            search = _Search(lambda stop: work(position, stop))
            self._running.append(search)
            return search


def _end_all(running: list[_Search[Any]], game: _Game | None = None) -> None:
    while running:
        running.pop().end()
    if game is not None:
        game.close()
