"""Processes of this machine that play, beside the work of this one; another one evaluates for them, if they share it.

Threads of one process would wait for each other: the games' Python code holds the interpreter while torch needs it many
times a step, which made training a hundred times slower.
"""

import socket
import time
import warnings
from collections.abc import Callable, Iterable, Sized
from contextlib import suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Self

from core.cores import limit_cores
from core.errors import FailedError
from curriculum.workers.child import ignore_signals, portable, signals_held
from curriculum.workers.evaluator_process import evaluate_for
from curriculum.workers.games import Counts, Game, Job, Stream, Workers, never, sum_of
from curriculum.workers.shared_evaluator import EvaluatorEndedError, use_evaluator
from curriculum.workers.thread import Finished, GameThread
from nets.config import RuntimeChoice, RuntimeNotice, default_runtime, set_runtime

_AHEAD = 1000
"""Numbers of endless games that a process has beyond those it plays: it is asked for games only now and then."""
_EXCHANGE_S = 0.05
_COUNTS_S = 0.5
"""Time between two answers without games, which tell of the work."""
_END_S = 10.0
"""Time that all processes together get to end."""


class WorkerProcessError(FailedError, RuntimeError):
    """A process that plays or evaluates has ended by itself."""

    @classmethod
    def of(cls, name: str, process: BaseProcess) -> Self:
        """Return the error of a process that has closed its connection."""
        process.join(_END_S)
        return cls(f"{name} ended by itself (exit code {process.exitcode})")


class ProcessPool:
    """See `curriculum.workers.games.Pool`. A context manager: it starts the processes, and ends them."""

    is_apart = True

    def __init__(self, workers: int, *, cpus: int | None = None, is_shared: bool = True) -> None:
        """`cpus`: cores of each process that plays; None for all. `is_shared`: one more process evaluates for all."""
        self._workers, self._cpus, self.is_shared = workers, cpus, is_shared
        self.players: list[tuple[BaseProcess, Connection]] = []
        """The processes that play, and the connections to them."""
        self.evaluator: tuple[BaseProcess, Connection] | None = None
        """The process that evaluates, and the connection that ends it."""
        self._streams: dict[int, _ProcessStream[Any]] = {}
        self._sessions = 0

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self) -> None:
        context = get_context("spawn")
        pipes = [context.Pipe() for _ in range(self._workers)] if self.is_shared else []
        started: list[Connection] = []

        def start(target: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
            own, theirs = context.Pipe()
            process = context.Process(target=target, args=(theirs, *arguments), name="games", daemon=True)
            with signals_held():
                process.start()
            started.append(theirs)
            return process, own

        runtime = default_runtime()
        if pipes:
            self.evaluator = start(evaluate_for, [there for _, there in pipes], runtime)
        for number in range(self._workers):
            link = pipes[number][0] if pipes else None
            self.players.append(start(_play, link, runtime, self._cpus))
        for connection in [*started, *(end for pipe in pipes for end in pipe)]:
            connection.close()  # the others' ends: a process that ends closes the last one

    def __exit__(self, *exception: object) -> None:
        started = [*self.players, *([self.evaluator] if self.evaluator else [])]
        for _, connection in started:
            connection.close()
        deadline = time.monotonic() + _END_S
        for process, _ in started:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join()

    def stream(
        self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never, *, beside: bool = False
    ) -> "_ProcessStream[Game]":
        """See `Pool`: all games are played beside this process."""
        self._sessions += 1
        self._streams[self._sessions] = stream = _ProcessStream(self, self._sessions, job, numbers, stop)
        stream.hand_out()
        return stream

    def tell(self, player: int, session: int, message: Any) -> None:
        """Send a process a message: a job, numbers, weights, or None for the end of the session."""
        with suppress(OSError):  # the next `step` says why
            self.players[player][1].send((session, message))

    def step(self, patience: float) -> None:
        """Wait for answers, and take all that there are, those of other streams too. Raises `WorkerProcessError`."""
        places = {connection: number for number, (_, connection) in enumerate(self.players)}
        watched = [*places, *([self.evaluator[1]] if self.evaluator else [])]
        while ready := wait(watched, patience):
            patience = 0.0
            for connection in ready:
                assert isinstance(connection, Connection)
                if connection not in places:
                    self._hear(connection)
                    continue
                try:
                    session, answer = connection.recv()
                except (EOFError, OSError) as error:
                    raise WorkerProcessError.of("a process of games", self.players[places[connection]][0]) from error
                if isinstance(answer.error, EvaluatorEndedError) and self.evaluator:
                    self.evaluator[0].join(_END_S)
                    self._hear(self.evaluator[1])
                if session in self._streams:
                    self._streams[session].receive(places[connection], answer)

    def _hear(self, connection: Connection) -> None:
        """Take the notices of the process that evaluates. Raises `WorkerProcessError` after its end."""
        try:
            while connection.poll():
                warnings.warn(connection.recv(), RuntimeNotice, stacklevel=2)
        except (EOFError, OSError) as error:
            assert self.evaluator is not None
            raise WorkerProcessError.of("the process that evaluates", self.evaluator[0]) from error

    def forget(self, session: int) -> None:
        """End a session."""
        del self._streams[session]
        for player in range(len(self.players)):
            self.tell(player, session, None)


class _ProcessStream(Stream[Game]):
    """Games of the processes."""

    def __init__(
        self, pool: ProcessPool, session: int, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool]
    ) -> None:
        self._pool, self._session, self._stop = pool, session, stop
        players = len(pool.players)
        self._most = job.at_once + _AHEAD
        if isinstance(numbers, Sized):
            # As even as can be, and less than all, since the last games are to end together.
            self._most = max(1, min(job.at_once + max(1, job.at_once // 8), -(-len(numbers) // players)))
        self._numbers = iter(numbers)
        self._missing = [0] * players
        """Games that each process has."""
        self._counts: list[Counts] = [{}] * players
        self._finished: list[tuple[int, Game]] = []
        self._error: BaseException | None = None
        self.workers = Workers(players) if pool.is_shared else None
        self._is_closed = False
        self.ends_pool = False
        """True if the processes end with these games."""
        for player in range(players):
            pool.tell(player, session, job)

    @property
    def counts(self) -> Counts:
        """See `Stream`."""
        return sum_of(self._counts)

    @property
    def is_over(self) -> bool:
        """See `Stream`."""
        return not (any(self._missing) or self._finished or self._error) or self._stop()

    def take(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """See `Stream`."""
        self._pool.step(0.0 if self._finished or self._error else patience)
        games, self._finished = self._finished, []
        if self._error is not None and not games:
            raise self._error
        if games:
            self.hand_out()
        return games

    def receive(self, player: int, answer: Finished) -> None:
        """Take the answer of a process."""
        self._finished += answer.games
        self._missing[player] -= len(answer.games)
        self._counts[player] = answer.counts
        self._error = self._error or answer.error
        if self.workers is not None:
            self.workers.games_by_node[socket.gethostname()] += len(answer.games)

    def hand_out(self) -> None:
        """Give the processes numbers, as long as there are any."""
        for player, missing in enumerate(self._missing):
            if numbers := list(islice(self._numbers, self._most - missing)):
                self._missing[player] += len(numbers)
                self._pool.tell(player, self._session, numbers)

    def push(self, model: Path) -> None:
        """See `Stream`."""
        content = model.read_bytes()
        for player in range(len(self._missing)):
            self._pool.tell(player, self._session, content)

    def close(self) -> None:
        """See `Stream`."""
        if self._is_closed:
            return
        self._is_closed = True
        self._pool.forget(self._session)
        if self.ends_pool:
            self._pool.__exit__()


def stream_beside(job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never) -> "_ProcessStream[Game]":
    """Return the games of a process of their own."""
    stream = ProcessPool(1, is_shared=False).__enter__().stream(job, numbers, stop)
    stream.ends_pool = True
    return stream


def _play(connection: Connection, link: Connection | None, runtime: RuntimeChoice, cpus: int | None) -> None:
    """Play until the other end of the connection closes."""
    ignore_signals()
    limit_cores(cpus)
    set_runtime(runtime)
    if link is not None:
        use_evaluator(link)
    threads: dict[int, GameThread[Any]] = {}
    told: dict[int, float] = {}
    try:
        while True:
            numbers: dict[int, list[int]] = {}
            while connection.poll(None if not threads else 0.0):
                session, message = connection.recv()
                if message is None:
                    if session in threads:
                        threads.pop(session).close()
                elif isinstance(message, list):
                    numbers.setdefault(session, []).extend(message)
                elif isinstance(message, bytes):
                    if session in threads:
                        threads[session].push(message)
                else:
                    threads[session], told[session] = GameThread(message), 0.0
            for session, thread in list(threads.items()):
                answer = thread.exchange(numbers.get(session, []), _EXCHANGE_S)
                if answer.error is not None:
                    answer = answer._replace(error=portable(answer.error))
                    threads.pop(session).close()
                now = time.monotonic()
                if answer.games or answer.error is not None or now - told[session] > _COUNTS_S:
                    connection.send((session, answer))
                    told[session] = now
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the other process has ended
    finally:
        for thread in threads.values():
            thread.close()
