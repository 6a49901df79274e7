"""The requests of the screen in lanes: one after the other in each, and no lane waits for another.

It imports nothing heavy: the screen's end is noticed while the libraries are imported.
"""

import pickle
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol

from gomoku_cli.printable import error_message
from gomoku_cli.tui.engine import messages

_SAVES = "saves"
_LANES: dict[str, tuple[type[Any], ...]] = {
    "searches": (messages.Load, messages.Search, messages.ChooseOpening),
    "checks": (messages.CheckMove,),
    "views": (messages.FindThreats, messages.GradeMoves),
    _SAVES: (messages.Keep, messages.RateGame),
    # Reading thousands of games takes a second, for which no save may wait.
    "games": (messages.ListGames, messages.RenameGame, messages.DeleteGame, messages.RestoreGame, messages.OpenGame),
    "pictures": (messages.Draw,),
}
"""The kinds of tasks of each lane. Kernels of a search release the interpreter, so the others go on meanwhile."""
_END_S = 1.0
"""Time for the tasks in progress to stop after the screen has gone."""
_SAVES_S = 20.0
"""Time for games to be saved then: on a busy machine the libraries may still be imported."""

Handler = Callable[[int, Any], messages.Answer]
"""Does a task, of which it gets the number too, and returns the last answer."""


class _Search(Protocol):
    def stop(self) -> None: ...


class Lanes:
    """The requests that are not done, and the searches that run for them."""

    def __init__(self, send: Callable[[int, messages.Answer], None]) -> None:
        """`send` gets each answer with the number of its task, on the thread of its lane."""
        self.send = send
        self._queues: dict[str, SimpleQueue[messages.Request | None]] = {lane: SimpleQueue() for lane in _LANES}
        self._threads: dict[str, threading.Thread] = {}
        self._running: dict[int, _Search] = {}
        self._stopped: set[int] = set()
        self._dropped: set[int] = set()
        self._has_begun, self._has_ended = threading.Event(), threading.Event()

    def watch(self, number: int, search: _Search) -> None:
        """Let a search end with its task: when that is stopped, as it may be already, and at the end of all."""
        self._running[number] = search
        if number in self._stopped or self._has_ended.is_set():
            search.stop()

    def run(self, handlers: Mapping[type[Any], Handler]) -> None:
        """Do the tasks by the handlers of their types, until `end`."""
        for lane in self._queues:
            self._threads[lane] = threading.Thread(target=self._work, args=(lane, handlers), daemon=True)
            self._threads[lane].start()
        self._has_begun.set()
        for thread in self._threads.values():
            thread.join()

    def _work(self, lane: str, handlers: Mapping[type[Any], Handler]) -> None:
        while (request := self._queues[lane].get()) is not None:
            number, task = request
            if self._has_ended.is_set() and lane != _SAVES:
                return
            try:
                answer = messages.Done() if number in self._dropped else handlers[type(task)](number, task)
            except Exception as error:
                answer = messages.Failed(error_text(error))
            self._running.pop(number, None)
            self._stopped.discard(number)
            self._dropped.discard(number)
            if not self._has_ended.is_set():
                self.send(number, answer)

    def end(self) -> None:
        """Stop what goes on, and return from `run`; games that are not saved yet are saved first."""
        self._has_ended.set()
        for search in list(self._running.values()):
            search.stop()
        for lane in self._queues.values():
            lane.put(None)

    def read(self, stream: BinaryIO) -> None:
        """Take the requests of the screen until its end; return when its games are saved, or do not get saved."""
        with suppress(EOFError, OSError, pickle.UnpicklingError):
            while True:
                number, task = pickle.load(stream)
                if not isinstance(task, messages.Stop):
                    lane = next(lane for lane, tasks in _LANES.items() if isinstance(task, tasks))
                    self._queues[lane].put((number, task))
                    continue
                self._stopped.add(number)
                if task.drop:
                    self._dropped.add(number)
                if (search := self._running.get(number)) is not None:
                    search.stop()
        if self._has_begun.is_set() or not self._queues[_SAVES].empty():
            self.end()
            self._has_begun.wait(_SAVES_S)
            self._threads[_SAVES].join(_SAVES_S)
            for thread in self._threads.values():
                thread.join(_END_S)


def error_text(error: BaseException) -> str:
    """Return the error in one line; errors made for people need no name of their class."""
    from gomoku_cli.exit_codes import for_error

    text = error_message(error) if for_error(error) is not None else f"{type(error).__name__}: {error}"
    return " ".join(text.split())
