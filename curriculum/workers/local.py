"""The crew of one machine: this process, or one beside it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Generic

from curriculum.workers.crew import Bench, Counts, Game, Job, Team, TeamBeside


class _LocalTeam(Generic[Game]):
    """A bench of this process."""

    report = None

    def __init__(self, bench: Bench[Game]) -> None:
        self._bench = bench

    @property
    def counts(self) -> Counts:
        return self._bench.counts

    def play(self, numbers: Iterable[int], finished: Callable[[int, Game], None], stop: Callable[[], bool]) -> None:
        self._bench.play(iter(numbers), finished, stop)


class Local:
    """This process plays."""

    is_apart = False

    @contextmanager
    def open(self, job: Job[Game]) -> Iterator[Team[Game]]:
        """See `Crew`."""
        bench = job.open({path: path for path in job.files})
        try:
            yield _LocalTeam(bench)
        finally:
            bench.close()

    def open_beside(self, job: Job[Game], numbers: Iterable[int]) -> TeamBeside[Game]:
        """See `Crew`: a process of its own plays."""
        from curriculum.workers.process import ProcessBeside

        return ProcessBeside(job, numbers)
