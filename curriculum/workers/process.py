"""A worker in a process of its own, beside the work of this one.

Threads of one process would wait for each other: the games' Python code holds the interpreter while torch needs it many
times a step, which made training a hundred times slower.
"""

import signal
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Generic

from core.errors import FailedError
from curriculum.workers.crew import Counts, Game, Job
from curriculum.workers.session import FileCopy, Report, Session
from nets.config import RuntimeChoice, default_runtime, set_runtime

_AHEAD = 1000
"""Numbers that the process has beyond those it plays: it is asked for games only now and then."""
_EXCHANGE_S = 0.05
_END_S = 10.0
"""Time that a process gets to end."""


class WorkerProcessError(FailedError, RuntimeError):
    """The process that plays has ended by itself."""


class ProcessBeside(Generic[Game]):
    """See `curriculum.workers.crew.TeamBeside`."""

    report = None

    def __init__(self, job: Job[Game], numbers: Iterable[int]) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, default_runtime()), name="games", daemon=True)
        self._process.start()
        theirs.close()
        self._numbers = iter(numbers)
        self.counts: Counts = {}
        """Work done so far."""
        self._tell(job)
        self._tell(list(islice(self._numbers, job.at_once + _AHEAD)))

    def games(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """Return the games that have finished since the last call. Raises the error that ended the process."""
        games: list[tuple[int, Game]] = []
        try:
            while self._connection.poll(0.0 if games else patience):
                report: Report = self._connection.recv()
                games += report.games
                self.counts = report.counts
                if report.error is not None:
                    raise report.error
        except (EOFError, ConnectionError) as error:
            self._process.join(_END_S)
            raise WorkerProcessError(
                f"the process of games ended by itself (exit code {self._process.exitcode})"
            ) from error
        if games:
            self._tell(list(islice(self._numbers, len(games))))
        return games

    def push(self, model: Path) -> None:
        """See `TeamBeside`."""
        self._tell(FileCopy(model, model.read_bytes()))

    def close(self) -> None:
        """End the process; games in progress are lost."""
        self._connection.close()
        self._process.join(_END_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _tell(self, message: Any) -> None:
        with suppress(OSError):  # the next `games` says why
            self._connection.send(message)


def _work(connection: Connection, runtime: RuntimeChoice) -> None:
    """Play until the other end of the connection closes."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, signal.SIG_IGN)  # the other process saves what there is, and then closes the connection
    set_runtime(runtime)
    session: Session[Any] | None = None
    try:
        session = Session(connection.recv())
        while True:
            numbers: list[int] = []
            while connection.poll():
                message = connection.recv()
                if isinstance(message, FileCopy):
                    session.push(message.content)
                else:
                    numbers += message
            report = session.exchange(numbers, _EXCHANGE_S)
            if report.games or report.error is not None:
                connection.send(report)
            while report.error is not None:
                connection.recv()  # until the other end has read it, and closes
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the other process has ended
    except BaseException as error:
        connection.send(Report([], {}, error))
    finally:
        if session is not None:
            session.close()
