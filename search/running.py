"""A search under way on a thread of an engine: its views so far, its stop and its result."""

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Generic, Self, TypeVar

from search.analysis import Analysis
from search.players import Decision, Report, Stop

Result = TypeVar("Result", covariant=True)
Found = tuple[Decision | None, Analysis | None]
"""The decision of a search and its final view, as far as it has them."""


class Search:
    """One call of a player, on the thread of its engine. It does not know that, which ends it when nobody has it."""

    def __init__(self, thread: ThreadPoolExecutor, work: Callable[[Stop, Report], Found | None], until: float) -> None:
        """`work` gets the `stop` and the `report` of its search; None is one without a result."""
        self.future: Future[Found] = Future()
        self.changed = threading.Condition()
        """Notified when there is a new view, and at the end."""
        self.best: Decision | None = None
        self.view: Analysis | None = None
        self.until = until
        """The instant of `time.monotonic` at which the search stops by itself."""
        self._work = work
        self._is_stopped = threading.Event()
        _SEARCHES.add(self)
        thread.submit(self._run)

    def _run(self) -> None:
        try:
            found = self._work(self._stops, self._report) or (None, None)
        except BaseException as error:
            self.future.set_exception(error)
        with self.changed:  # a reader sees the final view and the end at once
            if not self.future.done():
                self.best, self.view = found
                self.future.set_result(found)
            self.changed.notify_all()

    def _stops(self) -> bool:
        return self._is_stopped.is_set() or time.monotonic() >= self.until

    def _report(self, found: Decision | Analysis) -> None:
        if isinstance(found, Decision):
            self.best = found
            return
        self.view = found
        with self.changed:
            self.changed.notify_all()

    def stop(self) -> None:
        """Let the search end soon."""
        self._is_stopped.set()

    def end(self) -> None:
        """Stop the search and wait for its end."""
        self.stop()
        wait([self.future])


_SEARCHES: "weakref.WeakSet[Search]" = weakref.WeakSet()


def _end_searches() -> None:
    for search in list(_SEARCHES):
        search.end()


# At its end a program waits for the threads of its searches, and a search without a limit would never end. `atexit`
# comes after that wait; the hook of `concurrent.futures`, which is called before it, has no public name.
getattr(threading, "_register_atexit", atexit.register)(_end_searches)


class RunningSearch(Iterator[Analysis], Generic[Result]):
    """A search under way. Iterating gives its view so far about ten times a second, the final one last.

    A reader that is slower gets the newest one, and one of a player without analyses gets none. Leaving its `with`
    block stops the search and waits for its end.

    >>> engine, position = gomoku.open_engine("mentor"), gomoku.Position.from_moves(gomoku.Rules(), "h8 i9 h9")
    >>> with engine.analysis(position, gomoku.Limit(seconds=math.inf)) as analysis:
    ...     for info in analysis:
    ...         if info.nodes > 100:
    ...             break
    >>> analysis.wait().nodes >= info.nodes
    True
    """

    def __init__(self, engine: object, search: Search, result: Callable[[Found], Result]) -> None:
        """`result` picks what `wait` returns."""
        self._engine = engine  # while it is read, the engine must not be collected, which would end the search
        self._search = search
        self._result = result
        self._read: Analysis | None = None
        self._is_told = False
        """True once the result, or the error, has reached the caller."""

    @property
    def best(self) -> Decision | None:
        """The best move so far, without a wait, whatever the search does; None before there is one."""
        return self._search.best

    @property
    def view(self) -> Analysis | None:
        """The newest view so far, likewise."""
        return self._search.view

    def __next__(self) -> Analysis:
        """Return the next view so far. Raises the error of the search."""
        search = self._search
        if self._is_told:
            raise StopIteration
        with search.changed:
            search.changed.wait_for(lambda: search.view is not self._read or search.future.done())
        if search.future.done():
            self.wait()
        self._read = search.view
        if self._read is None:
            raise StopIteration
        return self._read

    def stop(self) -> None:
        """Let the search end soon, without a wait; any thread may call it."""
        self._search.stop()

    def stop_at(self, instant: float) -> None:
        """Let the search stop by itself at this instant of `time.monotonic`, or at one that was set before."""
        self._search.until = min(self._search.until, instant)

    def has_ended(self, within_s: float = 0.0) -> bool:
        """Return True once the search has ended, by itself or by an error; wait for that at most `within_s`."""
        return bool(wait([self._search.future], within_s).done)

    def wait(self) -> Result:
        """Wait for the end of the search and return its result: a decision, or the final view of an analysis.

        Raises the error of the search; an exception of the wait itself ends the search.
        """
        try:
            wait([self._search.future])
        except BaseException:
            self._search.end()
            raise
        self._is_told = True
        return self._result(self._search.future.result())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._search.end()
        if error is None and not self._is_told:
            self.wait()
