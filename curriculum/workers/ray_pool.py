"""Workers on a Ray cluster: one machine or many. The driver is this process; it keeps every file.

A worker has the numbers of some games, and the driver one request to it at a time. The answer brings finished games;
with the next request go as many further numbers. So neither holds more than that, however slow the other is. The games
of a worker that dies are played again by others: a game is its number.
"""

import os
import shutil
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import ray
from ray._private import ray_constants
from ray.exceptions import ActorDiedError, RayError, RaySystemError, RayTaskError

from core.cores import cores
from core.errors import FailedError, UsageError
from core.input_limits import MAX_REASON, shortened
from curriculum.workers.games import Counts, Game, Job, Stream, Workers, never, sum_of
from curriculum.workers.ray_secret import MODE_VARIABLE, has_token, keep_token, token_file
from curriculum.workers.ray_worker import Worker, sources_hash
from curriculum.workers.thread import Finished
from nets.config import default_runtime

_CLUSTER_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""0 lets Ray listen on loopback alone, as it does on Windows and macOS by default."""
_OWN = "r"
"""The folder of a local Ray, in one that only its user can enter."""
_PATIENCE_S = 0.5
"""Time after which a worker answers without a game."""
_LOOK_S = 2.0
"""Interval of looking for new machines."""
_MAX_DEATHS = 20
"""Workers that may die one after the other without a game, for each that is wanted."""
_STORE_BYTES = 256 << 20
"""Ray's object store on this machine alone: weights, and the reports on their way."""


class WorkersError(FailedError, RuntimeError):
    """The workers cannot play; the message names the machine, if it is one, and the remedy."""


class ClusterError(UsageError, ValueError):
    """There is no such cluster."""


@dataclass(eq=False)
class _Worker:
    """A worker, from the order for it on."""

    actor: Any
    place_call: Any
    node: str = ""
    """Its place; empty until it answers: there may be no machine for it yet."""
    is_dead: bool = False


@dataclass
class _Share:
    """The part of a worker in a stream."""

    call: Any
    """The request that it works on."""
    is_open: bool = False
    numbers: set[int] = field(default_factory=set)
    """Games that it has."""
    counts: Counts = field(default_factory=dict)


class RayPool:
    """See `curriculum.workers.games.Pool`. A context manager: it joins the cluster, and leaves it without a trace."""

    is_apart = True

    def __init__(self, address: str, *, workers: int | None = None, cpus: int = 1, gpus: float = 0.0) -> None:
        """`address`: `ray` for a Ray of this process on this machine alone, `auto`, or `ray://HOST:PORT`.

        `workers`: None takes as many as the cluster has room for, at any time. `cpus` and `gpus`: of each.
        """
        self._address, self._wanted, self._cpus, self._gpus = address, workers, cpus, gpus
        self.workers: list[_Worker] = []
        """The living ones, and those that are ordered."""
        self._streams: list[_RayStream[Any]] = []
        self._sources = sources_hash()
        self._folder: str | None = None
        """Files of a Ray on this machine alone."""
        self._sessions = 0
        self._looked = 0.0
        self._deaths = 0

    def __enter__(self) -> Self:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        if self._address.startswith("ray://") and has_token():
            # Inside a cluster Ray finds the token by itself; its client from outside does not.
            os.environ.setdefault(MODE_VARIABLE, "token")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self._address == "ray":
                count = max(cores(), (self._wanted or 0) * self._cpus)
                keep_token()
                os.environ[_CLUSTER_VARIABLE] = "0"
                ray_constants.ENABLE_RAY_CLUSTER = False  # Ray was imported before
                # Ray lets everybody write into its folder, /tmp/ray by default. Its sockets need a short path.
                self._folder = tempfile.mkdtemp(prefix="gomoku-ray-", dir="/tmp" if os.path.isdir("/tmp") else None)
                ray.init(
                    address="local",
                    num_cpus=count,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    _temp_dir=os.path.join(self._folder, _OWN),
                    **options,
                )
            else:
                ray.init(self._address, **options)
        except OSError as error:
            if isinstance(error, ConnectionError) or self._address != "ray":
                raise self._no_cluster(error) from error
            raise  # the secret's file
        except Exception as error:  # Ray raises many kinds, a bare `Exception` for a machine that is too slow
            raise self._no_cluster(error) from error
        return self

    def _no_cluster(self, error: Exception) -> ClusterError:
        if self._address == "ray":
            return ClusterError(f"--workers ray: Ray did not start on this machine: {_line(error)}")
        remedy = "start one with `ray start --head`, or play on this machine with --workers ray"
        if self._address.startswith("ray://"):
            remedy = f"is its port open, and is {token_file()} here that of its head node?"
        return ClusterError(f"--workers {self._address}: there is no cluster to join: {_line(error)}; {remedy}")

    def __exit__(self, *exception: object) -> None:
        for worker in self.workers:
            with suppress(RayError):
                ray.kill(worker.actor)
        ray.shutdown()
        if self._folder is not None and exception[0] is None:  # else its logs may say more
            shutil.rmtree(self._folder, ignore_errors=True)

    def stream(
        self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never, *, beside: bool = False
    ) -> "_RayStream[Game]":
        """See `Pool`: all games are played beside this process."""
        self._sessions += 1
        stream = _RayStream(self, self._sessions, job, numbers, stop)
        self._streams.append(stream)
        return stream

    def forget(self, stream: "_RayStream[Any]") -> None:
        """Serve a stream no more."""
        self._streams.remove(stream)

    def wanted(self) -> int:
        """Return the number of workers to have now."""
        if self._wanted is not None:
            return self._wanted
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        room = int(resources.get("CPU", 0) // self._cpus) if self._cpus else 10**6
        if self._gpus:
            room = min(room, int(resources.get("GPU", 0) / self._gpus))
        return max(1, room)

    def step(self, patience: float) -> None:
        """Hand out numbers of all streams, wait for an answer, and take all that there are. Raises `WorkersError`.

        So the games of one stream come in while another is waited for.
        """
        try:
            self._order()
            waiting: dict[Any, tuple[_Worker, _RayStream[Any] | None]] = {
                worker.place_call: (worker, None) for worker in self.workers if not worker.node
            }
            for stream in self._streams:
                waiting |= {call: (worker, stream) for call, worker in stream.requests()}
            calls = list(waiting)
            done = ray.wait(calls, num_returns=1, timeout=patience)[0] if calls else []
            if done:
                done = ray.wait(calls, num_returns=len(calls), timeout=0)[0]
            elif not calls:
                time.sleep(patience)
            for call in done:
                worker, answered = waiting[call]
                if worker.is_dead:
                    continue
                if answered is None:
                    self._place(worker)
                elif answered.answer(worker, call):
                    self._deaths = 0
        except (RaySystemError, ConnectionError) as error:
            raise WorkersError(f"the Ray cluster is gone: {_line(error)}") from error

    def _order(self) -> None:
        """Order the workers that are missing."""
        now = time.monotonic()
        if now - self._looked > _LOOK_S:
            self._looked = now
            for _ in range(self.wanted() - len(self.workers)):
                order = ray.remote(Worker).options(num_cpus=self._cpus, num_gpus=self._gpus, max_concurrency=8)
                actor: Any = order.remote(default_runtime(), max(1, self._cpus))
                self.workers.append(_Worker(actor, actor.place.remote()))

    def _place(self, worker: _Worker) -> None:
        """Take the first answer of a worker. Raises `WorkersError` for one that cannot work."""
        try:
            node, sources = ray.get(worker.place_call)
        except ActorDiedError as error:
            if "ModuleNotFoundError" in str(error) or "ImportError" in str(error):
                raise WorkersError(
                    f"a worker could not start: {_line(error)}; install the same version of this package on every "
                    "machine of the cluster"
                ) from error
            self.retire(worker)
            return
        except RayTaskError as error:
            raise WorkersError(f"a worker could not start: {_line(error)}") from error
        except RayError:
            self.retire(worker)
            return
        if sources != self._sources:
            raise WorkersError(
                f"{node} has another version of this package: install the same on every machine of the cluster"
            )
        worker.node = node

    def retire(self, worker: _Worker) -> None:
        """Count a worker as dead; another one takes its place. Raises `WorkersError` if too many die."""
        worker.is_dead = True
        self.workers.remove(worker)
        self._looked = 0.0
        with suppress(RayError):
            ray.kill(worker.actor)
        self._deaths += 1
        if self._deaths > _MAX_DEATHS * max(1, self.wanted()):
            logs = "/tmp/ray" if self._folder is None else os.path.join(self._folder, _OWN)
            where = f"those of {worker.node} among them" if worker.node else "none of them has answered"
            raise WorkersError(
                f"{self._deaths} workers died without finishing a game, {where}: is there enough memory for each? "
                f"Ray's logs say more ({logs}/session_latest/logs on that machine)"
            )


class _RayStream(Stream[Game]):
    """Games of a cluster."""

    def __init__(
        self, pool: RayPool, session: int, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool]
    ) -> None:
        self._pool, self._session, self._stop = pool, session, stop
        self._paths = job.files
        self._job = ray.put(job)
        self._files = [ray.put(path.read_bytes()) for path in job.files]
        self._shares: dict[_Worker, _Share] = {}
        self._lost: deque[int] = deque()
        """Games of dead workers."""
        self._finished: list[tuple[int, Game]] = []
        # A worker has some more when its games end, before the driver's next answer.
        self._most = job.at_once + max(1, job.at_once // 8)
        if isinstance(numbers, Sized):
            self._most = max(1, min(self._most, -(-len(numbers) // max(1, pool.wanted()))))
        self._numbers, self._is_exhausted = iter(numbers), False
        self._past: Counter[str] = Counter()
        """Counts of dead workers."""
        self.workers = self._workers = Workers()

    @property
    def counts(self) -> Counts:
        return sum_of([self._past, *(share.counts for share in self._shares.values())])

    @property
    def is_over(self) -> bool:
        has_games = self._finished or self._lost or any(share.numbers for share in self._shares.values())
        return (self._is_exhausted and not has_games) or self._stop()

    def take(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        self._pool.step(0.0 if self._finished else patience)
        games, self._finished = self._finished, []
        return games

    def push(self, model: Path) -> None:
        content = ray.put(model.read_bytes())
        self._files = [content, *self._files[1:]]  # for workers that join later
        for worker, share in self._shares.items():
            if share.is_open:
                worker.actor.push.remote(self._session, content)

    def close(self) -> None:
        self._pool.forget(self)
        for worker in self._shares:
            worker.actor.close.remote(self._session)
        self._shares.clear()

    def requests(self) -> Iterator[tuple[Any, _Worker]]:
        """Send a request to each worker that has none; yield all requests with their workers."""
        for worker in [worker for worker in self._shares if worker.is_dead]:
            self._lose(worker)
        for worker in self._pool.workers:
            if not worker.node:
                continue
            share = self._shares.get(worker)
            if share is None:
                call = worker.actor.open.remote(self._session, self._job, self._paths, *self._files)
                share = self._shares[worker] = _Share(call)
            if share.call is None:
                share.numbers.update(numbers := list(self._take_numbers(self._most - len(share.numbers))))
                if share.numbers:
                    share.call = worker.actor.exchange.remote(self._session, numbers, _PATIENCE_S)
            if share.call is not None:
                yield share.call, worker

    def _take_numbers(self, count: int) -> Iterator[int]:
        for _ in range(count):
            number = self._lost.popleft() if self._lost else next(self._numbers, None)
            if number is None:
                self._is_exhausted = True
                return
            yield number

    def answer(self, worker: _Worker, call: Any) -> bool:
        """Take an answer; return True if it has games. Raises `WorkersError` for the error of a job."""
        share, node = self._shares[worker], worker.node
        try:
            answer: Finished | None = ray.get(call)
        except RayTaskError as error:
            raise WorkersError(f"{node}: {_line(error)}") from error
        except RaySystemError:
            raise
        except RayError:
            self._pool.retire(worker)
            self._lose(worker)
            return False
        share.call = None
        if answer is None:
            share.is_open = True
            self._workers.count = sum(each.is_open for each in self._shares.values())
            return False
        share.counts = answer.counts
        if answer.error is not None:
            raise WorkersError(f"{node}: {_line(answer.error)}") from answer.error
        games = [(number, game) for number, game in answer.games if number in share.numbers]
        share.numbers.difference_update(number for number, _ in games)
        self._workers.games_by_node[node] += len(games)
        self._finished += games
        return bool(games)

    def _lose(self, worker: _Worker) -> None:
        share = self._shares.pop(worker)
        self._lost.extend(sorted(share.numbers))
        self._past.update(share.counts)
        self._workers.count = sum(each.is_open for each in self._shares.values())


def _line(error: BaseException) -> str:
    """Return the last line of an error's message: Ray puts a trace before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[-1] if lines else type(error).__name__, MAX_REASON)
