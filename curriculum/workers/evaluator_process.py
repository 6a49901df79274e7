"""The process that evaluates for all processes that play, and owns the GPU: batches hold the rows of many of them."""

import hashlib
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import recv_handle
from pathlib import Path
from typing import Any, Protocol

from core.errors import Notice
from core.evaluation import Evaluator
from core.rules import Rules
from curriculum.workers.child import ignore_signals, portable
from curriculum.workers.shared_evaluator import Close, Evaluate, NewRoom, Open, Room
from nets.config import RuntimeChoice, set_runtime

_WAITING = 16
"""Requests of a process that wait for their answers side by side."""


class ClosableEvaluator(Evaluator, Protocol):
    """An evaluator with threads."""

    def close(self) -> None:
        """Join the threads."""


Opener = Callable[[Path, Rules | None, bool], ClosableEvaluator]
"""Return the evaluator of a model file for some rules, None for its own; the last argument: repeatable."""
_Key = tuple[str, Rules | None, bool]


def open_evaluator(model: Path, rules: Rules | None, repeatable: bool) -> ClosableEvaluator:
    """Return an evaluator whose batches hold rows of many processes.

    On a processor those that have to be repeatable do not. On a GPU evaluations depend on the batch in any case.
    """
    from nets.checkpoint import load_model
    from nets.runtimes.devices import best_device
    from nets.runtimes.net_evaluator import NetEvaluator

    repeatable = repeatable and best_device().type == "cpu"
    return NetEvaluator(load_model(model, rules)[0], repeatable=repeatable, helped=False)


class _Evaluators:
    """An evaluator for each model, whoever uses it: new weights are another model."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self._lock = threading.Lock()
        self._found: dict[_Key, ClosableEvaluator] = {}
        self._users: dict[_Key, int] = {}

    def open(self, message: Open) -> tuple[_Key, ClosableEvaluator]:
        """Return the evaluator of a file, and the key to close it with."""
        key = hashlib.sha256(message.model.read_bytes()).hexdigest(), message.rules, message.repeatable
        with self._lock:  # one at a time: two threads that convert nets with torch's tracer mix them up
            if key not in self._found:
                self._found[key] = self._opener(*message)
            self._users[key] = self._users.get(key, 0) + 1
            return key, self._found[key]

    def close(self, key: _Key) -> None:
        """End a use."""
        with self._lock:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                self._found.pop(key).close()


class _Player:
    """The requests of a process that plays."""

    def __init__(self, connection: Connection, evaluators: _Evaluators, threads: ThreadPoolExecutor) -> None:
        self._connection, self._evaluators, self._threads = connection, evaluators, threads
        self._sending = threading.Lock()
        self._opened: dict[int, tuple[_Key, ClosableEvaluator]] = {}
        self._rooms: dict[int, Room] = {}

    def take(self) -> bool:
        """Take a request; return False after the end of the process."""
        try:
            number, message = self._connection.recv()
            if isinstance(message, NewRoom):
                self._rooms[number] = Room.at(recv_handle(self._connection), *message)
                return True
        except (EOFError, OSError):
            for evaluator in list(self._opened):
                self._threads.submit(self._close, evaluator)
            return False
        if isinstance(message, Close):
            self._threads.submit(self._close, message.evaluator)
        else:
            self._threads.submit(self._answer, number, message)
        return True

    def _answer(self, number: int, message: Open | Evaluate) -> None:
        try:
            answer = self._open(number, message) if isinstance(message, Open) else self._evaluate(message)
        except BaseException as error:
            answer = portable(error)
        with self._sending, suppress(OSError):  # the process has ended
            self._connection.send((number, answer))

    def _open(self, number: int, message: Open) -> Any:
        self._opened[number] = found = self._evaluators.open(message)
        return found[1].lanes, found[1].version, found[1].last_moves

    def _evaluate(self, message: Evaluate) -> Any:
        room = self._rooms[message.room]
        room.count = message.rows
        self._opened[message.evaluator][1].submit(room).result()

    def _close(self, evaluator: int) -> None:
        self._evaluators.close(self._opened.pop(evaluator)[0])


def serve(control: Connection, connections: Sequence[Connection], opener: Opener = open_evaluator) -> None:
    """Evaluate for the processes at the other ends of `connections`, until `control` closes."""
    evaluators = _Evaluators(opener)
    with ThreadPoolExecutor(_WAITING * len(connections), "answers") as threads:
        players = {connection: _Player(connection, evaluators, threads) for connection in connections}
        while True:
            for ready in wait([control, *players]):
                assert isinstance(ready, Connection)
                if ready is control:
                    return
                if not players[ready].take():
                    del players[ready]


def evaluate_for(control: Connection, connections: Sequence[Connection], runtime: RuntimeChoice) -> None:
    """Evaluate as the work of a process. Its notices go to `control`."""
    ignore_signals()
    set_runtime(runtime)

    def tell(message: Warning | str, category: type[Warning], *place: object, **others: object) -> None:
        if issubclass(category, Notice):
            with suppress(OSError):
                control.send(str(message))

    warnings.showwarning = tell
    serve(control, connections)
