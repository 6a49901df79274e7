"""Workers on a Ray cluster: one machine or many. The driver is this process; it keeps every file.

A worker has the numbers of some games, and the driver one request to it at a time. The answer brings finished games;
with the next request go as many further numbers. So neither holds more than that, however slow the other is. The games
of a worker that dies are played again by others: a game is its number.
"""

import os
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Self

import ray
from ray._private import ray_constants
from ray.exceptions import ActorDiedError, RayError, RaySystemError, RayTaskError

from core.cores import cores
from core.errors import FailedError, UsageError
from core.limits import MAX_REASON, shortened
from curriculum.workers.crew import Counts, Game, Job, Team, TeamBeside, WorkerReport
from curriculum.workers.ray_secret import MODE_VARIABLE, has_token, keep_token, token_file
from curriculum.workers.ray_worker import Place, Worker, sources_hash
from curriculum.workers.session import Report
from nets.config import default_runtime

_CLUSTER_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""0 lets Ray listen on loopback alone, as it does on Windows and macOS by default."""
_OWN = "r"
"""The folder of a local Ray, in one that only its user can enter."""
_STEP_S = 0.1
"""Time of a step without news."""
_PATIENCE_S = 0.5
"""Time after which a worker answers without a game."""
_HIRE_S = 2.0
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
class _Hand:
    """A worker, from the order for it on."""

    actor: Any
    place_call: Any
    place: Place | None = None
    """None until it answers: there may be no machine for it yet."""
    is_dead: bool = False


@dataclass
class _Share:
    """The part of a worker in a job."""

    call: Any
    """The request that it works on."""
    is_open: bool = False
    numbers: set[int] = field(default_factory=set)
    """Games that it has."""
    counts: Counts = field(default_factory=dict)


class RayCrew:
    """See `curriculum.workers.crew.Crew`. A context manager: it joins the cluster, and leaves it without a trace."""

    is_apart = True

    def __init__(self, address: str, *, workers: int | None = None, cpus: int = 1, gpus: float = 0.0) -> None:
        """`address`: `ray` for a Ray of this process on this machine alone, `auto`, or `ray://HOST:PORT`.

        `workers`: None takes as many as the cluster has room for, at any time. `cpus` and `gpus`: of each.
        """
        self._address, self._workers, self._cpus, self._gpus = address, workers, cpus, gpus
        self._hands: list[_Hand] = []
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
                count = max(cores(), (self._workers or 0) * self._cpus)
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
        for hand in self._hands:
            with suppress(RayError):
                ray.kill(hand.actor)
        ray.shutdown()
        if self._folder is not None and exception[0] is None:  # else its logs may say more
            shutil.rmtree(self._folder, ignore_errors=True)

    @contextmanager
    def open(self, job: Job[Game]) -> Iterator[Team[Game]]:
        """See `Crew`."""
        team = RayTeam(self, job)
        try:
            yield team
        finally:
            team.close()

    def open_beside(self, job: Job[Game], numbers: Iterable[int]) -> TeamBeside[Game]:
        """See `Crew`."""
        team = RayTeam(self, job)
        team.begin(numbers)
        return team

    def next_session(self) -> int:
        """Return the number of a new session."""
        self._sessions += 1
        return self._sessions

    def wanted(self) -> int:
        """Return the number of workers to have now."""
        if self._workers is not None:
            return self._workers
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        room = int(resources.get("CPU", 0) // self._cpus) if self._cpus else 10**6
        if self._gpus:
            room = min(room, int(resources.get("GPU", 0) / self._gpus))
        return max(1, room)

    def hands(self) -> list[_Hand]:
        """Return the living workers, after ordering those that are missing. Raises `WorkersError`."""
        self._hands = [hand for hand in self._hands if not hand.is_dead]
        now = time.monotonic()
        if now - self._looked > _HIRE_S:
            self._looked = now
            for _ in range(self.wanted() - len(self._hands)):
                order = ray.remote(Worker).options(num_cpus=self._cpus, num_gpus=self._gpus, max_concurrency=8)
                actor: Any = order.remote(default_runtime(), max(1, self._cpus))
                self._hands.append(_Hand(actor, actor.place.remote()))
        return self._hands

    def welcome(self, hand: _Hand) -> None:
        """Take the first answer of a worker. Raises `WorkersError` for one that cannot work."""
        try:
            place: Place = ray.get(hand.place_call)
        except ActorDiedError as error:
            if "ModuleNotFoundError" in str(error) or "ImportError" in str(error):
                raise WorkersError(
                    f"a worker could not start: {_line(error)}; install the same version of this package on every "
                    "machine of the cluster"
                ) from error
            self.bury(hand)
            return
        except RayTaskError as error:
            raise WorkersError(f"a worker could not start: {_line(error)}") from error
        except RayError:
            self.bury(hand)
            return
        if place.sources != self._sources:
            raise WorkersError(
                f"{place.node} has another version of this package: install the same on every machine of the cluster"
            )
        hand.place = place

    def bury(self, hand: _Hand) -> None:
        """Count a worker as dead; another one takes its place. Raises `WorkersError` if too many die."""
        if hand.is_dead:
            return
        hand.is_dead = True
        self._looked = 0.0
        with suppress(RayError):
            ray.kill(hand.actor)
        self._deaths += 1
        if self._deaths > _MAX_DEATHS * max(1, self.wanted()):
            logs = "/tmp/ray" if self._folder is None else os.path.join(self._folder, _OWN)
            where = f"those of {hand.place.node} among them" if hand.place else "none of them has answered"
            raise WorkersError(
                f"{self._deaths} workers died without finishing a game, {where}: is there enough memory for each? "
                f"Ray's logs say more ({logs}/session_latest/logs on that machine)"
            )

    def praise(self) -> None:
        """Note that games arrive."""
        self._deaths = 0


class RayTeam(Generic[Game]):
    """See `curriculum.workers.crew.Team` and `TeamBeside`."""

    def __init__(self, crew: RayCrew, job: Job[Game]) -> None:
        self._crew = crew
        self._session = crew.next_session()
        self._at_once, self._paths = job.at_once, job.files
        self._job = ray.put(job)
        self._files = [ray.put(path.read_bytes()) for path in job.files]
        self._shares: dict[_Hand, _Share] = {}
        self._lost: deque[int] = deque()
        """Games of dead workers."""
        self._numbers: Iterator[int] = iter(())
        self._is_exhausted = True
        self._most = job.at_once
        self._past: dict[str, int] = {}
        """Counts of dead workers."""
        self.report = WorkerReport()

    @property
    def counts(self) -> Counts:
        """See `Team`."""
        counts = dict(self._past)
        for share in self._shares.values():
            _add(counts, share.counts)
        return counts

    def begin(self, numbers: Iterable[int]) -> None:
        """Play these games from now on."""
        reserve = max(1, self._at_once // 8)  # it has them when games end, before the driver's next answer
        self._most = self._at_once + reserve
        if isinstance(numbers, Sized):
            self._most = min(self._most, -(-len(numbers) // max(1, self._crew.wanted())))
        self._numbers, self._is_exhausted = iter(numbers), False

    def play(self, numbers: Iterable[int], finished: Callable[[int, Game], None], stop: Callable[[], bool]) -> None:
        """See `Team`."""
        self.begin(numbers)
        while not stop():
            for number, game in self._step(_STEP_S):
                finished(number, game)
            if self._is_exhausted and not self._lost and not any(share.numbers for share in self._shares.values()):
                return

    def games(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """See `TeamBeside`."""
        return self._step(patience)

    def push(self, model: Path) -> None:
        """See `TeamBeside`."""
        content = ray.put(model.read_bytes())
        self._files = [content, *self._files[1:]]  # for workers that join later
        for hand, share in self._shares.items():
            if share.is_open:
                hand.actor.push.remote(self._session, content)

    def close(self) -> None:
        """End the job; its games in progress are lost."""
        for hand in self._shares:
            hand.actor.close.remote(self._session)
        self._shares.clear()

    def _step(self, patience: float) -> list[tuple[int, Game]]:
        """Hand out numbers, wait for an answer, and return the games of all answers. Raises `WorkersError`."""
        try:
            waiting = self._requests()
            calls = list(waiting)
            done = ray.wait(calls, num_returns=1, timeout=patience)[0] if calls else []
            if done:
                done = ray.wait(calls, num_returns=len(calls), timeout=0)[0]
            elif not calls:
                time.sleep(patience)
            games: list[tuple[int, Game]] = []
            for call in done:
                games += self._answer(waiting[call], call)
        except (RaySystemError, ConnectionError) as error:
            raise WorkersError(f"the Ray cluster is gone: {_line(error)}") from error
        self.report.workers = sum(share.is_open for share in self._shares.values())
        if games:
            self._crew.praise()
        return games

    def _requests(self) -> dict[Any, _Hand]:
        """Send a request to each worker that has none; return the workers by what they work on."""
        waiting: dict[Any, _Hand] = {}
        hands = self._crew.hands()
        for hand in [hand for hand in self._shares if hand.is_dead]:
            self._lose(hand)
        for hand in hands:
            if hand.place is None:
                waiting[hand.place_call] = hand
                continue
            share = self._shares.get(hand)
            if share is None:
                call = hand.actor.open.remote(self._session, self._job, self._paths, *self._files)
                share = self._shares[hand] = _Share(call)
            if share.call is None:
                share.numbers.update(numbers := list(self._take(self._most - len(share.numbers))))
                if share.numbers:
                    share.call = hand.actor.exchange.remote(self._session, numbers, _PATIENCE_S)
            if share.call is not None:
                waiting[share.call] = hand
        return waiting

    def _take(self, count: int) -> Iterator[int]:
        for _ in range(count):
            if self._lost:
                yield self._lost.popleft()
                continue
            if self._is_exhausted:
                return
            number = next(self._numbers, None)
            if number is None:
                self._is_exhausted = True
                return
            yield number

    def _answer(self, hand: _Hand, call: Any) -> list[tuple[int, Game]]:
        """Take an answer. Raises `WorkersError` for the error of a job."""
        if hand.place is None:
            self._crew.welcome(hand)
            return []
        share = self._shares[hand]
        try:
            report: Report | None = ray.get(call)
        except RayTaskError as error:
            raise WorkersError(f"{hand.place.node}: {_line(error)}") from error
        except RaySystemError:
            raise
        except RayError:
            self._crew.bury(hand)
            self._lose(hand)
            return []
        share.call = None
        if report is None:
            share.is_open = True
            return []
        share.counts = report.counts
        if report.error is not None:
            raise WorkersError(f"{hand.place.node}: {_line(report.error)}") from report.error
        games = [(number, game) for number, game in report.games if number in share.numbers]
        share.numbers.difference_update(number for number, _ in games)
        nodes = self.report.games_by_node
        nodes[hand.place.node] = nodes.get(hand.place.node, 0) + len(games)
        return games

    def _lose(self, hand: _Hand) -> None:
        share = self._shares.pop(hand)
        self._lost.extend(sorted(share.numbers))
        _add(self._past, share.counts)


def _add(counts: dict[str, int], more: Counts) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _line(error: BaseException) -> str:
    """Return the last line of an error's message: Ray puts a trace before it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return shortened(lines[-1] if lines else type(error).__name__, MAX_REASON)
