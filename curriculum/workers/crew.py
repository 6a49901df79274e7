"""The seam between work that needs games and the processes that play them.

A `Job` says which games there are; each is a number, and equal jobs give equal games for equal numbers, wherever they
are played. A `Crew` opens a job as a `Team`, and plays the numbers that it receives.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

Game = TypeVar("Game")
GameOut = TypeVar("GameOut", covariant=True)

Counts = Mapping[str, int]
"""Work done since a job was opened, by its name: `simulations`, `moves`, ..."""


class Bench(Protocol[GameOut]):
    """A job in one process, with its nets and trees in memory."""

    @property
    def counts(self) -> Counts:
        """Work done so far."""

    def play(
        self,
        numbers: Iterator[int | None],
        finished: Callable[[int, GameOut], None],
        stop: Callable[[], bool],
    ) -> None:
        """Play games and give each to `finished` with its number; return early after `stop` returns True.

        `numbers` yields None while it has none at present. The bench then goes on with the games in progress, and
        returns when there are none.
        """

    def close(self) -> None:
        """Free threads and memory."""


@runtime_checkable
class TakesWeights(Protocol):
    """A bench whose net can be exchanged while it plays."""

    def push(self, model: Path) -> None:
        """Play on with the weights of a model file; it may be called on another thread than `play`."""


class Job(Protocol[GameOut]):
    """Games by their numbers. It can be pickled."""

    @property
    def at_once(self) -> int:
        """Games that one worker plays side by side."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that it reads, such as models; a worker on another machine receives copies."""

    def open(self, files: Mapping[Path, Path]) -> Bench[GameOut]:
        """Load everything in this process. `files`: the place of each file here."""


@dataclass
class WorkerReport:
    """State of the workers of a team."""

    workers: int = 0
    """Workers that play now."""
    games_by_node: dict[str, int] = field(default_factory=dict)
    """Finished games of each machine."""


class Team(Protocol[GameOut]):
    """An open job."""

    @property
    def counts(self) -> Counts:
        """Work done so far by all workers together."""

    @property
    def report(self) -> WorkerReport | None:
        """Workers and machines; None where this process plays itself."""

    def play(self, numbers: Iterable[int], finished: Callable[[int, GameOut], None], stop: Callable[[], bool]) -> None:
        """Play the games and give each to `finished`, once and on this thread; return early after `stop` is True.

        `stop` is called several times a second. Raises the error of a worker.
        """


class TeamBeside(Protocol[Game]):
    """An open job that plays while this process does other work."""

    @property
    def counts(self) -> Counts:
        """Work done so far."""

    @property
    def report(self) -> WorkerReport | None:
        """See `Team`."""

    def games(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """Return the games that have finished since the last call, after waiting `patience` seconds at most for one.

        Raises the error of a worker.
        """

    def push(self, model: Path) -> None:
        """Play on with the weights of a model file; the games in progress go on with them."""

    def close(self) -> None:
        """End the work; games in progress are lost."""


class Crew(Protocol):
    """Those who play."""

    @property
    def is_apart(self) -> bool:
        """True if others play, so that this process is free for other work meanwhile."""

    def open(self, job: Job[Game]) -> AbstractContextManager[Team[Game]]:
        """Open a job for the time of the context."""

    def open_beside(self, job: Job[Game], numbers: Iterable[int]) -> TeamBeside[Game]:
        """Open a job and play these games while this process does other work, until `close`."""
