"""Threads of the mentor that search one position together on one table ("lazy SMP")."""

from concurrent.futures import Future, wait

from core.cores import Threads
from core.rules import Rules
from search.mentor.deepening import Deepening, Table, Task, Workspace, is_by_the_clock


class Team:
    """A table, the search of the calling thread, and helpers on threads of their own.

    Each helper makes the same search in other steps, so what one of them finds spares the others work. The result is
    that of the calling thread. Helpers end within a few milliseconds of it, and it does not wait for them.
    """

    def __init__(self, rules: Rules, slots: int) -> None:
        """`slots`: of the table, a power of two."""
        self._rules = rules
        self._table = Table(slots)
        self._own = Workspace(rules, self._table)
        self._helpers: list[tuple[Workspace, Threads]] = []
        """Each has one thread, so that its searches come one after the other."""
        self._helping: list[Future[None]] = []
        """The searches of helpers that may not have ended."""

    def search(self, task: Task, *, helpers: int) -> Deepening:
        """Search a position and return the finished search.

        `helpers`: number of further threads. They help in searches by the clock alone. Raises the error of a helper in
        an earlier search.
        """
        remember = is_by_the_clock(task.limit)
        if not remember or task.limit.depth is not None:
            helpers = 0
        if not remember or self._table.is_at_its_end:
            wait(self._helping)  # helpers of an earlier search may still write to the table
        self._forget_ended()
        while len(self._helpers) < helpers:
            self._helpers.append((Workspace(self._rules, self._table), Threads(1, "mentor")))
        generation, over = self._table.begin_search(remember=remember), self._table.over
        # The caller may change its position before the last helper ends.
        own = Task(
            position=task.position.copy(),
            limit=task.limit,
            started=task.started,
            stop=lambda: bool(over[0] >= generation.number),
        )

        def help_out(work: Workspace, number: int) -> None:
            if not own.stop():
                Deepening(work, own, generation, number).deepen()

        try:
            for number, (work, thread) in enumerate(self._helpers[: max(helpers, 0)], start=1):
                self._helping.append(thread.submit(help_out, work, number))
            search = Deepening(self._own, task, generation)
            search.deepen()
            return search
        finally:
            self._table.end_search()

    def wait(self) -> None:
        """Wait until all helpers have ended their searches. Raises the error of one."""
        wait(self._helping)
        self._forget_ended()

    def _forget_ended(self) -> None:
        ended = {each for each in self._helping if each.done()}
        self._helping = [each for each in self._helping if each not in ended]
        for each in ended:
            each.result()
