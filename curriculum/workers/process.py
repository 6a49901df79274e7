"""Games in a process of its own, beside the work of this one.

Threads of one process would wait for each other: the games' Python code holds the interpreter while torch needs it many
times a step, which made training a hundred times slower.
"""

import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from core.errors import FailedError
from curriculum.workers.games import Counts, Game, Job, Stream, never
from curriculum.workers.thread import FileCopy, Finished, GameThread
from nets.config import RuntimeChoice, default_runtime, set_runtime

_AHEAD = 1000
"""Numbers that the process has beyond those it plays: it is asked for games only now and then."""
_EXCHANGE_S = 0.05
_END_S = 10.0
"""Time that a process gets to end."""


class WorkerProcessError(FailedError, RuntimeError):
    """The process that plays has ended by itself."""


class ProcessStream(Stream[Game]):
    """Games of a process."""

    def __init__(self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, default_runtime()), name="games", daemon=True)
        self._process.start()
        theirs.close()
        self._numbers, self._stop = iter(numbers), stop
        self._counts: Counts = {}
        self._missing = 0
        """Games that the process has."""
        self._tell(job)
        self._hand_out(job.at_once + _AHEAD)

    @property
    def counts(self) -> Counts:
        """See `Stream`."""
        return self._counts

    @property
    def is_over(self) -> bool:
        """See `Stream`."""
        return not self._missing or self._stop()

    def take(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """See `Stream`."""
        games: list[tuple[int, Game]] = []
        try:
            while self._connection.poll(0.0 if games else patience):
                answer: Finished = self._connection.recv()
                games += answer.games
                self._counts = answer.counts
                if answer.error is not None:
                    raise answer.error
        except (EOFError, ConnectionError) as error:
            self._process.join(_END_S)
            raise WorkerProcessError(
                f"the process of games ended by itself (exit code {self._process.exitcode})"
            ) from error
        self._missing -= len(games)
        self._hand_out(len(games))
        return games

    def push(self, model: Path) -> None:
        """See `Stream`."""
        self._tell(FileCopy(model, model.read_bytes()))

    def close(self) -> None:
        """See `Stream`."""
        self._connection.close()
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _hand_out(self, count: int) -> None:
        if numbers := list(islice(self._numbers, count)):
            self._missing += len(numbers)
            self._tell(numbers)

    def _tell(self, message: Any) -> None:
        with suppress(OSError):  # the next `take` says why
            self._connection.send(message)


def _work(connection: Connection, runtime: RuntimeChoice) -> None:
    """Play until the other end of the connection closes."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)  # the other process saves what there is, and then closes the connection
    set_runtime(runtime)
    thread: GameThread[Any] | None = None
    try:
        thread = GameThread(connection.recv())
        while True:
            numbers: list[int] = []
            while connection.poll():
                message = connection.recv()
                if isinstance(message, FileCopy):
                    thread.push(message.content)
                else:
                    numbers += message
            answer = thread.exchange(numbers, _EXCHANGE_S)
            if answer.games or answer.error is not None:
                connection.send(answer)
            while answer.error is not None:
                connection.recv()  # until the other end has read it, and closes
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the other process has ended
    except BaseException as error:
        connection.send(Finished([], {}, error))
    finally:
        if thread is not None:
            thread.close()
