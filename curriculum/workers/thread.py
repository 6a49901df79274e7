"""One job in a worker: a thread plays, while others hand it numbers and take its finished games."""

import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Generic, NamedTuple

from curriculum.workers.games import Game, Games, Job

_GATHER_S = 0.1
"""Time in which further games join the first of an answer, so that answers are blocks."""
_OPENING = threading.Lock()
"""One job of a process at a time loads its nets: two threads that convert nets with torch's tracer mix them up."""


class Finished(NamedTuple):
    """A worker's answer."""

    games: list[tuple[int, Any]]
    """Finished since the last one, with their numbers."""
    counts: dict[str, int]
    """Work since the job began."""
    error: BaseException | None = None
    """The error that ended the work."""


class GameThread(Generic[Game]):
    """A job, opened on a thread of its own; close it."""

    def __init__(self, job: Job[Game], files: Mapping[Path, bytes] = MappingProxyType({})) -> None:
        """`files`: contents of the job's files, on a machine that may not have them."""
        self._state = threading.Condition()
        self._numbers: deque[int] = deque()
        self._finished: list[tuple[int, Game]] = []
        self._error: BaseException | None = None
        self._closed = False
        self._games: Games[Game] | None = None
        self._thread = threading.Thread(target=self._run, args=(job, files), name="games", daemon=True)
        self._thread.start()

    def exchange(self, numbers: Sequence[int], patience: float) -> Finished:
        """Take further numbers, and return the finished games: at once if there are any, or after `patience` seconds.

        An error comes after the games that finished before it.
        """
        with self._state:
            self._numbers.extend(numbers)
            self._state.notify_all()
            self._state.wait_for(lambda: self._finished or self._error is not None, patience)
        if self._finished and patience > _GATHER_S:
            time.sleep(_GATHER_S)
        with self._state:
            games, self._finished = self._finished, []
            return Finished(games, {} if self._games is None else dict(self._games.counts), self._error)

    def push(self, content: bytes) -> None:
        """Play on with the model of a file of this content. Its error ends the work."""
        with self._state:
            self._state.wait_for(lambda: self._games is not None or self._error is not None or self._closed)
        if self._games is None:
            return
        with TemporaryDirectory(prefix="gomoku-") as folder:
            path = Path(folder) / "model.safetensors"
            path.write_bytes(content)
            games: Any = self._games
            try:
                with _OPENING:
                    games.push(path)
            except BaseException as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        with self._state:
            self._error = error
            self._state.notify_all()

    def close(self) -> None:
        """End the work."""
        with self._state:
            self._closed = True
            self._state.notify_all()
        self._thread.join()

    def _run(self, job: Job[Game], files: Mapping[Path, bytes]) -> None:
        games: Games[Game] | None = None
        try:
            with TemporaryDirectory(prefix="gomoku-") as folder:
                places = {path: path for path in job.files}
                for number, (path, content) in enumerate(files.items()):
                    places[path] = Path(folder) / str(number) / path.name
                    places[path].parent.mkdir()
                    places[path].write_bytes(content)
                with _OPENING:
                    games = job.open(places)
            with self._state:
                self._games = games
                self._state.notify_all()
            while self._wait():
                for item in games.play(self._taken(), lambda: self._closed):
                    if item is not None:
                        with self._state:
                            self._finished.append(item)
                            self._state.notify_all()
        except BaseException as error:
            self._fail(error)
        finally:
            if games is not None:
                games.close()

    def _wait(self) -> bool:
        """Wait for numbers; return False when the work ends."""
        with self._state:
            self._state.wait_for(lambda: self._numbers or self._closed)
            return not self._closed

    def _taken(self) -> Iterator[int | None]:
        while True:
            with self._state:
                number = self._numbers.popleft() if self._numbers else None
            yield number
