"""The pool of one machine: this process, or one beside it."""

import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

from curriculum.workers.games import Counts, Game, Games, Job, Stream, never


class _Here(Stream[Game]):
    """Games of this process. It loads the job at the first wait, and plays while somebody waits."""

    def __init__(self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool]) -> None:
        self._job, self._numbers, self._stop = job, iter(numbers), stop
        self._games: Games[Game] | None = None
        self._playing: Generator[tuple[int, Game] | None] | None = None
        self._is_over = False

    @property
    def counts(self) -> Counts:
        return {} if self._games is None else self._games.counts

    @property
    def is_over(self) -> bool:
        return self._is_over

    def take(self, patience: float = 0.0) -> list[tuple[int, Game]]:
        if patience <= 0:
            return []
        if self._playing is None:
            self._games = self._job.open({path: path for path in self._job.files})
            self._playing = self._games.play(self._numbers, self._stop)
            return []
        end = time.monotonic() + patience
        for item in self._playing:
            if item is not None:
                return [item]
            if time.monotonic() > end:
                return []
        self._is_over = True
        return []

    def push(self, model: Path) -> None:
        games: Any = self._games
        games.push(model)

    def close(self) -> None:
        self._is_over = True
        if self._games is not None and self._playing is not None:
            self._playing.close()
            self._games.close()


class Local:
    """This process plays."""

    is_apart = False

    def stream(
        self, job: Job[Game], numbers: Iterable[int], stop: Callable[[], bool] = never, *, beside: bool = False
    ) -> Stream[Game]:
        """See `Pool`; `beside` takes a process of its own."""
        if not beside:
            return _Here(job, numbers, stop)
        from curriculum.workers.processes import stream_beside

        return stream_beside(job, numbers, stop)
