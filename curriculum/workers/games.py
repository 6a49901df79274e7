"""Games as a stream: a `Job` says which games there are, a `Pool` plays them, a `Stream` hands them over as they end.

Each game is a number, and equal jobs give equal games for equal numbers, wherever they are played.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, Self, TypeVar

Game = TypeVar("Game")
GameOut = TypeVar("GameOut", covariant=True)

Counts = Mapping[str, int]
"""Work done since a job was opened, by its name: `simulations`, `moves`, ..."""


def sum_of(parts: Iterable[Counts]) -> Counter[str]:
    """Return the work of several workers."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return total


PATIENCE_S = 0.1
"""Time that a loop over a stream waits for a game before it looks at other things."""


def never() -> bool:
    """Return False: do not stop."""
    return False


class Games(Protocol[GameOut]):
    """A job in one process, with its nets and trees in memory.

    Those whose net can be exchanged while they are played have `push(model)` too, which plays on with the weights of a
    model file; it may be called on another thread than `play`.
    """

    @property
    def counts(self) -> Counts:
        """Work done so far."""

    def play(self, numbers: Iterator[int | None], stop: Callable[[], bool]) -> Generator[tuple[int, GameOut] | None]:
        """Play games and yield each with its number, and None several times a second; end after `stop` is True.

        `numbers` yields None while it has none at present. The games in progress go on then, and the iterator ends when
        there are none.
        """

    def close(self) -> None:
        """Free threads and memory."""


class Job(Protocol[GameOut]):
    """Games by their numbers. It can be pickled."""

    @property
    def at_once(self) -> int:
        """Games that one worker plays side by side."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that it reads, such as models; a worker on another machine receives copies."""

    def open(self, files: Mapping[Path, Path]) -> Games[GameOut]:
        """Load everything in this process. `files`: the place of each file here."""


@dataclass
class Workers:
    """The workers of a stream."""

    count: int = 0
    """Workers that play now."""
    games_by_node: Counter[str] = field(default_factory=Counter)
    """Finished games of each machine."""


class Stream(ABC, Generic[Game]):
    """Games in the order in which they end, each once, as pairs of number and game.

    A context manager: leaving it loses the games in progress.
    """

    workers: Workers | None = None
    """The workers; None where this machine plays by itself."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """Work done so far, by all workers together."""

    @property
    @abstractmethod
    def is_over(self) -> bool:
        """True after the last game, and after a stop."""

    @abstractmethod
    def take(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        """Return the games that have ended since the last call, after waiting `patience` seconds at most for one.

        Raises the error of a worker.
        """

    @abstractmethod
    def push(self, model: Path) -> None:
        """Play on with the weights of a model file; the games in progress go on with them."""

    @abstractmethod
    def close(self) -> None:
        """End the work; games in progress are lost."""

    @property
    def figures(self) -> dict[str, float]:
        """The number of workers, to show with the progress; empty without any."""
        return {} if self.workers is None else {"workers": self.workers.count}

    def __iter__(self) -> Iterator[tuple[int, Game]]:
        while not self.is_over:
            yield from self.take(PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Pool(Protocol):
    """The processes that play."""

    @property
    def is_apart(self) -> bool:
        """True if other processes play, so that players must come as recipes."""

    def stream(
        self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never, *, beside: bool = False
    ) -> Stream[Game]:
        """Play the games of these numbers until `stop`, which only says whether to.

        `beside`: they go on while this process does other work, even without other machines.
        """
